//! What a teammate is started with, read once.

use std::path::PathBuf;

use crate::act::{ActError, Desk};
use crate::model::id::{Life, RequestId, SpawnId};
use crate::model::name::{AgentId, Name};
use crate::model::spec::MemberSpec;
use crate::model::team::Exit;
use crate::model::tree::Tree;
use crate::os::process;
use crate::store::{Home, Lease, LeaseText, MemberDir, StoreError, document, lease};

/// Which start this is: what the lead put on the command line.
#[derive(Clone, Debug)]
pub struct Place {
    pub home: PathBuf,
    pub team: Name,
    pub member: Name,
    pub life: Life,
    pub spawn_id: SpawnId,
}

/// Why a teammate did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("{0}")]
    Act(#[from] ActError),
    #[error("the roster has no place for `{0}` with this spawn id")]
    NoPlace(Name),
    #[error("this life of `{0}` is over; only the lead starts the next one")]
    Over(Name),
    #[error("{what}: {source}")]
    Io { what: &'static str, source: std::io::Error },
}

/// The teammate's standing facts.
pub(super) struct Context {
    pub place: Place,
    pub desk: Desk,
    pub dir: MemberDir,
    pub me: process::ProcessId,
    pub spec: MemberSpec,
    pub agent_id: AgentId,
    pub color: String,
    pub lead_life: Life,
    /// Its agent leads the team.
    pub leads: bool,
    /// This life plans: `plan_mode_required` and nothing approved yet.
    pub planning: bool,
    pub plan_id: Option<RequestId>,
    /// The member's own work tree, where it has one.
    pub tree: Option<Tree>,
    /// Tells the team from others of its name.
    pub id8: String,
    _lease: Lease,
}

impl Context {
    pub fn open(place: Place) -> Result<Self, StartError> {
        let home = Home::at(place.home.clone());
        let mut desk = Desk::open(&home, &place.team)?;
        let dir = desk.dir.member(&place.member);
        let me = process::me();
        let text = LeaseText {
            boot_id: process::boot_id(),
            pid: me.pid,
            start_time: me.start_time,
            life: place.life,
            command: "crewmux teammate".to_owned(),
        };
        let lease = Lease::take(&dir.lease(), &text, lease::RETRY)?;
        // A person can have tmux run a dead pane's command again; that life is over all the same.
        let last: Option<Exit> = document::read_json(&dir.exit())?;
        if last.and_then(|exit| exit.life) == Some(place.life) {
            return Err(StartError::Over(place.member));
        }
        let team = desk.team()?;
        let entry = team
            .members
            .iter()
            .chain(&team.reserved)
            .find(|m| m.name == place.member && m.spawn_id == place.spawn_id && m.life == Some(place.life))
            .ok_or_else(|| StartError::NoPlace(place.member.clone()))?;
        let spec = entry.spec.clone().ok_or_else(|| StartError::NoPlace(place.member.clone()))?;
        Ok(Self {
            me,
            agent_id: entry.agent_id.clone(),
            color: entry.color.clone(),
            lead_life: team.lead_life,
            leads: team.is_led_by(&place.member),
            planning: entry.plan_mode_required && entry.plan_id.is_none(),
            plan_id: entry.plan_id,
            tree: entry.worktree.clone(),
            id8: team.id8(),
            spec,
            dir,
            desk,
            place,
            _lease: lease,
        })
    }

    /// Where this life's programs run: the folder of the spec, or the one that matches it in the member's work tree.
    pub fn cwd(&self) -> PathBuf {
        self.tree.as_ref().map_or(&self.spec.cwd, |tree| &tree.cwd).into()
    }

    /// What this life runs: the command, or what an approved plan has it execute.
    pub fn argv(&self) -> Vec<std::ffi::OsString> {
        let argv = match &self.spec.execute {
            Some(execute) if self.plan_id.is_some() => execute,
            _ => &self.spec.command,
        };
        argv.iter().map(Into::into).collect()
    }

    /// Everything this life started, and the teammate itself.
    pub fn mark(&self) -> crate::os::life::LifeMark {
        crate::os::life::LifeMark { teammate: Some(self.me), life: self.place.life, boot_id: process::boot_id() }
    }
}
