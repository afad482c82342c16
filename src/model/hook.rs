//! Hooks: programs of the spec that are run when something happens, and may object.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::sandbox::Mode;
use super::time::Span;

/// When a hook runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HookKind {
    /// A member has nothing to do any more.
    MemberIdle,
    /// A task is about to be put on the board.
    TaskCreated,
    /// A task is about to count as completed.
    TaskCompleted,
    /// A member's life is over.
    MemberExited,
    /// Somebody asks for a decision.
    RequestOpened,
}

impl HookKind {
    pub const ALL: [Self; 5] =
        [Self::MemberIdle, Self::TaskCreated, Self::TaskCompleted, Self::MemberExited, Self::RequestOpened];

    /// Whether the lead runs it, and not whoever it is about.
    #[must_use]
    pub fn is_the_leads(self) -> bool {
        matches!(self, Self::MemberExited | Self::RequestOpened)
    }

    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::MemberIdle => "member_idle",
            Self::TaskCreated => "task_created",
            Self::TaskCompleted => "task_completed",
            Self::MemberExited => "member_exited",
            Self::RequestOpened => "request_opened",
        }
    }
}

impl fmt::Display for HookKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// `[hooks]` of a spec.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct HooksSpec {
    /// How long one may run.
    pub timeout: Span,
    /// What is run, its program resolved.
    pub run: BTreeMap<HookKind, Vec<String>>,
    /// What confines all of them; without it each is confined as the member is that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<Mode>,
    /// What they may write besides; absolute.
    pub state_dirs: Vec<String>,
}

impl Default for HooksSpec {
    fn default() -> Self {
        Self { timeout: Span::secs(60), run: BTreeMap::new(), sandbox: None, state_dirs: Vec::new() }
    }
}

/// What a hook came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    Passed,
    /// It objects, and why.
    Vetoed(String),
    /// It was ended from outside before it said anything: nothing was let through.
    CutOff(String),
    /// It did not do its work. What it was asked about goes on.
    Failed(String),
}
