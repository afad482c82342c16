//! Who is calling: by descent, never by what the environment says.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::decide::authority::Authority;
use crate::model::id::Life;
use crate::model::name::{AgentId, Name};
use crate::os::process;
use crate::store::{Home, lease};

/// In whose name a verb is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Who {
    pub name: Name,
    /// A member's current life.
    pub life: Option<Life>,
    pub authority: Authority,
}

impl Who {
    #[must_use]
    pub fn operator() -> Self {
        Self { name: Name::operator(), life: None, authority: Authority::Operator }
    }

    #[must_use]
    pub fn lead(life: Life) -> Self {
        Self { name: Name::lead(), life: Some(life), authority: Authority::Lead }
    }

    #[must_use]
    pub fn member(name: Name, life: Life) -> Self {
        Self { name, life: Some(life), authority: Authority::Member }
    }

    /// The member whose agent leads.
    #[must_use]
    pub fn leader(name: Name, life: Life) -> Self {
        Self { name, life: Some(life), authority: Authority::Lead }
    }

    #[must_use]
    pub fn agent_id(&self, team: &Name) -> AgentId {
        AgentId::new(self.name.clone(), team.clone())
    }
}

/// The member that this process descends from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Descent {
    pub home: PathBuf,
    pub team: Name,
    pub member: Name,
    pub life: Life,
}

impl Descent {
    /// The nearest recorded teammate among this process's ancestors and their sessions. A process counts
    /// as a recorded teammate when it is one by its command line and the lease of that member names
    /// exactly this process.
    #[must_use]
    pub fn find() -> Option<Self> {
        let ancestors = process::ancestors(std::process::id());
        let mut asked = Vec::new();
        for stat in &ancestors {
            for pid in [stat.pid, stat.session] {
                if pid > 1 && !asked.contains(&pid) {
                    asked.push(pid);
                    if let Some(found) = recorded(pid) {
                        return Some(found);
                    }
                }
            }
        }
        None
    }

    /// Whether this is the team of that home.
    #[must_use]
    pub fn is_of(&self, home: &Home, team: &Name) -> bool {
        self.team == *team && same_path(&self.home, home.root())
    }
}

fn recorded(pid: u32) -> Option<Descent> {
    let argv = process::cmdline(pid);
    if argv.get(1).map(OsString::as_os_str) != Some(OsStr::new("teammate")) {
        return None;
    }
    let value = |flag: &str| {
        let at = argv.iter().position(|a| a == flag)?;
        argv.get(at + 1)
    };
    let home = PathBuf::from(value("--home")?);
    let team = Name::parse(value("--team")?.to_str()?).ok()?;
    let member = Name::parse(value("--member")?.to_str()?).ok()?;
    let text = lease::text(&Home::at(home.clone()).team(&team).member(&member).lease())?;
    let start_time = process::stat(pid).ok()?.start_time;
    let is_recorded = text.pid == pid && text.start_time == start_time && text.boot_id == process::boot_id();
    is_recorded.then_some(Descent { home, team, member, life: text.life })
}

fn same_path(a: &Path, b: &Path) -> bool {
    a == b || matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}
