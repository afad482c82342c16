//! Requests: something asked of someone that gets exactly one decision or ends otherwise.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::id::{Life, MessageId, RequestId};
use super::name::{AgentId, Name};
use super::time::Timestamp;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RequestKind {
    Plan,
    Shutdown,
    Permission,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RequestState {
    Open,
    Approved,
    Rejected,
    Expired,
    Withdrawn,
}

impl RequestKind {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Shutdown => "shutdown",
            Self::Permission => "permission",
        }
    }
}

impl RequestState {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Approved => "approved",
            Self::Rejected => "rejected",
            Self::Expired => "expired",
            Self::Withdrawn => "withdrawn",
        }
    }
}

/// One request in the ledger.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Request {
    pub id: RequestId,
    pub kind: RequestKind,
    /// Who asked.
    pub from: AgentId,
    /// The member it is about: the planner, the one to stop, the one that asks for permission.
    pub member: Name,
    /// The life of that member it belongs to.
    #[serde(default)]
    pub life: Option<Life>,
    pub state: RequestState,
    pub created_at: Timestamp,
    #[serde(default)]
    pub expires: Option<Timestamp>,
    #[serde(default)]
    pub summary: String,
    /// Plans: the hash that a decision is bound to.
    #[serde(default)]
    pub hash: Option<String>,
    #[serde(default)]
    pub body: Value,
    #[serde(default)]
    pub decision: Option<Decision>,
    /// Whether the decision has reached the asker's mailbox.
    #[serde(default)]
    pub answered: bool,
    /// The verb to reply to when this ends (a shutdown that someone waits for).
    #[serde(default)]
    pub asked_by: Option<MessageId>,
}

/// How a request was decided.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    pub approve: bool,
    pub by: Name,
    pub at: Timestamp,
    #[serde(default)]
    pub feedback: Option<String>,
    #[serde(default)]
    pub always: bool,
}
