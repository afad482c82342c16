//! Messages: the envelope that every mailbox holds and the bodies of each type.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::hook::HookKind;
use super::id::{Life, MessageId, RequestId, SpawnId, TaskId};
use super::name::{AgentId, Name};
use super::spec::MemberSpec;
use super::task::Usage;
use super::time::Timestamp;

/// Largest text kept inside a message line, in bytes; beyond it lies in a blob.
pub const MAX_INLINE_BYTES: usize = 256 * 1024;
/// Largest text that can be sent at all, in bytes.
pub const MAX_BLOB_BYTES: usize = 8 * 1024 * 1024;

/// Which of a member's two mailboxes a message goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lane {
    /// Words and work, handed to the engine between turns.
    Inbox,
    /// What the runtime acts on at once, itself.
    Control,
}

/// How soon a message enters the recipient's work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Priority {
    /// Interrupts. The lead's and the operator's alone.
    Now,
    #[default]
    Next,
    Later,
}

/// One message as it stands on file (less `seq` and `ts`, which the journal adds).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Message {
    pub id: MessageId,
    pub from: AgentId,
    pub to: Name,
    #[serde(rename = "type")]
    pub kind: String,
    #[serde(default)]
    pub priority: Priority,
    #[serde(default)]
    pub summary: Option<String>,
    #[serde(default)]
    pub reply_to: Option<MessageId>,
    #[serde(default)]
    pub body: Value,
    /// Fields of a newer version, kept as they came.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl Message {
    /// A message of the lane and type that `body` has.
    #[must_use]
    pub fn new(id: MessageId, from: AgentId, to: Name, body: &Body) -> Self {
        let (kind, body) = body.to_parts();
        Self { id, from, to, kind, priority: Priority::Next, summary: None, reply_to: None, body, extra: Map::new() }
    }

    /// The typed body; `None` for a type that this version does not know or a body that does not fit it.
    #[must_use]
    pub fn typed(&self) -> Option<Body> {
        let mut tagged = Map::new();
        tagged.insert("type".into(), Value::String(self.kind.clone()));
        tagged.insert("body".into(), self.body.clone());
        serde_json::from_value(Value::Object(tagged)).ok()
    }

    /// The text of a `text` message, if it lies inline.
    #[must_use]
    pub fn content(&self) -> Option<&str> {
        self.body.get("content").and_then(Value::as_str)
    }
}

/// What a message says, by type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", content = "body", rename_all = "snake_case")]
pub enum Body {
    Text(Text),
    Report(Box<Report>),
    TaskAssigned {
        task_id: TaskId,
        subject: String,
        assigned_by: AgentId,
    },

    /// A teammate is ready. `life` joins the place that `spawn_id` reserved.
    Hello {
        spawn_id: SpawnId,
        life: Life,
        pid: u32,
        start_time: u64,
    },
    /// The lead has written the member into the roster.
    Welcome {
        spawn_id: SpawnId,
        life: Life,
    },
    /// A teammate ends, and why.
    Leave {
        life: Life,
        reason: String,
    },

    /// Something a teammate saw that belongs into the team's events.
    Notice {
        life: Life,
        notice: String,
    },

    /// A hook that ran beside a teammate or a person's command objected, or failed.
    HookReport {
        hook: HookKind,
        vetoed: bool,
        said: String,
        #[serde(default)]
        task_id: Option<TaskId>,
    },

