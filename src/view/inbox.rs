//! Mail as a person reads it.

use serde::Serialize;

use super::plain::{Ink, Lines, Style, safe, short_id};
use crate::model::message::{Body, Message, Priority};
use crate::model::time::Timestamp;

/// One line of `inbox --json`: a message as on file, and what its reader knows of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MailView {
    pub seq: u64,
    pub ts: Timestamp,
    #[serde(flatten)]
    pub message: Message,
    pub read: bool,
    /// Whether `from` was stamped by a teammate or the operator's own verb.
    pub verified: bool,
}

/// One message: a heading, then its text indented.
#[must_use]
pub fn mail(view: &MailView, style: &Style) -> String {
    let message = &view.message;
    let new = if view.read { " ".to_owned() } else { Ink::Yellow.paint("●", style.color) };
    let mut head = format!(
        "{new} {} {}  {}",
        Ink::Dim.paint(&view.ts.clock(), style.color),
        Ink::Bold.paint(message.from.name.as_str(), style.color),
        Ink::Dim.paint(short_id(&message.id.to_string()), style.color),
    );
    if message.kind != "text" {
        head += &format!("  {}", safe(&message.kind, Lines::Escape));
    }
    match message.priority {
        Priority::Now => head += &format!("  {}", Ink::Red.paint("now", style.color)),
        Priority::Later => head += "  later",
        Priority::Next => {}
    }
    if !view.verified {
        head += &format!("  {}", Ink::Red.paint("sender not verified", style.color));
    }
    if let Some(summary) = &message.summary {
        head += &format!("  {}", safe(summary, Lines::Escape));
    }
    let mut out = head + "\n";
    for line in words(message).trim_end().lines() {
        out += &format!("  {}\n", safe(line, Lines::Keep));
    }
    out
}

/// What a message says, in words.
fn words(message: &Message) -> String {
    match message.typed() {
        Some(Body::Text(text)) => match (text.content, text.blob, text.bytes) {
            (Some(content), ..) => content,
            (None, Some(blob), bytes) => format!("({} bytes in blobs/{blob})", bytes.unwrap_or_default()),
            _ => String::new(),
        },
        Some(Body::Report(report)) => {
            let task = report.task_id.map_or_else(String::new, |id| format!("task {id} "));
            let error = report.error.map_or_else(String::new, |e| format!(": {e}"));
            format!("{task}{}{error}\n{}\n{}", report.status.as_str(), report.summary, report.result)
        }
        Some(Body::TaskAssigned { task_id, subject, .. }) => format!("task {task_id} is yours: {subject}"),
        _ => message.body.to_string(),
    }
}
