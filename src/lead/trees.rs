//! Work trees of members: made before their pane, removed after their end where nothing was changed in them. All of it
//! beside the lead's loop, and for one member in the order in which it was decided.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::Instant;

use super::run::Process;
use crate::act::ActError;
use crate::decide::lead::Event;
use crate::model::id::Life;
use crate::model::name::Name;
use crate::model::team::Member;
use crate::os::life::{LifeMark, end_life};
use crate::os::process;
use crate::store::Home;
use crate::teammate::Identity;
use crate::worktree::{self, Ask, Made, Record, Settled, Setup};

/// Between TERM and KILL for a making that took too long.
const GRACE: Duration = Duration::from_secs(2);

/// What making a tree needs to know.
struct Job {
    home: Home,
    team: Name,
    id8: String,
    member: Member,
    life: Life,
    lead_life: Life,
    /// It is the agent that leads.
    leads: bool,
    scratch: PathBuf,
    /// The launcher's environment.
    env: PathBuf,
    log: PathBuf,
    limit: Duration,
}

impl Process {
    pub(super) fn make_tree(&mut self, name: &Name, life: Life) {
        let (told, name) = (self.told.clone(), name.clone());
        let job = match self.tree_job(&name, life) {
            Ok(job) => job,
            Err(error) => {
                let _ = told.send(Event::TreeFailed { name, life, error });
                return;
            }
        };
        self.in_turn(&name.clone(), async move {
            let event = match job.make().await {
                Ok(Made { record, reused }) => Event::TreeReady { name, life, tree: Box::new(record.tree), reused },
                Err(error) => Event::TreeFailed { name, life, error },
            };
            let _ = told.send(event);
        });
    }

    pub(super) fn settle_tree(&mut self, name: &Name) {
        let (home, team, id8) = (Home::at(self.home.clone()), self.desk.name.clone(), self.lead.team.id8());
        let (told, name) = (self.told.clone(), name.clone());
        self.in_turn(&name.clone(), settle(home, team, id8, name, told));
    }

    /// Does it after what was decided before for the same member.
    fn in_turn(&mut self, name: &Name, work: impl Future<Output = ()> + Send + 'static) {
        let before = self.trees.remove(name);
        let job = tokio::spawn(async move {
            if let Some(before) = before {
                // However that went, it is over.
                let _ = before.await;
            }
            work.await;
        });
        self.trees.insert(name.clone(), job);
    }

    fn tree_job(&mut self, name: &Name, life: Life) -> Result<Job, String> {
        let team = &self.lead.team;
        let member = team.members.iter().chain(&team.reserved).find(|m| m.name == *name);
        let member = member.ok_or_else(|| "it is not in the roster".to_owned())?.clone();
        let (limit, id8, lead_life) = (team.settings.limits.worktree.0, team.id8(), team.lead_life);
        let leads = team.is_led_by(name);
        let dir = self.member_dir(name)?;
        Ok(Job {
            home: Home::at(self.home.clone()),
            team: self.desk.name.clone(),
            id8,
            member,
            life,
            lead_life,
            leads,
            scratch: self.desk.scratch(),
            env: dir.env(),
            log: dir.setup_log(),
            limit,
        })
    }
}

async fn settle(home: Home, team: Name, id8: String, name: Name, told: mpsc::UnboundedSender<Event>) {
    let record = match Record::read(&home, &team, &id8, &name, None) {
        Ok(Some(record)) => record,
        // There is none to settle, or none that can be told; `down` names that again.
        Ok(None) => return,
        Err(error) => return tracing::warn!("cannot read the record of a work tree: {error}"),
    };
    let kept = match worktree::settle(&home, &record).await {
        Ok(Settled::Removed) => None,
        Ok(Settled::Kept(why)) => Some(why),
        Err(error) => Some(in_words(&error)),
    };
    let _ = told.send(Event::TreeSettled { name, tree: Box::new(record.tree), kept });
}

impl Job {
    async fn make(self) -> Result<Made, String> {
        let begun = Instant::now();
        let ask = Ask {
            home: &self.home,
            team: &self.team,
            id8: &self.id8,
            member: &self.member.name,
            agent: None,
            from: Path::new(&self.member.cwd),
            life: Some(self.life),
        };
        let mut made = match tokio::time::timeout(self.limit, worktree::make(&ask)).await {
            Ok(made) => made.map_err(|error| in_words(&error))?,
            Err(_) => return Err(self.gave_up().await),
        };
        if made.reused {
            return Ok(made);
        }
        let left = self.limit.saturating_sub(begun.elapsed());
        if let Err(error) = self.set_up(&made, left).await {
            return Err(self.undo(&made.record, error).await);
        }
        match made.ready(&self.home) {
            Ok(()) => Ok(made),
            Err(error) => Err(self.undo(&made.record, in_words(&error)).await),
        }
    }

    async fn set_up(&self, made: &Made, limit: Duration) -> Result<(), String> {
        let Some(spec) = &self.member.spec else { return Ok(()) };
        let Some(argv) = &spec.setup else { return Ok(()) };
        let tree = &made.record.tree;
        let who = Identity {
            home: self.home.root(),
            team: &self.team,
            scratch: self.scratch.clone(),
            member: &self.member.name,
            agent_id: &self.member.agent_id,
            color: &self.member.color,
            life: self.life,
            lead_life: self.lead_life,
            leads: self.leads,
            planning: self.member.plan_mode_required && self.member.plan_id.is_none(),
            plan_id: self.member.plan_id,
            tree: Some(tree),
            tmp: None,
        };
        let env = crate::teammate::whole_env(&who, spec, &self.env, None)
            .map_err(|e| format!("cannot read {}: {e}", self.env.display()))?;
        worktree::set_up(Setup {
            argv: argv.iter().map(OsString::from).collect(),
            cwd: PathBuf::from(&tree.cwd),
            env,
            life: self.life,
            log: self.log.clone(),
            limit,
        })
        .await
    }

    /// Nobody worked in it yet: nothing is lost with it.
    async fn undo(&self, record: &Record, error: String) -> String {
        match worktree::settle(&self.home, record).await {
            Ok(Settled::Removed) => error,
            Ok(Settled::Kept(why)) => format!("{error}\nand the work tree stays: {why}"),
            Err(also) => format!("{error}\nand the work tree could not be removed: {}", in_words(&also)),
        }
    }

    /// What makes it is ended, and what it made so far goes.
    async fn gave_up(&self) -> String {
        let mark = LifeMark { teammate: None, life: self.life, boot_id: process::boot_id() };
        let _ = tokio::task::spawn_blocking(move || end_life(&mark, &[std::process::id()], GRACE)).await;
        let error = format!("its work tree was not made within {:?}", self.limit);
        match Record::read(&self.home, &self.team, &self.id8, &self.member.name, None) {
            Ok(Some(record)) => self.undo(&record, error).await,
            _ => error,
        }
    }
}

/// An error of several parts, a line each.
fn in_words(error: &ActError) -> String {
    let hints = error.hints.iter().map(|hint| format!("hint: {hint}"));
    std::iter::once(error.message.clone())
        .chain(error.causes.iter().cloned())
        .chain(hints)
        .collect::<Vec<_>>()
        .join("\n")
}