    ShutdownRequest {
        request_id: RequestId,
        #[serde(default)]
        reason: Option<String>,
        deadline: Timestamp,
    },
    ShutdownResponse {
        request_id: RequestId,
        #[serde(deserialize_with = "lenient_bool")]
        approve: bool,
        #[serde(default)]
        reason: Option<String>,
    },
    PlanApprovalRequest {
        request_id: RequestId,
        life: Life,
        plan: String,
        hash: String,
        #[serde(default)]
        summary: Option<String>,
    },
    PlanApprovalResponse {
        request_id: RequestId,
        #[serde(deserialize_with = "lenient_bool")]
        approve: bool,
        hash: String,
        #[serde(default)]
        feedback: Option<String>,
    },
    PermissionRequest {
        request_id: RequestId,
        life: Life,
        tool: String,
        #[serde(default)]
        input: Value,
        #[serde(default)]
        reason: Option<String>,
        /// What an approval for always would cover; without it this very input.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        scope: Option<String>,
        expires: Timestamp,
    },
    /// The asker takes its open permission request back: the turn that needed it is over.
    Withdraw {
        request_id: RequestId,
        life: Life,
    },
    PermissionResponse {
        request_id: RequestId,
        decision: PermissionDecision,
        #[serde(default)]
        reason: Option<String>,
    },

    SpawnRequest {
        spawn_id: SpawnId,
        spec: Box<MemberSpec>,
    },
    StopRequest {
        name: Name,
    },
    RestartRequest {
        name: Name,
    },
    /// Asks the lead to run the shutdown handshake with `name` (or with everyone). `force` ends at once.
    ShutdownAsk {
        #[serde(default)]
        name: Option<Name>,
        #[serde(default)]
        reason: Option<String>,
        #[serde(default)]
        grace_ms: Option<u64>,
        #[serde(default)]
        force: bool,
    },
    Decide {
        request_id: RequestId,
        #[serde(deserialize_with = "lenient_bool")]
        approve: bool,
        #[serde(default)]
        hash: Option<String>,
        #[serde(default)]
        feedback: Option<String>,
        #[serde(default)]
        always: bool,
    },
    Reply {
        to: MessageId,
        code: u8,
        #[serde(default)]
        error: Option<String>,
        #[serde(default)]
        hint: Option<String>,
        #[serde(default)]
        answer: Value,
    },

    Ping {
        nonce: String,
    },
    Pong {
        nonce: String,
    },
}

/// The body of a `text` message: inline, or a blob named by its BLAKE3 hash.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Text {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blob: Option<String>,
    /// Length of the whole text in bytes, where it lies in a blob.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
}

/// The final answer of a turn or task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    pub status: ReportStatus,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<TaskId>,
    pub summary: String,
    pub result: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree: Option<Worktree>,
    /// Where the whole output lies.
    pub output_file: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReportStatus {
    Completed,
    Failed,
    Killed,
}

impl ReportStatus {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Killed => "killed",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Worktree {
    pub path: String,
    pub branch: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PermissionDecision {
    AllowOnce,
    AllowAlways,
    Deny,
}

impl Body {
    /// The `type` word and the `body` value, as they stand in a message.
    #[must_use]
    pub fn to_parts(&self) -> (String, Value) {
        match serde_json::to_value(self) {
            Ok(Value::Object(mut map)) => {
                let kind = map.remove("type").and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default();
                (kind, map.remove("body").unwrap_or(Value::Null))
            }
            // Every variant serializes to an object of these two keys.
            _ => (String::new(), Value::Null),
        }
    }

    /// The lane this type travels on.
    #[must_use]
    pub fn lane(&self) -> Lane {
        match self {
            Self::Text(_) | Self::Report(_) | Self::TaskAssigned { .. } => Lane::Inbox,
            _ => Lane::Control,
        }
    }
}

/// Reads `true`, `"true"`, `"yes"`, `"approve"` (and their opposites) as one boolean.
fn lenient_bool<'de, D: serde::Deserializer<'de>>(d: D) -> Result<bool, D::Error> {
    match Value::deserialize(d)? {
        Value::Bool(b) => Ok(b),
        Value::String(s) => match s.to_ascii_lowercase().as_str() {
            "true" | "yes" | "approve" | "approved" => Ok(true),
            "false" | "no" | "reject" | "rejected" | "deny" => Ok(false),
            _ => Err(serde::de::Error::custom(format!("`{s}` is neither yes nor no"))),
        },
        other => Err(serde::de::Error::custom(format!("`{other}` is neither yes nor no"))),
    }
}
