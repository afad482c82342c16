//! A team's story in order of time, from its folder: what happened, and what was said.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::path::PathBuf;

use serde_json::{Value, json};

use super::feed::feed_in;
use super::plain::{Ink, Lines, safe};
use crate::model::message::Message;
use crate::model::name::Name;
use crate::model::time::Timestamp;
use crate::store::{Position, Result, Tail, TeamDir, blob};

const READ_BYTES: usize = 256 * 1024;

/// What the lines of a journal are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Event,
    Mail,
    Control,
}

impl Kind {
    fn word(self) -> &'static str {
        match self {
            Self::Event => "event",
            Self::Mail => "mail",
            Self::Control => "control",
        }
    }
}

/// One journal, read as far as the story has come.
struct Strand {
    kind: Kind,
    tail: Tail,
    lines: VecDeque<(Timestamp, u64, String)>,
}

impl Strand {
    fn new(kind: Kind, path: PathBuf) -> Self {
        Self { kind, tail: Tail::new(path, Position::default()), lines: VecDeque::new() }
    }

    /// The time and the number of the next line.
    fn next(&mut self) -> Result<Option<(Timestamp, u64)>> {
        while self.lines.is_empty() {
            let batch = self.tail.read(READ_BYTES)?;
            let told = batch.lines.into_iter().filter(|line| line.marker.is_none());
            self.lines.extend(told.map(|line| (line.ts, line.seq, line.json)));
            if !batch.more {
                break;
            }
        }
        Ok(self.lines.front().map(|(ts, seq, _)| (*ts, *seq)))
    }
}

/// The story of the team in `dir`.
pub struct Story {
    dir: TeamDir,
    strands: Vec<Strand>,
    /// Of each strand that goes on: its next line. The earliest is told first; of one moment, what happened before what was said.
    next: BinaryHeap<Reverse<(Timestamp, usize, u64)>>,
}

/// One line of the story.
pub struct Told {
    kind: Kind,
    ts: Timestamp,
    value: Value,
    /// A mail's text, which may lie in a file of its own.
    text: Option<String>,
}

impl Story {
    /// Opens the story; with `control` also what lead and teammates said to each other.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn open(dir: &TeamDir, control: bool) -> Result<Self> {
        let mut strands = vec![Strand::new(Kind::Event, dir.events())];
        for name in dir.members_on_disk()? {
            let member = dir.member(&name);
            strands.push(Strand::new(Kind::Mail, member.inbox()));
            if control {
                strands.push(Strand::new(Kind::Control, member.control()));
            }
        }
        let mut next = BinaryHeap::new();
        for (n, strand) in strands.iter_mut().enumerate() {
            if let Some((ts, seq)) = strand.next()? {
                next.push(Reverse((ts, n, seq)));
            }
        }
        Ok(Self { dir: dir.clone(), strands, next })
    }

    /// The next line; `None` at the end.
    ///
    /// # Errors
    /// When a journal cannot be read.
    pub fn tell(&mut self) -> Result<Option<Told>> {
        while let Some(Reverse((ts, n, _))) = self.next.pop() {
            let strand = &mut self.strands[n];
            let Some((_, _, json)) = strand.lines.pop_front() else { continue };
            if let Some((ts, seq)) = strand.next()? {
                self.next.push(Reverse((ts, n, seq)));
            }
            let kind = strand.kind;
            let Ok(value) = serde_json::from_str::<Value>(&json) else { continue };
            let text = self.text(&value);
            return Ok(Some(Told { kind, ts, value, text }));
        }
        Ok(None)
    }

    fn text(&self, value: &Value) -> Option<String> {
        if let Some(text) = value["body"]["content"].as_str() {
            return Some(text.to_owned());
        }
        let bytes = blob::get(&self.dir, value["body"]["blob"].as_str()?).ok()??;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }
}

impl Told {
    /// As `--json` shows it: the record as on file, and what it is.
    #[must_use]
    pub fn json(&self) -> Value {
        let mut value = json!({"what": self.kind.word(), "ts": self.ts});
        value["record"] = self.value.clone();
        value
    }

    /// As people read it: a line, and below it the text of a mail.
    #[must_use]
    pub fn line(&self, color: bool) -> String {
        if self.kind == Kind::Event {
            return feed_in(&self.value, color) + "\n";
        }
        let Ok(message) = serde_json::from_value::<Message>(self.value.clone()) else { return String::new() };
        let who = |name: &Name| Ink::Bold.paint(&safe(name.as_str(), Lines::Escape), color);
        let clock = Ink::Dim.paint(&self.ts.clock(), color);
        let kind = safe(&message.kind, Lines::Escape).replace('_', " ");
        let mut out = format!("{clock}  {} → {}  {kind}", who(&message.from.name), who(&message.to));
        if let Some(summary) = message.summary.as_deref().filter(|s| !s.trim().is_empty()) {
            out += &format!("  {}", safe(summary.trim(), Lines::Escape));
        }
        out.push('\n');
        let rest = || match self.kind {
            Kind::Control => Some(message.body.to_string()),
            _ => message.body["result"].as_str().or(message.body["subject"].as_str()).map(str::to_owned),
        };
        for line in self.text.clone().or_else(rest).unwrap_or_default().lines() {
            out += &format!("    {}\n", safe(line, Lines::Escape));
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::act::testing::{Made, member};
    use crate::model::spec::EngineKind::Worker;
    use crate::store::{Durability, Journal};

    #[test]
    fn what_happened_and_what_was_said_comes_in_order_and_without_escapes() {
        let made = Made::team(&[member("a", Worker), member("b", Worker)]);
        let events = Journal::open(made.desk.dir.events());
        let happens = |kind: &str| {
            events.append(&json!({"type": kind, "member": "a"}), Durability::Fast).unwrap();
        };
        happens("member_joined");
        made.mail("operator", "a", "first\n\u{1b}[2Jsecond");
        happens("task_claimed");
        made.mail("a", "b", "hello");
        happens("member_ended");
        let mut story = Story::open(&made.desk.dir, false).unwrap();
        let mut text = String::new();
        while let Some(told) = story.tell().unwrap() {
            text += &told.line(false);
            assert!(told.json()["record"]["seq"].is_u64());
        }
        let lines: Vec<&str> =
            text.lines().map(|line| line.get(10..).filter(|_| !line.starts_with(' ')).unwrap_or(line)).collect();
        assert_eq!(
            lines,
            [
                "a  member joined",
                "operator → a  text",
                "    first",
                "    \\x1b[2Jsecond",
                "a  task claimed",
                "a → b  text",
                "    hello",
                "a  member ended",
            ]
        );
    }
}
