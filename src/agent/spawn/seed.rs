//! What children are made of, apart from what the call that starts one brings.

use std::sync::Arc;
use std::time::Duration;

use super::agent_tool::Agent;
use super::kept::Nest;
use super::message::SendMessage;
use super::nursery::Nursery;
use super::output::TaskOutput;
use super::stop::TaskStop;
use crate::act::Desk;
use crate::agent::definition::{Definition, FORK, GENERAL, Library, WORKER, fork_definition};
use crate::agent::filter::Role;
use crate::agent::mcp_client::Servers;
use crate::agent::query::Shared;
use crate::agent::settings::Settings;
use crate::agent::tools::team::Seat;
use crate::agent::tools::{Registry, Tool};

/// One for a session.
pub struct Seed {
    pub settings: Arc<Settings>,
    pub shared: Shared,
    /// All tools that anybody can have, but those that start and steer children.
    pub tools: Registry,
    pub servers: Arc<Servers>,
    pub library: Library,
    pub nest: Nest,
    pub nursery: Arc<Nursery>,
    /// The place in a team, for mail to its members.
    pub seat: Option<Seat>,
    /// It is a member of a team.
    pub team: bool,
    pub coordinator: bool,
    /// Whether somebody holds the session.
    pub attended: bool,
}

impl Seed {
    /// The main loop's.
    #[must_use]
    pub fn role(&self) -> Role<'static> {
        match (self.coordinator, self.team) {
            (true, _) => Role::Coordinator,
            (false, true) => Role::Teammate,
            (false, false) => Role::Alone,
        }
    }

    /// The members of the team, whose names no child may have.
    pub(super) async fn members(&self) -> Vec<String> {
        let Some(seat) = &self.seat else { return Vec::new() };
        let names = |desk: &mut Desk| {
            let team = desk.team()?;
            Ok(team.members.iter().chain(&team.reserved).map(|m| m.name.to_string()).collect())
        };
        // A roster that cannot be read is what the next verb says.
        seat.look(names).await.unwrap_or_default()
    }

    /// Whether a child without a type goes on with its parent's conversation. Then every child runs in the background.
    #[must_use]
    pub fn forks(&self) -> bool {
        self.settings.fork && self.settings.background && self.attended && !self.coordinator
    }

    /// Whether every child runs in the background.
    #[must_use]
    pub fn always_background(&self) -> bool {
        self.coordinator || self.forks()
    }

    /// Whether a caller may choose between waiting and not.
    #[must_use]
    pub fn chooses(&self) -> bool {
        self.settings.background && !self.always_background()
    }

    /// After how long a child in the foreground is put in the background by itself.
    #[must_use]
    pub fn timer(&self) -> Option<Duration> {
        let after = self.settings.background_after.0;
        (self.settings.background && self.attended && !after.is_zero()).then_some(after)
    }

    /// The definition of a child of `kind`.
    ///
    /// # Errors
    /// An unknown type, with those that are known.
    pub fn definition(&self, kind: Option<&str>) -> Result<Definition, String> {
        let name = match kind.map(str::trim).filter(|kind| !kind.is_empty()) {
            Some(name) => name,
            None if self.forks() => return Ok(fork_definition()),
            None if self.coordinator => WORKER,
            None => GENERAL,
        };
        self.library
            .get(name)
            .cloned()
            .ok_or_else(|| format!("there is no agent type `{name}`; there are: {}", self.library.names().join(", ")))
    }

    /// The definition that a child was started with.
    pub(super) fn definition_again(&self, name: &str) -> Result<Definition, String> {
        if name == FORK { Ok(fork_definition()) } else { self.definition(Some(name)) }
    }

    /// The tools that start and steer children.
    #[must_use]
    pub fn steering(self: &Arc<Self>) -> Vec<Arc<dyn Tool>> {
        let seed = || Arc::clone(self);
        vec![
            Arc::new(Agent(seed())),
            Arc::new(SendMessage(seed())),
            Arc::new(TaskStop(Arc::clone(&self.nursery))),
            Arc::new(TaskOutput(Arc::clone(&self.nursery))),
        ]
    }

    /// The whole list of a main loop, before its role takes away from it.
    #[must_use]
    pub fn registry(self: &Arc<Self>) -> Registry {
        let mut all = Registry::new(self.steering());
        self.tools.iter().for_each(|tool| all.add(Arc::clone(tool)));
        self.servers.tools().into_iter().for_each(|tool| all.add(tool));
        all
    }
}
