//! What `wait` waits for and where `events` begins, parsed.

use std::fmt;
use std::str::FromStr;

use super::values::{someone, task_id};
use crate::model::id::TaskId;
use crate::model::name::Name;
use crate::model::task::TaskStatus;
use crate::model::time::{Span, Timestamp};

/// States a member can be waited for in: those of `status.json` and those only an onlooker sees.
pub const STATES: [&str; 10] =
    ["starting", "planning", "idle", "busy", "waiting", "stopping", "exited", "failed", "unresponsive", "unknown"];

/// One condition of `wait --for`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// Nobody works, and nothing waits that somebody would take up by itself.
    Idle,
    /// No task is in progress and none can still be claimed.
    Done,
    Member {
        name: Name,
        /// One of [`STATES`].
        state: &'static str,
    },
    Task {
        id: TaskId,
        status: TaskStatus,
    },
    /// Unread mail from this sender.
    Message(Name),
    /// A request is open.
    Request,
}

impl FromStr for Condition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (word, rest) = text.split_once(':').map_or((text, None), |(word, rest)| (word, Some(rest)));
        match (word, rest) {
            ("idle", None) => Ok(Self::Idle),
            ("done", None) => Ok(Self::Done),
            ("request", None) => Ok(Self::Request),
            ("member", Some(rest)) => {
                let (name, state) = rest.split_once('=').ok_or("write it as member:NAME=STATE")?;
                let state = STATES.iter().find(|s| **s == state);
                Ok(Self::Member {
                    name: someone(name).map_err(|e| format!("`{name}` is not a name: {e}"))?,
                    state: state.ok_or_else(|| format!("a state is one of {}", STATES.join(", ")))?,
                })
            }
            ("task", Some(rest)) => {
                let (id, status) = rest.split_once('=').ok_or("write it as task:ID=STATUS")?;
                Ok(Self::Task { id: task_id(id)?, status: status.parse()? })
            }
            ("message", Some(from)) => {
                someone(from).map(Self::Message).map_err(|e| format!("`{from}` is not a name: {e}"))
            }
            _ => {
                Err("a condition is idle, done, member:NAME=STATE, task:ID=STATUS, message:FROM or request".to_owned())
            }
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Idle => f.write_str("idle"),
            Self::Done => f.write_str("done"),
            Self::Member { name, state } => write!(f, "member:{name}={state}"),
            Self::Task { id, status } => write!(f, "task:{id}={}", status.as_str()),
            Self::Message(from) => write!(f, "message:{from}"),
            Self::Request => f.write_str("request"),
        }
    }
}

/// Where a look at the events begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Since {
    /// Events with a number above this.
    Seq(u64),
    /// Events later than this.
    Time(Timestamp),
    /// Events of this much time up to now.
    Ago(Span),
}

impl FromStr for Since {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Ok(seq) = text.parse() {
            return Ok(Self::Seq(seq));
        }
        if let Ok(time) = text.parse() {
            return Ok(Self::Time(time));
        }
        text.parse()
            .map(Self::Ago)
            .map_err(|_| format!("`{text}` is no length of time (10m), no time (2026-12-01T10:00:00Z), no number (42)"))
    }
}

impl Since {
    /// Whether an event of this number and time lies after it.
    #[must_use]
    pub fn includes(&self, seq: u64, ts: Timestamp, now: Timestamp) -> bool {
        match self {
            Self::Seq(after) => seq > *after,
            Self::Time(after) => ts > *after,
            Self::Ago(span) => now.since(ts) <= span.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_parse_and_print_alike() {
        for text in [
            "idle",
            "done",
            "request",
            "member:scan=busy",
            "member:team-lead=idle",
            "task:12=completed",
            "message:scan",
        ] {
            assert_eq!(text.parse::<Condition>().unwrap().to_string(), text);
        }
        assert_eq!("message:lead".parse(), Ok(Condition::Message(Name::lead())));
        assert_eq!("task:#3=failed".parse::<Condition>().unwrap().to_string(), "task:3=failed");
    }

    #[test]
    fn what_is_no_condition_says_what_would_be() {
        for (text, part) in [
            ("", "a condition is"),
            ("idle:x", "a condition is"),
            ("nothing", "a condition is"),
            ("member:scan", "member:NAME=STATE"),
            ("member:../x=idle", "is not a name"),
            ("member:scan=asleep", "a state is one of"),
            ("task:x=done", "not a task"),
            ("task:1=done", "not a task status"),
            ("message:", "it is empty"),
            ("message:all", "reserved"),
        ] {
            let error = text.parse::<Condition>().unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn since_takes_numbers_times_and_lengths() {
        assert_eq!("42".parse(), Ok(Since::Seq(42)));
        assert_eq!("10m".parse(), Ok(Since::Ago(Span::secs(600))));
        assert!(matches!("2026-12-01T10:00:00Z".parse(), Ok(Since::Time(_))));
        assert!("soon".parse::<Since>().is_err());
        let now = Timestamp(100_000_000);
        assert!(Since::Ago(Span::secs(10)).includes(1, Timestamp(95_000_000), now));
        assert!(!Since::Ago(Span::secs(10)).includes(1, Timestamp(80_000_000), now));
        assert!(!Since::Seq(4).includes(4, now, now));
    }
}
