//! A team's files at hand: what a verb needs to be decided and done.

use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;
use std::time::SystemTime;

use super::board::{BoardLog, LedgerLog};
use super::error::ActError;
use super::near::nearest;
use crate::model::id::RequestId;
use crate::model::name::Name;
use crate::model::request::{Request, RequestState};
use crate::model::team::{Member, Team};
use crate::store::{Home, MemberDir, StateLog, TeamDir, lease, roster};

/// One team, opened. Cheap to open; a long-lived process keeps it, so that nothing is read twice.
pub struct Desk {
    pub home: Home,
    pub name: Name,
    pub dir: TeamDir,
    pub board: StateLog<BoardLog>,
    /// The requests, as the lead has written them.
    pub ledger: StateLog<LedgerLog>,
    /// What a member sent from here: the places of its messages in each mailbox, as far as they may lie there unread.
    pub(super) sent: HashMap<Name, VecDeque<u64>>,
    team: Option<(Stamp, Team)>,
}

/// Which version of `team.json` was read.
type Stamp = (u64, u64, SystemTime);

impl Desk {
    /// Opens the team. Touches nothing on disk.
    ///
    /// # Errors
    /// No such team: exit code 3, with the nearest names.
    pub fn open(home: &Home, name: &Name) -> Result<Self, ActError> {
        let dir = home.team(name);
        if !dir.exists() {
            let known: Vec<String> = home.teams().unwrap_or_default().iter().map(ToString::to_string).collect();
            let mut error = ActError::not_found(format!("no team `{name}`"));
            error = match nearest(name.as_str(), &known).as_slice() {
                [] if known.is_empty() => error.hint("`crewmux up SPEC` launches a team"),
                [] => error.hint("`crewmux ls` shows the teams that there are"),
                near => error.hint(format!("did you mean {}?", near.join(", "))),
            };
            return Err(error);
        }
        let (board, ledger) = (StateLog::open(dir.tasks()), StateLog::open(dir.requests()));
        Ok(Self { home: home.clone(), name: name.clone(), dir, board, ledger, sent: HashMap::new(), team: None })
    }

    /// The roster as it stands, read again only when the file was replaced.
    ///
    /// # Errors
    /// When the team is gone or its file cannot be read.
    pub fn team(&mut self) -> Result<&Team, ActError> {
        use std::os::unix::fs::MetadataExt;
        let path = self.dir.team_json();
        let stamp = std::fs::metadata(&path).ok().map(|m| {
            let modified = m.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            (m.ino(), m.size(), modified)
        });
        let fresh = matches!((&self.team, stamp), (Some((known, _)), Some(now)) if *known == now);
        if !fresh {
            let team = roster::read_team(&self.dir)?;
            self.team = Some((stamp.unwrap_or((0, 0, SystemTime::UNIX_EPOCH)), team));
        }
        match &self.team {
            Some((_, team)) => Ok(team),
            None => Err(ActError::not_found(format!("no team `{}`", self.name))),
        }
    }

    /// The roster entry of `name`.
    ///
    /// # Errors
    /// Exit code 3 with the nearest names.
    pub fn member(&mut self, name: &Name) -> Result<&Member, ActError> {
        let team = self.team()?;
        team.member(name).ok_or_else(|| unknown_member(team, name))
    }

    /// The roster entry of `name`, who may still be starting: what a program says before its hello is what one
    /// wants to read when the hello does not come.
    ///
    /// # Errors
    /// Exit code 3 with the nearest names.
    pub fn member_or_starting(&mut self, name: &Name) -> Result<&Member, ActError> {
        let team = self.team()?;
        let starting = team.reserved.iter().find(|m| m.name == *name);
        team.member(name).or(starting).ok_or_else(|| unknown_member(team, name))
    }

    /// The folder whose mailboxes are `name`'s: where no agent leads, the operator's are the lead's.
    ///
    /// # Errors
    /// When the roster cannot be read.
    pub fn mailbox(&mut self, name: &Name) -> Result<MemberDir, ActError> {
        let name = if name.is_operator() && !self.team()?.agent_leads() { Name::lead() } else { name.clone() };
        Ok(self.dir.member(&name))
    }

    /// A request once it has ended, with its decision if it has one; `None` while it is open or not entered yet.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn ended_request(&mut self, id: RequestId) -> Result<Option<Request>, ActError> {
        Ok(self.ledger.view()?.0.get(id).filter(|r| r.state != RequestState::Open).cloned())
    }

    /// Whether a lead runs.
    ///
    /// # Errors
    /// When the lease cannot be looked at.
    pub fn lead_alive(&self) -> Result<bool, ActError> {
        Ok(lease::is_held_by_living(&self.dir.lead_lease())?)
    }

    /// Where the scratchpad lies.
    #[must_use]
    pub fn scratch(&self) -> PathBuf {
        self.dir.scratch()
    }
}

/// Exit code 3: nobody of that name, with the nearest that there are.
#[must_use]
pub fn unknown_member(team: &Team, name: &Name) -> ActError {
    if team.reserved.iter().any(|m| m.name == *name) {
        return ActError::not_found(format!("`{name}` is still starting")).hint("try again when it has said hello");
    }
    let mut known: Vec<String> = team.members.iter().map(|m| m.name.to_string()).collect();
    known.push("operator".to_owned());
    let error = ActError::not_found(format!("no member `{name}` in team `{}`", team.name));
    match nearest(name.as_str(), &known).as_slice() {
        [] => error.hint(format!("there are {}", known.join(", "))),
        near => error.hint(format!("did you mean {}?", near.join(", "))),
    }
}
