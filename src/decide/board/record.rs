//! What the board's journal holds.

use serde::{Deserialize, Serialize};

use crate::model::name::Name;
use crate::model::task::Task;

/// One record of the board's journal: a whole board, or one atomic change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum BoardRecord {
    Snapshot {
        next_id: u64,
        tasks: Vec<Task>,
    },
    /// The tasks that changed, each whole; the one that the verb was about comes first.
    Task {
        event: TaskEvent,
        by: Name,
        tasks: Vec<Task>,
    },
}

/// What happened. The tasks themselves say what followed from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskEvent {
    Added,
    Claimed,
    Completed,
    Failed,
    /// A life ended; what it had in progress went back (or failed, after too many lives).
    Returned,
    /// Its holder, or who commands, gave it back.
    Released,
    Assigned,
    /// An attempt failed and another is left.
    Retried,
    Deleted,
    Updated,
}

impl TaskEvent {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Claimed => "claimed",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Returned => "returned",
            Self::Released => "released",
            Self::Assigned => "assigned",
            Self::Retried => "retried",
            Self::Deleted => "deleted",
            Self::Updated => "updated",
        }
    }
}

/// A decision: the record to write, and the tasks as they are once it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Changed {
    pub record: BoardRecord,
    /// What `record` holds: never empty, the one that the verb was about first.
    pub tasks: Vec<Task>,
}

impl Changed {
    /// What happened.
    #[must_use]
    pub fn event(&self) -> Option<TaskEvent> {
        match &self.record {
            BoardRecord::Task { event, .. } => Some(*event),
            BoardRecord::Snapshot { .. } => None,
        }
    }
}
