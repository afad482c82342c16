//! The team that a session belongs to, if it runs below a teammate.

use std::path::PathBuf;
use std::sync::Mutex;

use crate::act::Client;
use crate::agent::permission::Mode;
use crate::agent::tools::team::Seat;
use crate::model::name::Name;
use crate::store::{Home, reach};
use crate::view::{gather, plain::Style, status};

/// A place in a team. Everything is done through `act`, as any other program of the member does it.
pub struct Membership {
    pub team: Name,
    pub member: Name,
    client: Mutex<Client>,
}

impl Membership {
    /// The team whose member this process descends from. Being named in the environment makes nobody a member.
    #[must_use]
    pub fn find() -> Option<Self> {
        let team = Name::parse(&std::env::var("CREWMUX_TEAM").ok()?).ok()?;
        let home = Home::from_env().ok()?;
        let client = Client::open(&home, &team, None).ok()?;
        if client.is_operator() {
            return None;
        }
        Some(Self { team, member: client.name(), client: Mutex::new(client) })
    }

    /// What the tools of a member work through.
    #[must_use]
    pub fn seat(&self) -> Option<Seat> {
        let home = Home::from_env().ok()?;
        let client = Client::open(&home, &self.team, None).ok()?;
        let planning_life = std::env::var("CREWMUX_PLAN_MODE").is_ok_and(|mode| mode == "plan");
        Some(Seat::new(client, (!planning_life).then_some(Mode::AcceptEdits)))
    }

    /// The files that the verbs of its programs are written to.
    #[must_use]
    pub fn own_words(&self) -> Vec<PathBuf> {
        let client = self.client.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        client.desk.dir.member(&self.member).own_words().to_vec()
    }

    /// What a commit in the member's own work tree writes outside it.
    #[must_use]
    pub fn commits(&self) -> Vec<PathBuf> {
        let mut client = self.client.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        // A session begins before its member has joined.
        let member = client.desk.member_or_starting(&self.member).ok();
        member.and_then(|member| member.worktree.as_ref()).map(reach::of_commits).unwrap_or_default()
    }

    /// Roster, board and open requests as they are now.
    #[must_use]
    pub fn facts(&self) -> String {
        let mut client = self.client.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        match gather::status(&mut client.desk) {
            Ok(view) => {
                let table = status::text(&view, &Style { color: false, width: None });
                format!("You are `{}` in the team `{}`.\n{table}", self.member, self.team)
            }
            Err(error) => {
                format!("You are `{}` in the team `{}`, which cannot be read: {error}", self.member, self.team)
            }
        }
    }
}
