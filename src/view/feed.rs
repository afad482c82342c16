//! One event as one line. Types this version does not know are shown by their fields.

use serde_json::Value;

use super::plain::{Ink, Lines, safe};
use crate::model::time::Timestamp;

/// Fields that every event has, or that say nothing to a person.
const SILENT: [&str; 8] = ["seq", "ts", "type", "member", "life", "spawn_id", "segment", "start_time"];

/// Fields that are the point of an event: shown first and without their names.
const SPEAKING: [&str; 8] = ["subject", "summary", "text", "reason", "error", "feedback", "detail", "message"];

/// `10:05:31  scan  task claimed  #3 Count lines  epoch=1`.
#[must_use]
pub fn feed(event: &Value) -> String {
    feed_in(event, false)
}

/// The same, in colour where it is wanted.
#[must_use]
pub fn feed_in(event: &Value, color: bool) -> String {
    let text = |key: &str| event.get(key).and_then(Value::as_str);
    let clock = match text("ts").map(str::parse::<Timestamp>) {
        Some(Ok(ts)) => ts.clock(),
        _ => "--:--:--".to_owned(),
    };
    let kind = text("type").unwrap_or("event");
    let mut parts = vec![Ink::Dim.paint(&clock, color)];
    if let Some(member) = text("member") {
        parts.push(Ink::Bold.paint(&safe(member, Lines::Escape), color));
    }
    parts.push(ink(kind).paint(&safe(&kind.replace('_', " "), Lines::Escape), color));
    if let Some(id) = event.get("task").or_else(|| event.get("task_id")).and_then(bare) {
        parts.push(format!("#{id}"));
    }
    for key in SPEAKING {
        if let Some(value) = event.get(key).and_then(bare) {
            parts.push(value);
        }
    }
    let fields: Vec<String> = event.as_object().map_or_else(Vec::new, |map| {
        map.iter()
            .filter(|(key, _)| !SILENT.contains(&key.as_str()) && !SPEAKING.contains(&key.as_str()))
            .filter(|(key, _)| !matches!(key.as_str(), "task" | "task_id"))
            .filter_map(|(key, value)| bare(value).map(|value| format!("{}={value}", safe(key, Lines::Escape))))
            .collect()
    });
    if !fields.is_empty() {
        parts.push(Ink::Dim.paint(&fields.join(" "), color));
    }
    parts.join("  ")
}

/// A value in a line: texts without quotes, nothing for what is absent or empty.
fn bare(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) if text.trim().is_empty() => None,
        Value::String(text) => Some(safe(text.trim(), Lines::Escape).into_owned()),
        Value::Array(list) if list.is_empty() => None,
        Value::Object(map) if map.is_empty() => None,
        other => Some(safe(&other.to_string(), Lines::Escape).into_owned()),
    }
}

/// Bad news is red, questions are yellow, good news is green; by the words in the type, so that new types fit.
fn ink(kind: &str) -> Ink {
    let has = |words: &[&str]| words.iter().any(|word| kind.contains(word));
    if has(&["fail", "kill", "died", "lost", "unresponsive", "expired", "reject", "refus", "dead"]) {
        Ink::Red
    } else if has(&["request", "submit", "restart", "stop", "shutdown", "withdrawn"]) {
        Ink::Yellow
    } else if has(&["complete", "joined", "ready", "approve", "launched"]) {
        Ink::Green
    } else {
        Ink::Plain
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn known_and_unknown_events_read_as_lines() {
        for (event, line) in [
            (
                json!({"seq":1,"ts":"2026-12-01T10:05:31.000001Z","type":"task_claimed","member":"scan","task":"3","subject":"Count lines","epoch":1}),
                "10:05:31  scan  task claimed  #3  Count lines  epoch=1",
            ),
            (
                json!({"seq":2,"ts":"2026-12-01T10:05:32Z","type":"never_heard_of","size":{"a":[1]},"reason":"odd\n\u{1b}[2J"}),
                "10:05:32  never heard of  odd\\n\\x1b[2J  size={\"a\":[1]}",
            ),
            (json!({"ts":"nonsense"}), "--:--:--  event"),
            (json!(["not", "an", "object"]), "--:--:--  event"),
        ] {
            assert_eq!(feed(&event), line);
        }
    }
}
