//! Answers of single verbs, as `--json` shows them and in words.

use serde::{Deserialize, Serialize};

use super::plain::{Ink, Lines, Style, ago, safe};
use super::status::TaskCounts;
use crate::model::id::{MessageId, RequestId, TaskId};
use crate::model::message::PermissionDecision;
use crate::model::name::Name;
use crate::model::request::{Request, RequestState};
use crate::model::time::Timestamp;

/// `send --json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SendView {
    pub id: MessageId,
    pub deliveries: Vec<Delivery>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivery {
    pub to: Name,
    pub seq: u64,
    /// Unread messages in that mailbox, this one with them.
    pub queued: u64,
    /// With `--wait`: when it was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_at: Option<Timestamp>,
}

impl SendView {
    /// `0193…  scan #7 (2 queued)`, one line a recipient.
    #[must_use]
    pub fn text(&self) -> String {
        self.deliveries.iter().fold(String::new(), |out, d| {
            let read = d.read_at.map_or_else(String::new, |at| format!(", read {}", at.clock()));
            out + &format!("{}  {} #{} ({} queued{read})\n", self.id, d.to, d.seq, d.queued)
        })
    }
}

/// `plan submit --wait --json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlanView {
    pub id: RequestId,
    pub state: RequestState,
    pub feedback: Option<String>,
}

impl PlanView {
    #[must_use]
    pub fn text(&self) -> String {
        let feedback = self.feedback.as_deref().filter(|f| !f.trim().is_empty());
        let said = feedback.map_or_else(String::new, |f| format!("{}\n", safe(f.trim_end(), Lines::Keep)));
        format!("{}  {}\n{said}", self.id, self.state.as_str())
    }
}

/// `permission ask --json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PermissionView {
    pub id: RequestId,
    pub state: RequestState,
    /// `allow_once`, `allow_always` or `deny`; null while nobody has decided.
    pub decision: Option<PermissionDecision>,
    pub feedback: Option<String>,
}

impl PermissionView {
    /// An open request, or what became of it.
    #[must_use]
    pub fn of(id: RequestId, request: Option<&Request>) -> Self {
        let state = request.map_or(RequestState::Open, |r| r.state);
        let said = request.and_then(|r| r.decision.as_ref());
        let decision = match (state, said) {
            (RequestState::Open, _) => None,
            (RequestState::Approved, Some(d)) if d.always => Some(PermissionDecision::AllowAlways),
            (RequestState::Approved, _) => Some(PermissionDecision::AllowOnce),
            _ => Some(PermissionDecision::Deny),
        };
        Self { id, state, decision, feedback: said.and_then(|d| d.feedback.clone()) }
    }

    #[must_use]
    pub fn text(&self) -> String {
        let feedback = self.feedback.as_deref().filter(|f| !f.trim().is_empty());
        let said = feedback.map_or_else(String::new, |f| format!("{}\n", safe(f.trim_end(), Lines::Keep)));
        format!("{}  {}\n{said}", self.id, self.state.as_str())
    }
}

/// `run --json`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunView {
    pub team: Name,
    pub ok: bool,
    pub tasks: TaskCounts,
    pub failed: Vec<FailedTask>,
    pub duration_ms: u64,
    /// Where the report lies, where the spec names one.
    pub report: Option<String>,
}

/// A task that did not complete, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FailedTask {
    pub id: TaskId,
    pub subject: String,
    pub error: String,
}

impl RunView {
    #[must_use]
    pub fn text(&self, style: &Style) -> String {
        let took = ago(std::time::Duration::from_millis(self.duration_ms));
        let (mark, ink) = if self.ok { ("✓", Ink::Green) } else { ("✗", Ink::Red) };
        let mut out = format!("{} {}: {} in {took}\n", ink.paint(mark, style.color), self.team, self.tasks.words());
        for task in &self.failed {
            let [subject, error] = [&task.subject, &task.error].map(|t| safe(t, Lines::Escape));
            out += &format!("  {} #{} {subject}: {error}\n", Ink::Red.paint("✗", style.color), task.id);
        }
        if let Some(report) = &self.report {
            out += &format!("report: {}\n", safe(report, Lines::Escape));
        }
        out
    }
}

/// How bad what `doctor` found is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    Fine,
    /// It works, and could be better.
    Warning,
    /// It does not work, or something was lost.
    Broken,
}

/// One look of `doctor`, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Whether it works.
    pub ok: bool,
    pub severity: Severity,
    pub what: String,
    /// What was found, and what that means.
    pub detail: String,
    /// The command that helps.
    pub hint: Option<String>,
    /// It was put right just now.
    pub fixed: bool,
}

impl Finding {
    #[must_use]
    pub fn new(severity: Severity, what: impl Into<String>, detail: impl Into<String>) -> Self {
        Self {
            ok: severity != Severity::Broken,
            severity,
            what: what.into(),
            detail: detail.into(),
            hint: None,
            fixed: false,
        }
    }

    /// One that was put right.
    #[must_use]
    pub fn mended(what: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { fixed: true, ..Self::new(Severity::Fine, what, detail) }
    }

    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// The lines of `doctor`.
#[must_use]
pub fn findings(list: &[Finding], style: &Style) -> String {
    list.iter().fold(String::new(), |mut out, f| {
        let (mark, ink) = match f.severity {
            Severity::Fine => ("✓", Ink::Green),
            Severity::Warning => ("!", Ink::Yellow),
            Severity::Broken => ("✗", Ink::Red),
        };
        let [what, detail] = [&f.what, &f.detail].map(|t| safe(t, Lines::Escape));
        let mended = if f.fixed { "mended: " } else { "" };
        out += &format!("{} {what}: {mended}{detail}\n", ink.paint(mark, style.color));
        if let Some(hint) = &f.hint {
            out += &format!("  hint: {}\n", safe(hint, Lines::Escape));
        }
        out
    })
}
