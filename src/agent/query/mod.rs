//! The loop: request, stream, tools, next. One for the main conversation, for subagents and for forks.

mod ask;
mod compact;
mod conversation;
mod tools;
mod watch;

pub use conversation::{Conversation, Facts, Inbox, LateTools, NoInbox, Parts, Shared};
pub use watch::{Silent, Step, Watcher};

use thiserror::Error;

use super::provider::Failure;

/// How a turn ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// The model has said what it has to say.
    EndTurn,
    /// A tool ended it, as the answer in a prescribed form does.
    ByTool,
    /// The answer was as long as it may be.
    MaxTokens,
    /// The model refused.
    Refusal,
    Cancelled,
    /// So many requests were made in one turn.
    MaxTurns(u32),
    /// The session may spend no more, and why.
    Spent(String),
}

impl StopReason {
    /// Whether the answer is a whole one.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        matches!(self, Self::EndTurn | Self::ByTool)
    }

    /// Why it is not, for a person or a parent.
    #[must_use]
    pub fn why(&self) -> Option<String> {
        match self {
            Self::EndTurn | Self::ByTool => None,
            Self::MaxTokens => Some("the answer reached its greatest length".to_owned()),
            Self::Refusal => Some("the model refused".to_owned()),
            Self::Cancelled => Some("it was cancelled".to_owned()),
            Self::MaxTurns(most) => Some(format!("it took all of its {most} turns")),
            Self::Spent(why) => Some(format!("the budget is used up: {why}")),
        }
    }
}

/// Why a turn could not go on.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum TurnError {
    #[error(transparent)]
    Provider(#[from] Failure),
    #[error("the conversation does not fit the model even after compaction")]
    TooLong,
}

impl TurnError {
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Provider(failure) => failure.hint(),
            Self::TooLong => Some("begin a new session, or set a model with a longer context"),
        }
    }
}

#[cfg(test)]
mod tests;
