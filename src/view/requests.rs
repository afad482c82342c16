//! Requests, and the commands that decide them.

use serde::Serialize;
use serde_json::Value;

use super::plain::{Ink, Lines, Style, cut, safe, short_id};
use super::table::{Cell, Column, render};
use crate::model::id::RequestId;
use crate::model::name::{AgentId, Name};
use crate::model::request::{Decision, Request, RequestKind, RequestState};
use crate::model::time::Timestamp;

/// One of `requests --json`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RequestView {
    pub id: RequestId,
    pub kind: RequestKind,
    pub from: AgentId,
    /// The member it is about.
    pub member: Name,
    pub state: RequestState,
    pub created_at: Timestamp,
    pub expires: Option<Timestamp>,
    pub summary: String,
    /// Plans: what a decision is bound to.
    pub hash: Option<String>,
    pub body: Value,
    pub decision: Option<Decision>,
}

impl From<&Request> for RequestView {
    fn from(request: &Request) -> Self {
        Self {
            id: request.id,
            kind: request.kind,
            from: request.from.clone(),
            member: request.member.clone(),
            state: request.state,
            created_at: request.created_at,
            expires: request.expires,
            summary: request.summary.clone(),
            hash: request.hash.clone(),
            body: request.body.clone(),
            decision: request.decision.clone(),
        }
    }
}

impl RequestView {
    /// What is asked, in one line.
    #[must_use]
    pub fn sentence(&self) -> String {
        let what = match self.kind {
            RequestKind::Plan => format!("{} asks for approval of its plan", self.member),
            RequestKind::Shutdown => format!("{} is asked to end", self.member),
            RequestKind::Permission => format!("{} asks for permission", self.member),
        };
        if self.summary.is_empty() { what } else { format!("{what}: {}", safe(&self.summary, Lines::Escape)) }
    }

    /// What exactly is to be allowed, in one line, for a permission that says so.
    #[must_use]
    pub fn detail(&self) -> Option<String> {
        if self.kind != RequestKind::Permission {
            return None;
        }
        let input = self.body.get("input").filter(|input| !input.is_null());
        let scope = self.body["scope"].as_str().map(|scope| format!("always: {}", safe(scope, Lines::Escape)));
        let words: Vec<String> =
            input.map(|input| safe(&input.to_string(), Lines::Escape).into_owned()).into_iter().chain(scope).collect();
        (!words.is_empty()).then(|| words.join("  "))
    }

    /// The commands that decide it. A shutdown is its subject's to decide.
    #[must_use]
    pub fn commands(&self) -> [String; 2] {
        let id = self.id.to_string();
        let id = short_id(&id);
        let by = if self.kind == RequestKind::Shutdown { format!(" --member {}", self.member) } else { String::new() };
        [format!("crewmux approve {id}{by}"), format!("crewmux reject {id}{by} --reason …")]
    }
}

/// Columns of a permission's input that are shown; `--json` has all of it.
const MOST_DETAIL: usize = 400;

/// The open ones with their commands, two lines each; a permission says between them what it is for.
#[must_use]
pub fn open(requests: &[RequestView], style: &Style) -> String {
    let limit = style.width.unwrap_or(usize::MAX);
    let mut out = String::new();
    for request in requests.iter().filter(|r| r.state == RequestState::Open) {
        out += &cut(&format!("{} {}", Ink::Yellow.paint("?", style.color), request.sentence()), limit);
        out += "\n";
        if let Some(detail) = request.detail() {
            out += &cut(&format!("  {detail}"), limit.min(MOST_DETAIL));
            out += "\n";
        }
        out += &cut(&format!("  {}", Ink::Dim.paint(&request.commands().join("  ·  "), style.color)), limit);
        out += "\n";
    }
    out
}

/// The table of `requests`.
#[must_use]
pub fn table(requests: &[RequestView], style: &Style) -> String {
    const COLUMNS: [Column; 6] = [
        Column::text("id"),
        Column::text("kind"),
        Column::text("member").shrinks_to(6),
        Column::text("state"),
        Column::text("asked").drops(1),
        Column::text("summary").shrinks_to(12),
    ];
    let rows: Vec<Vec<Cell>> = requests
        .iter()
        .map(|r| {
            let ink = match r.state {
                RequestState::Open => Ink::Yellow,
                RequestState::Approved => Ink::Green,
                RequestState::Rejected => Ink::Red,
                RequestState::Expired | RequestState::Withdrawn => Ink::Dim,
            };
            let said = r.decision.as_ref().and_then(|d| d.feedback.as_deref());
            vec![
                Cell::new(short_id(&r.id.to_string())),
                Cell::new(r.kind.as_str()),
                Cell::new(r.member.as_str()),
                Cell::inked(r.state.as_str(), ink),
                Cell::inked(r.created_at.clock(), Ink::Dim),
                Cell::new(said.map_or_else(|| r.summary.clone(), |said| format!("{} — {said}", r.summary))),
            ]
        })
        .collect();
    render(&COLUMNS, &rows, style)
}
