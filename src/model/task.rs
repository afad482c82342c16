//! Tasks as they stand on the board.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::id::{Life, TaskId};
use super::name::Name;
use super::time::{Span, Timestamp};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskStatus {
    Pending,
    InProgress,
    Completed,
    Failed,
    Deleted,
}

impl TaskStatus {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::InProgress => "in_progress",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Deleted => "deleted",
        }
    }

    /// Whether nothing can happen to the task any more, save deletion.
    #[must_use]
    pub fn ended(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Deleted)
    }
}

impl std::str::FromStr for TaskStatus {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        [Self::Pending, Self::InProgress, Self::Completed, Self::Failed, Self::Deleted]
            .into_iter()
            .find(|s| s.as_str() == text)
            .ok_or_else(|| {
                format!("`{text}` is not a task status; use pending, in_progress, completed, failed or deleted")
            })
    }
}

/// Who has a task in progress: a member, in one of its lives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    pub member: Name,
    pub life: Life,
    pub since: Timestamp,
}

/// What a task asks for: all that its maker says.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NewTask {
    pub subject: String,
    #[serde(default)]
    pub description: String,
    #[serde(default)]
    pub active_form: Option<String>,
    /// Who alone may take it.
    #[serde(default)]
    pub owner: Option<Name>,
    #[serde(default)]
    pub blocked_by: Vec<TaskId>,
    /// Tasks that are to wait for this one.
    #[serde(default)]
    pub blocks: Vec<TaskId>,
    #[serde(default)]
    pub requires: Vec<String>,
    /// What a worker runs.
    #[serde(default)]
    pub run: Option<Vec<String>>,
    #[serde(default)]
    pub timeout: Option<Span>,
    /// How often a failed or lost attempt is tried again.
    #[serde(default)]
    pub retries: u32,
    #[serde(default)]
    pub metadata: Map<String, Value>,
}

/// One task on the board.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Task {
    pub id: TaskId,
    pub subject: String,
    #[serde(default)]
    pub description: String,
    #[serde(default)]
    pub active_form: Option<String>,
    pub status: TaskStatus,
    /// Who alone may take it while pending; who has it or had it last afterwards.
    #[serde(default)]
    pub owner: Option<Name>,
    /// The owner that its maker or `assign` fixed; a returned task goes back to it.
    #[serde(default)]
    pub assigned: Option<Name>,
    #[serde(default)]
    pub blocks: Vec<TaskId>,
    #[serde(default)]
    pub blocked_by: Vec<TaskId>,
    #[serde(default)]
    pub requires: Vec<String>,
    #[serde(default)]
    pub run: Option<Vec<String>>,
    #[serde(default)]
    pub timeout: Option<Span>,
    #[serde(default)]
    pub retries: u32,
    /// Attempts begun, less those that a release gave back.
    #[serde(default)]
    pub attempts: u32,
    /// Rises whenever a claim is taken or ends without the owner's word; words of an older epoch are refused.
    #[serde(default)]
    pub epoch: u64,
    #[serde(default)]
    pub claim: Option<Claim>,
    #[serde(default)]
    pub metadata: Map<String, Value>,
    #[serde(default)]
    pub result: Option<TaskResult>,
    /// Who put it on the board.
    #[serde(default)]
    pub created_by: Option<Name>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// How a task ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TaskResult {
    /// The last words of its output, or what its owner said.
    #[serde(default)]
    pub text: String,
    #[serde(default)]
    pub error: Option<String>,
    #[serde(default)]
    pub exit_code: Option<i32>,
    #[serde(default)]
    pub output_file: Option<String>,
    #[serde(default)]
    pub usage: Option<Usage>,
}

/// What a turn or task used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    pub total_tokens: u64,
    pub tool_uses: u64,
    pub duration_ms: u64,
}
