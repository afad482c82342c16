//! What a session is equipped with: its tools, what runs beside it, and what it is told of both.

use std::path::PathBuf;
use std::sync::Arc;

use super::{Face, Membership};
use crate::agent::AgentId;
use crate::agent::query::{Inbox, NoInbox, Shared};
use crate::agent::settings::Settings;
use crate::agent::tools::{BoxFuture, Context, Possible, Registry};
use crate::agent::wire::Turn;
use crate::model::message::Priority;

/// A message that waits for an agent.
#[derive(Clone, Debug)]
pub struct Waiting {
    pub priority: Priority,
    pub turn: Turn,
}

/// What runs and waits beside a conversation: children, shells, their notifications.
pub trait Backlog: Send + Sync {
    /// Takes all that waits for `agent`, in the order in which it is to enter.
    fn take(&self, agent: &AgentId) -> Vec<Waiting>;

    /// How much waits for `agent`.
    fn waiting(&self, agent: &AgentId) -> usize;

    /// Children and shells that run in the background.
    fn running(&self) -> usize;

    /// Returns when something has come to wait or has ended since it was called. May return without need.
    fn changed(&self) -> BoxFuture<'_, ()>;

    /// Ends everything in the background.
    fn stop_all(&self);

    /// Puts the child in the foreground into the background; `false` where there is none.
    fn to_background(&self) -> bool;
}

/// Nothing runs beside it.
#[derive(Clone, Copy, Debug)]
pub struct Alone;

impl Backlog for Alone {
    fn take(&self, _agent: &AgentId) -> Vec<Waiting> {
        Vec::new()
    }

    fn waiting(&self, _agent: &AgentId) -> usize {
        0
    }

    fn running(&self) -> usize {
        0
    }

    fn changed(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::pending())
    }

    fn stop_all(&self) {}

    fn to_background(&self) -> bool {
        false
    }
}

/// For whom.
pub struct Of<'a> {
    pub settings: &'a Arc<Settings>,
    pub shared: &'a Shared,
    pub face: &'a Face,
    pub attended: bool,
    pub coordinator: bool,
    pub team: Option<&'a Membership>,
    pub session_dir: PathBuf,
    pub servers: Vec<serde_json::Value>,
    pub output_schema: Option<serde_json::Value>,
}

pub struct Outfit {
    pub registry: Registry,
    pub possible: Possible,
    pub backlog: Arc<dyn Backlog>,
    pub inbox: Arc<dyn Inbox>,
    /// More for the system prompt.
    pub system: Vec<String>,
}

/// Chooses the tools; what they need of the session is put into `cx`.
pub fn outfit(of: &Of<'_>, _cx: &mut Context) -> Outfit {
    let possible = Possible {
        main: true,
        team: of.team.is_some(),
        person: of.attended,
        output_schema: of.output_schema.clone(),
        ..Possible::default()
    };
    Outfit {
        registry: Registry::default(),
        possible,
        backlog: Arc::new(Alone),
        inbox: Arc::new(NoInbox),
        system: Vec::new(),
    }
}
