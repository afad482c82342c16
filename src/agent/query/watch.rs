//! What a loop lets others see while it works.

use std::time::Duration;

use serde_json::Value;

use crate::agent::AgentId;
use crate::agent::tools::{Kind, Outcome};
use crate::agent::wire::Usage;

/// Something that happened in a loop.
#[derive(Clone, Debug)]
pub enum Step<'a> {
    /// A part of the answer's text.
    Text(&'a str),
    Thinking(&'a str),
    /// A request was answered. `context` is what the model read.
    Answered {
        usage: Usage,
        context: u64,
    },
    /// What has been shown of this answer is void: it broke off and is asked again after this pause.
    Again {
        why: &'a str,
        pause: Duration,
        attempt: u32,
    },
    /// A call is about to be made.
    Call {
        id: &'a str,
        name: &'a str,
        kind: Kind,
        subject: &'a str,
        input: &'a Value,
    },
    CallEnded {
        id: &'a str,
        name: &'a str,
        outcome: &'a Outcome,
    },
    /// A child or a background shell has ended, and the model is told of it now.
    Told {
        id: &'a str,
        summary: &'a str,
    },
    /// The conversation was shortened, to this many turns.
    Compacted {
        turns: usize,
    },
    /// Something a person ought to know.
    Notice(&'a str),
}

/// Whoever watches a loop.
pub trait Watcher: Send + Sync {
    fn see(&self, agent: &AgentId, step: Step<'_>);
}

/// Nobody watches.
#[derive(Clone, Copy, Debug)]
pub struct Silent;

impl Watcher for Silent {
    fn see(&self, _agent: &AgentId, _step: Step<'_>) {}
}
