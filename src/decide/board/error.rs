//! Why the board says no.

use crate::decide::authority::Refusal;
use crate::model::id::TaskId;
use crate::model::name::Name;
use crate::model::task::{Task, TaskStatus};

/// A refusal of the board. Each text says what is so and what can be done.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BoardError {
    #[error("no task {id}; {known}")]
    NotFound { id: TaskId, known: String },

    #[error("only a member that is running can claim a task; give it to one with `task assign {0} MEMBER`")]
    NoLife(String),
    #[error("task {id} requires {}, which {caller} does not have", list(.missing))]
    Lacks { id: TaskId, caller: Name, missing: Vec<String> },
    #[error("task {id} is kept for {owner}; ask the lead to assign it")]
    KeptFor { id: TaskId, owner: Name },
    #[error("{caller} may not {what} task {id}; {who} may")]
    NotAllowed { id: TaskId, caller: Name, what: &'static str, who: String },

    #[error("task {id} waits for {}", waits(.on))]
    Blocked { id: TaskId, on: Vec<(TaskId, TaskStatus)> },
    #[error("cannot {what} task {id}: it is {status}{}", with(.holder))]
    WrongStatus { id: TaskId, what: &'static str, status: &'static str, holder: Option<(Name, u64)> },
    #[error("{caller} has {} in progress already ({limit} at most); end or release one first", ids(.held))]
    Limit { caller: Name, held: Vec<TaskId>, limit: usize },
    #[error("nothing to claim for {caller}: {why}")]
    NothingToClaim { caller: Name, why: String },
    #[error("task {id} is not {caller}'s any more: it is {status}{} at epoch {epoch}; drop the work", with(.holder))]
    Stale { id: TaskId, caller: Name, status: &'static str, epoch: u64, holder: Option<(Name, u64)> },

    #[error("tasks would wait for each other: {}", path(.0))]
    Cycle(Vec<TaskId>),
    #[error("a task needs a subject")]
    NoSubject,
    #[error("task {id} does not wait for {blocker}")]
    NotABlocker { id: TaskId, blocker: TaskId },
    #[error("task `{key}` waits for `{blocker}`, and no task has that key")]
    UnknownKey { key: String, blocker: String },
    #[error("two tasks have the key `{0}`")]
    KeyTwice(String),
    #[error("nothing to add or to change")]
    Nothing,
}

impl BoardError {
    #[must_use]
    pub fn kind(&self) -> Refusal {
        match self {
            Self::NotFound { .. } => Refusal::NotFound,
            Self::NoLife(_) | Self::Lacks { .. } | Self::KeptFor { .. } | Self::NotAllowed { .. } => Refusal::Forbidden,
            Self::Blocked { .. }
            | Self::WrongStatus { .. }
            | Self::Limit { .. }
            | Self::NothingToClaim { .. }
            | Self::Stale { .. } => Refusal::Conflict,
            Self::Cycle(_)
            | Self::NoSubject
            | Self::NotABlocker { .. }
            | Self::UnknownKey { .. }
            | Self::KeyTwice(_)
            | Self::Nothing => Refusal::Usage,
        }
    }

    #[must_use]
    pub fn exit_code(&self) -> u8 {
        self.kind().exit_code()
    }

    pub(super) fn wrong_status(task: &Task, what: &'static str) -> Self {
        Self::WrongStatus { id: task.id, what, status: words(task.status), holder: holder(task) }
    }

    pub(super) fn stale(task: &Task, caller: &Name) -> Self {
        Self::Stale {
            id: task.id,
            caller: caller.clone(),
            status: words(task.status),
            epoch: task.epoch,
            holder: holder(task),
        }
    }
}

fn holder(task: &Task) -> Option<(Name, u64)> {
    task.claim.as_ref().map(|c| (c.member.clone(), task.epoch))
}

fn words(status: TaskStatus) -> &'static str {
    match status {
        TaskStatus::InProgress => "in progress",
        other => other.as_str(),
    }
}

fn with(holder: &Option<(Name, u64)>) -> String {
    holder.as_ref().map_or_else(String::new, |(name, epoch)| format!(" with {name} (epoch {epoch})"))
}

fn list(words: &[String]) -> String {
    words.iter().map(|w| format!("`{w}`")).collect::<Vec<_>>().join(", ")
}

fn waits(on: &[(TaskId, TaskStatus)]) -> String {
    on.iter().map(|(id, status)| format!("{id} ({})", words(*status))).collect::<Vec<_>>().join(", ")
}

fn ids(ids: &[TaskId]) -> String {
    ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn path(ids: &[TaskId]) -> String {
    ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(" waits for ")
}
