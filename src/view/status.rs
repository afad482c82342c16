//! The state of a team: the roster, what each member is at, the board in numbers.

use serde::{Serialize, Serializer};

use super::plain::{Ink, Lines, Style, ago, safe};
use super::requests::{self, RequestView};
use super::table::{Cell, Column, lines};
use crate::model::id::TaskId;
use crate::model::name::{AgentId, Name};
use crate::model::task::{Task, TaskStatus};
use crate::model::team::Exit;
use crate::model::time::Timestamp;

/// `status --json`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StatusView {
    pub team: Name,
    /// When the look was taken.
    pub at: Timestamp,
    pub cwd: String,
    pub session: String,
    pub lead: LeadView,
    pub members: Vec<MemberView>,
    pub tasks: TaskCounts,
    /// How many requests are open.
    pub requests: usize,
    pub open_requests: Vec<RequestView>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LeadView {
    pub alive: bool,
    pub pid: Option<u32>,
    /// Unread mail of the lead (and of the operator, where they are one).
    pub unread: u64,
}

/// Whether a member's lease is held; `Unknown` where that cannot be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alive {
    Yes,
    No,
    Unknown,
}

impl Serialize for Alive {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Yes => s.serialize_bool(true),
            Self::No => s.serialize_bool(false),
            Self::Unknown => s.serialize_str("unknown"),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MemberView {
    pub name: Name,
    pub agent_id: AgentId,
    pub engine: String,
    /// A word of `status.json`, or `unresponsive` or `unknown` where that is the truth.
    pub state: String,
    pub alive: Alive,
    pub pid: Option<u32>,
    pub pane_id: Option<String>,
    /// Messages not read yet.
    pub unread: u64,
    /// Messages its engine holds and has not taken up.
    pub queued: u64,
    pub task: Option<TaskId>,
    pub restarts: u32,
    pub exit: Option<Exit>,
    /// Since when it is in this state.
    pub since: Option<Timestamp>,
    /// What it is doing, in a few words.
    pub activity: Option<String>,
    pub color: String,
    /// What confines its programs now: `off`, `read-only` or `workspace-write`.
    pub sandbox: String,
    /// Whether nothing does: it is trusted as you are.
    pub unconfined: bool,
    /// What it may write besides.
    pub state_dirs: Vec<String>,
}

/// The board in numbers; deleted tasks do not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TaskCounts {
    pub pending: usize,
    pub in_progress: usize,
    pub completed: usize,
    pub failed: usize,
}

impl TaskCounts {
    #[must_use]
    pub fn of<'a>(tasks: impl IntoIterator<Item = &'a Task>) -> Self {
        let mut counts = Self::default();
        for task in tasks {
            match task.status {
                TaskStatus::Pending => counts.pending += 1,
                TaskStatus::InProgress => counts.in_progress += 1,
                TaskStatus::Completed => counts.completed += 1,
                TaskStatus::Failed => counts.failed += 1,
                TaskStatus::Deleted => {}
            }
        }
        counts
    }

    #[must_use]
    pub fn total(&self) -> usize {
        self.pending + self.in_progress + self.completed + self.failed
    }

    /// `3/8 done, 2 running, 2 waiting, 1 failed`.
    #[must_use]
    pub fn words(&self) -> String {
        let mut out = format!("{}/{} done", self.completed, self.total());
        for (n, word) in [(self.in_progress, "running"), (self.pending, "waiting"), (self.failed, "failed")] {
            if n > 0 {
                out += &format!(", {n} {word}");
            }
        }
        out
    }
}

/// The mark and colour of a state.
#[must_use]
pub fn mark(state: &str) -> (&'static str, Ink) {
    match state {
        "starting" => ("◌", Ink::Yellow),
        "planning" => ("◐", Ink::Magenta),
        "busy" => ("●", Ink::Green),
        "idle" => ("○", Ink::Cyan),
        "waiting" => ("◔", Ink::Yellow),
        "stopping" => ("◍", Ink::Yellow),
        "away" => ("◌", Ink::Dim),
        "exited" => ("·", Ink::Dim),
        "failed" => ("✗", Ink::Red),
        _ => ("?", Ink::Red),
    }
}

