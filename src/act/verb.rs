//! What can be asked of a team.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::id::{MessageId, RequestId, SpawnId, TaskId};
use crate::model::message::{Priority, ReportStatus};
use crate::model::name::Name;
use crate::model::spec::MemberSpec;
use crate::model::task::{NewTask, TaskResult};

/// One verb with its arguments. It travels through a member's outbox as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "verb", rename_all = "snake_case")]
pub enum Verb {
    Send(Send),
    /// Marks mail of one's own inbox as read: these ids, or all of it up to a seq.
    Ack {
        #[serde(default)]
        ids: Vec<MessageId>,
        #[serde(default)]
        up_to: Option<u64>,
    },
    Ready,

    TaskAdd {
        task: NewTask,
    },
    TaskClaim {
        #[serde(default)]
        id: Option<TaskId>,
    },
    TaskDone {
        id: TaskId,
        #[serde(default)]
        epoch: Option<u64>,
        #[serde(default)]
        result: TaskResult,
    },
    TaskFail {
        id: TaskId,
        #[serde(default)]
        epoch: Option<u64>,
        #[serde(default)]
        result: TaskResult,
    },
    TaskRelease {
        id: TaskId,
        #[serde(default)]
        epoch: Option<u64>,
    },
    TaskAssign {
        id: TaskId,
        #[serde(default)]
        member: Option<Name>,
    },
    TaskRm {
        id: TaskId,
    },

    SubmitPlan {
        request_id: RequestId,
        plan: String,
        #[serde(default)]
        summary: Option<String>,
    },
    /// Asks the lead for permission. Without a decision by then it is denied.
    RequestPermission {
        request_id: RequestId,
        tool: String,
        #[serde(default)]
        input: Value,
        #[serde(default)]
        reason: Option<String>,
        /// What an approval for always would cover; without it this very input.
        #[serde(default)]
        scope: Option<String>,
        #[serde(default)]
        expires_ms: Option<u64>,
    },
    /// The final answer of work that is no task of the board, for the lead.
    Report {
        status: ReportStatus,
        summary: String,
        #[serde(default)]
        result: String,
        #[serde(default)]
        error: Option<String>,
        /// A file that holds more; the member's own output where none is named.
        #[serde(default)]
        output_file: Option<String>,
    },
    /// Takes back one's own open permission request.
    Withdraw {
        request_id: RequestId,
    },
    Decide {
        request_id: RequestId,
        approve: bool,
        #[serde(default)]
        hash: Option<String>,
        #[serde(default)]
        feedback: Option<String>,
        #[serde(default)]
        always: bool,
    },

    /// A git work tree for a child of the member's agent. Its teammate makes it, since a sandboxed program cannot.
    WorktreeAdd {
        /// `agent-` and eight digits or small letters.
        agent: String,
    },
    /// Removes such a tree where nothing was changed in it, or whatever is in it.
    WorktreeRemove {
        agent: String,
        #[serde(default)]
        discard: bool,
    },

    Spawn {
        spawn_id: SpawnId,
        spec: Box<MemberSpec>,
    },
    Stop {
        name: Name,
    },
    Restart {
        name: Name,
    },
    /// Asks the teammate whether it hears; a `pong` in the lead's mailbox is the answer.
    Ping {
        name: Name,
    },
    /// The shutdown handshake with `name`, or with everyone.
    Shutdown {
        #[serde(default)]
        name: Option<Name>,
        #[serde(default)]
        reason: Option<String>,
        #[serde(default)]
        grace_ms: Option<u64>,
        #[serde(default)]
        force: bool,
    },
}

/// A message to someone.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Send {
    /// The address as it was written.
    pub to: String,
    pub text: String,
    #[serde(default)]
    pub summary: Option<String>,
    #[serde(default)]
    pub priority: Priority,
    #[serde(default)]
    pub reply_to: Option<MessageId>,
    /// Given by the sender: the same id twice is one message.
    #[serde(default)]
    pub id: Option<MessageId>,
    #[serde(default)]
    pub durable: bool,
    /// Also to a member that has ended: it gets the message if it is started again.
    #[serde(default)]
    pub queue: bool,
}

/// What a verb came to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The documented `--json` shape of the verb.
    #[serde(default)]
    pub value: Value,
    /// What the caller should know besides, a line each.
    #[serde(default)]
    pub notes: Vec<String>,
}

impl Answer {
    #[must_use]
    pub fn of(value: Value) -> Self {
        Self { value, notes: Vec::new() }
    }
}

impl Verb {
    /// The word a person would use for it.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Send(_) => "send",
            Self::Ack { .. } => "inbox --ack",
            Self::Ready => "ready",
            Self::TaskAdd { .. } => "task add",
            Self::TaskClaim { .. } => "task claim",
            Self::TaskDone { .. } => "task done",
            Self::TaskFail { .. } => "task fail",
            Self::TaskRelease { .. } => "task release",
            Self::TaskAssign { .. } => "task assign",
            Self::TaskRm { .. } => "task rm",
            Self::SubmitPlan { .. } => "plan submit",
            Self::RequestPermission { .. } => "permission ask",
            Self::Report { .. } => "report",
            Self::Withdraw { .. } => "permission withdraw",
            Self::Decide { approve: true, .. } => "approve",
            Self::Decide { .. } => "reject",
            Self::WorktreeAdd { .. } => "worktree add",
            Self::WorktreeRemove { .. } => "worktree remove",
            Self::Spawn { .. } => "spawn",
            Self::Stop { .. } => "stop",
            Self::Restart { .. } => "restart",
            Self::Ping { .. } => "doctor",
            Self::Shutdown { .. } => "shutdown",
        }
    }
}
