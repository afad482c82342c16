//! The team spec: what a person writes to describe a team.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::agent::{AgentSpec, Rules};
use super::hook::HooksSpec;
use super::name::Name;
use super::request::RequestKind;
use super::sandbox::{Fallback, Mode, Network, UnixSockets};
use super::time::Span;

/// How a teammate drives its program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EngineKind {
    Command,
    #[default]
    Worker,
    /// An agent that speaks the Agent Client Protocol on its standard streams.
    Acp,
    /// A program that somebody else started, and that calls on the team as an MCP client.
    Mcp,
}

impl EngineKind {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Command => "command",
            Self::Worker => "worker",
            Self::Acp => "acp",
            Self::Mcp => "mcp",
        }
    }
}

/// How mail reaches a `command` program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Deliver {
    /// The program reads its mailbox by itself.
    #[default]
    Mailbox,
    /// JSON lines on its standard input.
    Stdin,
    /// Pasted into its terminal once it is ready.
    Paste,
}

/// When a member whose life ended is started again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Restart {
    Never,
    #[default]
    OnFailure,
    Always,
}

/// Who answers a shutdown request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnShutdown {
    /// The teammate, when the running task has ended.
    #[default]
    Finish,
    /// The teammate, at once.
    Now,
    /// The program.
    Ask,
}

/// Whether a member has a copy of the files to itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Isolation {
    /// It shares the directory with the others.
    #[default]
    None,
    /// A git work tree and a branch of its own.
    Worktree,
}

/// What happens to plans or permissions when nobody is asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Policy {
    #[default]
    Ask,
    Approve,
    Reject,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LeadSpec {
    pub plans: Policy,
    pub permissions: Policy,
    pub agent_type: Option<String>,
    /// Set where an agent leads that is the lead's process itself.
    pub engine: Option<String>,
    /// The member whose agent leads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<Name>,
    /// What that agent does not decide: people do.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reserved: Vec<RequestKind>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LimitsSpec {
    pub max_members: usize,
    pub claims_per_member: usize,
    /// Most unread messages of a member before more are refused.
    pub queue_depth: u64,
    /// Most unread messages that one member may have lying with another.
    pub sender_depth: u64,
    /// Most unread mail of a member in MiB before more is refused.
    pub queue_mib: u64,
    /// Most that the team's large texts may take together, in MiB.
    pub blobs_mib: u64,
    /// How long a program may take until its teammate says hello.
    pub hello: Span,
    /// How long the making of a work tree may take, its `setup` included.
    pub worktree: Span,
}

impl Default for LimitsSpec {
    fn default() -> Self {
        Self {
            max_members: 64,
            claims_per_member: 1,
            queue_depth: 100_000,
            sender_depth: 10_000,
            queue_mib: 1024,
            blobs_mib: 1024,
            hello: Span::secs(30),
            worktree: Span::secs(600),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LayoutSpec {
    pub panes_per_window: usize,
}

impl Default for LayoutSpec {
    fn default() -> Self {
        Self { panes_per_window: 4 }
    }
}

/// One member, with the defaults already laid under it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MemberSpec {
    pub name: Name,
    #[serde(default)]
    pub engine: EngineKind,
    #[serde(default)]
    pub agent_type: Option<String>,
    /// Absolute, or found through `PATH`.
    #[serde(default)]
    pub command: Vec<String>,
    #[serde(default)]
    pub deliver: Deliver,
    /// Absolute.
    pub cwd: String,
    #[serde(default)]
    pub restart: Restart,
    #[serde(default)]
    pub plan_mode_required: bool,
    #[serde(default)]
    pub execute: Option<Vec<String>>,
    #[serde(default)]
    pub on_shutdown: OnShutdown,
    #[serde(default)]
    pub settle: Span,
    #[serde(default)]
    pub clean_env: bool,
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    #[serde(default)]
    pub pass_env: Vec<String>,
    #[serde(default)]
    pub capabilities: Vec<String>,
    #[serde(default)]
    pub prompt: Option<String>,
    #[serde(default)]
    pub color: Option<String>,
    #[serde(default)]
    pub model: Option<String>,
    #[serde(default)]
    pub isolation: Isolation,
    /// Run once in a fresh work tree.
    #[serde(default)]
    pub setup: Option<Vec<String>>,
    /// `true`: `fast` appends are not enough for this member's mail.
    #[serde(default)]
    pub durable: bool,
    /// What its programs may write; while it plans they may write nothing.
    #[serde(default)]
    pub sandbox: Mode,
    /// What they may write besides; absolute.
    #[serde(default)]
    pub state_dirs: Vec<String>,
    #[serde(default)]
    pub unix_sockets: UnixSockets,
    #[serde(default)]
    pub network: Network,
    #[serde(default)]
    pub sandbox_fallback: Fallback,
    /// What is said of its program where that is an agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<Box<AgentSpec>>,
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// One task of a spec; `key` is what `blocked_by` of its siblings names.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskSpec {
    pub key: String,
    pub blocked_by: Vec<String>,
    pub task: super::task::NewTask,
}

/// A whole team, checked: names unique, blockers known and without a cycle, programs found.
#[derive(Clone, Debug, PartialEq)]
pub struct TeamSpec {
    pub name: Name,
    /// Where the team works; absolute.
    pub cwd: String,
    pub description: String,
    pub lead: LeadSpec,
    pub limits: LimitsSpec,
    pub layout: LayoutSpec,
    pub hooks: HooksSpec,
    /// What every agent of the team may do without asking.
    pub permissions: Rules,
    /// The file that the team leaves; absolute.
    pub report: Option<String>,
    pub members: Vec<MemberSpec>,
    /// In an order in which blockers come first.
    pub tasks: Vec<TaskSpec>,
}

/// The colours of members that have none of their own, told apart on light and dark terminals alike.
const PALETTE: [&str; 8] = ["cyan", "green", "yellow", "magenta", "blue", "red", "brightcyan", "brightmagenta"];

/// The colour of the `n`th member (from 0) without one of its own.
#[must_use]
pub fn palette(n: usize) -> &'static str {
    PALETTE[n % PALETTE.len()]
}

/// Whether tmux knows the colour: one of eight words, the same with `bright` in front, `colour0` to `colour255`,
/// or `#rrggbb`.
#[must_use]
pub fn is_color(text: &str) -> bool {
    if let Some(hex) = text.strip_prefix('#') {
        return hex.len() == 6 && hex.bytes().all(|b| b.is_ascii_hexdigit());
    }
    if let Some(n) = text.strip_prefix("colour").or_else(|| text.strip_prefix("color")) {
        return n.len() <= 3 && n.bytes().all(|b| b.is_ascii_digit()) && n.parse::<u8>().is_ok();
    }
    let word = text.strip_prefix("bright").unwrap_or(text);
    ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"].contains(&word)
}