/// `sandbox` says `workspace` for `workspace-write`: eighty columns have no room for more.
const COLUMNS: [Column; 9] = [
    Column::text("member").shrinks_to(6),
    Column::text("state").shrinks_to(6),
    Column::text("engine").drops(5),
    Column::text("sandbox").drops(7),
    Column::text("task").drops(2),
    Column::number("unread").drops(1),
    Column::number("restarts").drops(4),
    Column::number("since").drops(3),
    Column::number("pid").drops(6),
];

/// The roster's table; the first line is the heading.
#[must_use]
pub fn roster(status: &StatusView, style: &Style) -> Vec<String> {
    let rows: Vec<Vec<Cell>> = status.members.iter().map(|member| row(member, status.at)).collect();
    lines(&COLUMNS, &rows, style)
}

fn row(member: &MemberView, now: Timestamp) -> Vec<Cell> {
    let (mark, ink) = mark(&member.state);
    let mut state = format!("{mark} {}", member.state);
    if let Some(exit) = member.exit.as_ref().filter(|_| member.alive != Alive::Yes) {
        match (exit.code, exit.signal) {
            (Some(code), _) if code != 0 => state += &format!(" {code}"),
            (None, Some(signal)) => state += &format!(" sig {signal}"),
            _ => {}
        }
    }
    vec![
        Cell::inked(member.name.as_str(), Ink::named(&member.color)),
        Cell::inked(state, ink),
        Cell::inked(&member.engine, Ink::Dim),
        if member.unconfined {
            Cell::inked("unconfined", Ink::Yellow)
        } else {
            Cell::inked(member.sandbox.trim_end_matches("-write"), Ink::Dim)
        },
        Cell::maybe(member.task.map(|id| format!("#{id}"))),
        if member.unread == 0 { Cell::count(0) } else { Cell::inked(member.unread.to_string(), Ink::Yellow) },
        Cell::count(u64::from(member.restarts)),
        Cell::maybe(member.since.map(|since| ago(now.since(since)))),
        Cell::maybe(member.pid.map(|pid| pid.to_string())),
    ]
}

/// Who reaches further than its own folder, in words: narrow tables have no room for it.
fn reach(status: &StatusView) -> Vec<String> {
    let safe = |text: &str| safe(text, Lines::Escape).into_owned();
    let free: Vec<&str> = status.members.iter().filter(|m| m.unconfined).map(|m| m.name.as_str()).collect();
    let mut lines = Vec::new();
    if !free.is_empty() {
        lines.push(format!("unconfined: {}", free.join(", ")));
    }
    for member in status.members.iter().filter(|m| !m.unconfined && !m.state_dirs.is_empty()) {
        lines.push(format!("{} also writes: {}", member.name, safe(&member.state_dirs.join(", "))));
    }
    if !lines.is_empty() {
        lines.insert(0, String::new());
    }
    lines
}

/// What `status` prints.
#[must_use]
pub fn text(status: &StatusView, style: &Style) -> String {
    let color = style.color;
    let lead = match status.lead.pid {
        Some(pid) if status.lead.alive => format!("lead {pid}"),
        _ if status.lead.alive => "lead alive".to_owned(),
        _ => Ink::Red.paint("no lead", color),
    };
    let mut out = format!("{}  {lead}", Ink::Bold.paint(status.team.as_str(), color));
    if status.lead.unread > 0 {
        out += &format!("  {} unread", status.lead.unread);
    }
    out += "\n\n";
    if status.members.is_empty() {
        out += "no members\n";
    } else {
        for line in roster(status, style) {
            out += &line;
            out.push('\n');
        }
    }
    for line in reach(status) {
        out += &line;
        out.push('\n');
    }
    if status.tasks.total() > 0 {
        out += &format!("\ntasks: {}\n", status.tasks.words());
    }
    if !status.open_requests.is_empty() {
        out.push('\n');
        out += &requests::open(&status.open_requests, style);
    }
    if !status.lead.alive {
        out += &format!("\nhint: `crewmux up --resume {}` brings the lead back\n", status.team);
    }
    out
}
