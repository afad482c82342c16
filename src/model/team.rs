//! The team file: who is in the team. Only the holder of the lead's lease writes it.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::agent::Rules;
use super::hook::HooksSpec;
use super::id::{Life, SpawnId};
use super::name::{AgentId, LEAD, Name};
use super::spec::{EngineKind, LayoutSpec, LeadSpec, LimitsSpec, MemberSpec};
use super::time::Timestamp;
use super::tree::Tree;

/// Version of `team.json` this build writes. A newer one is read, never written.
pub const TEAM_VERSION: u32 = 1;

/// `team.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Team {
    pub v: u32,
    pub name: Name,
    #[serde(default)]
    pub description: String,
    pub lead_agent_id: AgentId,
    pub lead_life: Life,
    pub created_at: Timestamp,
    pub cwd: String,
    pub tmux: TmuxPlace,
    pub members: Vec<Member>,
    /// Places taken by a spawn whose teammate has not said hello yet.
    #[serde(default)]
    pub reserved: Vec<Member>,
    /// Whether the launch has been committed: every member of the spec said hello.
    #[serde(default)]
    pub launched: bool,
    /// Set by `run`: the lead ends the team when the maker's lock is free.
    #[serde(default)]
    pub tied_to_maker: bool,
    #[serde(default)]
    pub settings: Settings,
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// What the spec says about the team as a whole, kept for the lead's next life.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    #[serde(default)]
    pub lead: LeadSpec,
    #[serde(default)]
    pub limits: LimitsSpec,
    #[serde(default)]
    pub layout: LayoutSpec,
    #[serde(default)]
    pub hooks: HooksSpec,
    #[serde(default, skip_serializing_if = "Rules::is_empty")]
    pub permissions: Rules,
    /// Where the spec says its report will lie.
    #[serde(default)]
    pub report: Option<String>,
}

/// Which tmux server and session are the team's.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TmuxPlace {
    pub socket: String,
    pub session: String,
    pub server_pid: u32,
    /// Clock ticks since boot, as in field 22 of `/proc/PID/stat`, as text.
    pub server_start: String,
    pub boot_id: String,
}

/// One member of the roster.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Member {
    pub agent_id: AgentId,
    pub name: Name,
    pub agent_type: String,
    pub engine: String,
    pub color: String,
    #[serde(default)]
    pub model: Option<String>,
    pub joined_at: Timestamp,
    pub is_active: bool,
    #[serde(default)]
    pub plan_mode_required: bool,
    pub cwd: String,
    #[serde(default)]
    pub worktree: Option<Tree>,
    pub sandbox: String,
    #[serde(default)]
    pub pane_id: Option<String>,
    #[serde(default)]
    pub pid: Option<u32>,
    /// Start of `pid` in clock ticks since boot, as text.
    #[serde(default)]
    pub start_time: Option<String>,
    #[serde(default)]
    pub life: Option<Life>,
    #[serde(default)]
    pub restarts: u32,
    #[serde(default)]
    pub exit: Option<Exit>,
    pub spawn_id: SpawnId,
    /// The plan that this member's execution stands on, once one was approved.
    #[serde(default)]
    pub plan_id: Option<super::id::RequestId>,
    /// What the member was started with; `None` for the lead.
    #[serde(default)]
    pub spec: Option<MemberSpec>,
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl Member {
    /// Whether its program is started by somebody else, and comes and goes.
    #[must_use]
    pub fn is_guest(&self) -> bool {
        self.spec.as_ref().is_some_and(|spec| spec.engine == EngineKind::Mcp)
    }

    /// Whether it may only plan: it must, and no plan of it was approved yet.
    #[must_use]
    pub fn plans(&self) -> bool {
        self.plan_mode_required && self.plan_id.is_none()
    }

    /// Writes down what confines its life, on a kernel that can or one that cannot.
    pub fn confine(&mut self, kernel: bool) {
        if let Some(spec) = &self.spec {
            self.sandbox = spec.confinement(self.plans(), kernel).as_str().to_owned();
        }
    }
}

/// How a life of a member ended; `exit.json` and the roster hold the same.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Exit {
    #[serde(default)]
    pub life: Option<Life>,
    /// The program's exit code.
    #[serde(default)]
    pub code: Option<i32>,
    /// The signal that ended the program.
    #[serde(default)]
    pub signal: Option<i32>,
    /// Why the life ended: `exited`, `shutdown`, `stopped`, `pane closed`, `killed`, `plan approved`, …
    pub reason: String,
    pub at: Timestamp,
}

impl Exit {
    /// Whether the program itself ended well.
    #[must_use]
    pub fn is_success(&self) -> bool {
        self.code == Some(0)
    }
}

impl Team {
    #[must_use]
    pub fn member(&self, name: &Name) -> Option<&Member> {
        self.members.iter().find(|m| m.name == *name)
    }

    pub fn member_mut(&mut self, name: &Name) -> Option<&mut Member> {
        self.members.iter_mut().find(|m| m.name == *name)
    }

    /// Every member but the lead itself.
    pub fn teammates(&self) -> impl Iterator<Item = &Member> {
        self.members.iter().filter(|m| m.name.as_str() != LEAD)
    }

    /// Eight hex digits that tell this team from others of its name, also from those before and after it.
    #[must_use]
    pub fn id8(&self) -> String {
        // The end of a UUIDv7 is random; its beginning is a time.
        let lead = self.members.first().map(|m| m.spawn_id.0.simple().to_string()).unwrap_or_default();
        lead.get(24..).unwrap_or_default().to_owned()
    }

    /// The member whose agent leads.
    #[must_use]
    pub fn leader(&self) -> Option<&Name> {
        self.settings.lead.agent.as_ref()
    }

    #[must_use]
    pub fn is_led_by(&self, name: &Name) -> bool {
        self.leader() == Some(name)
    }

    /// Whose mailbox gets what `from` tells the lead: the leading agent's where there is one, else the operator's.
    #[must_use]
    pub fn reports_to(&self, from: &Name) -> Name {
        self.leader().filter(|leader| *leader != from).cloned().unwrap_or_else(Name::lead)
    }

    /// Whether an agent leads; else `operator` and `team-lead` are one mailbox.
    #[must_use]
    pub fn agent_leads(&self) -> bool {
        self.settings.lead.engine.is_some()
    }
}

/// `status.json`: what a teammate says of itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Status {
    pub v: u32,
    pub state: State,
    pub life: Life,
    pub updated_at: Timestamp,
    /// What it is doing, in a few words.
    #[serde(default)]
    pub activity: Option<String>,
    #[serde(default)]
    pub task: Option<super::id::TaskId>,
    /// The epoch of that task's claim.
    #[serde(default)]
    pub epoch: Option<u64>,
    #[serde(default)]
    pub usage: Option<super::task::Usage>,
    #[serde(default)]
    pub session_id: Option<String>,
    /// The last things that an agent did, newest last.
    #[serde(default)]
    pub recent: Vec<String>,
    #[serde(default)]
    pub queued: u64,
    /// `inotify` or `polling`.
    #[serde(default)]
    pub watch: String,
    #[serde(default)]
    pub children: Vec<Value>,
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// What a member is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    Starting,
    Planning,
    Idle,
    Busy,
    Waiting,
    Stopping,
    Exited,
    Failed,
}

impl State {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Planning => "planning",
            Self::Idle => "idle",
            Self::Busy => "busy",
            Self::Waiting => "waiting",
            Self::Stopping => "stopping",
            Self::Exited => "exited",
            Self::Failed => "failed",
        }
    }
}
