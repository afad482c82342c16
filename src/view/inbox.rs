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

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn view(kind: &str, body: Value, extra: Value) -> MailView {
        let mut message = json!({"id": "0193f1aa-0000-7000-8000-00009c41d7aa", "from": "scan@audit", "to": "team-lead",
            "type": kind, "body": body});
        message.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        MailView {
            seq: 7,
            ts: "2026-12-01T10:05:31Z".parse().unwrap(),
            message: serde_json::from_value(message).unwrap(),
            read: false,
            verified: true,
        }
    }

    #[test]
    fn mail_reads_as_a_heading_and_its_text() {
        let style = Style::default();
        let text = view(
            "text",
            json!({"content": "first\n\u{1b}[2Jsecond"}),
            json!({"priority": "now", "summary": "two lines"}),
        );
        insta::assert_snapshot!(mail(&text, &style), @r"
        ● 10:05:31 scan  9c41d7aa  now  two lines
          first
          \x1b[2Jsecond
        ");
        let report = json!({"status": "failed", "error": "exit 1", "task_id": "3", "summary": "no luck", "result": "log",
            "output_file": "/x"});
        insta::assert_snapshot!(mail(&view("report", report, json!({})), &style), @r"
        ● 10:05:31 scan  9c41d7aa  report
          task 3 failed: exit 1
          no luck
          log
        ");
        let mut odd = view("never_heard_of", json!({"a": 1}), json!({}));
        (odd.read, odd.verified) = (true, false);
        insta::assert_snapshot!(mail(&odd, &style), @r#"
          10:05:31 scan  9c41d7aa  never_heard_of  sender not verified
          {"a":1}
        "#);
    }

    #[test]
    fn json_keeps_unknown_fields_of_the_message() {
        let value = serde_json::to_value(view("text", json!({"content": "x"}), json!({"later": [1]}))).unwrap();
        assert_eq!((&value["later"][0], &value["read"], &value["seq"]), (&json!(1), &json!(false), &json!(7)));
        assert_eq!(value["type"], "text");
    }
}
