//! Argument values that are more than a word: parsed once, at the border.

use std::fmt;
use std::str::FromStr;

use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::error::CommandError;
use crate::model::id::{RequestId, TaskId};
use crate::model::message::Priority;
use crate::model::name::{ALL, LEAD_ALIAS, Name, NameError};
use crate::model::sandbox::Mode;
use crate::model::spec::{Deliver, EngineKind, Isolation, Restart};
use crate::model::task::TaskStatus;

/// A member, the lead or the operator.
pub fn someone(text: &str) -> Result<Name, NameError> {
    match text {
        LEAD_ALIAS => Ok(Name::lead()),
        ALL => Err(NameError::Reserved(ALL)),
        _ => Name::parse_any(text),
    }
}

/// A task's number, with or without `#`.
pub fn task_id(text: &str) -> Result<TaskId, String> {
    text.parse().map_err(|_| format!("`{text}` is not a task; tasks are numbered 1, 2, 3, …"))
}

/// `KEY=VALUE`, split at the first `=`.
pub fn key_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("write it as KEY=VALUE".to_owned()),
    }
}

/// `KEY=VALUE` where VALUE is JSON if it reads as JSON, else a string.
pub fn key_json(text: &str) -> Result<(String, serde_json::Value), String> {
    let (key, value) = key_value(text)?;
    let value = serde_json::from_str(&value).unwrap_or(serde_json::Value::String(value));
    Ok((key, value))
}

/// A parser of a fixed set of words, each with its value; help lists them.
fn one_of<T: Copy + Send + Sync + 'static>(words: &'static [(&'static str, T)]) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(words.iter().map(|(word, _)| *word)).try_map(move |text: String| {
        words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value).ok_or("not one of the words")
    })
}

pub fn engine() -> impl TypedValueParser<Value = EngineKind> {
    one_of(&[("acp", EngineKind::Acp), ("command", EngineKind::Command), ("worker", EngineKind::Worker)])
}

pub fn sandbox() -> impl TypedValueParser<Value = Mode> {
    one_of(&[("off", Mode::Off), ("read-only", Mode::ReadOnly), ("workspace-write", Mode::WorkspaceWrite)])
}

pub fn deliver() -> impl TypedValueParser<Value = Deliver> {
    one_of(&[("mailbox", Deliver::Mailbox), ("stdin", Deliver::Stdin), ("paste", Deliver::Paste)])
}

pub fn isolation() -> impl TypedValueParser<Value = Isolation> {
    one_of(&[("none", Isolation::None), ("worktree", Isolation::Worktree)])
}

pub fn restart() -> impl TypedValueParser<Value = Restart> {
    one_of(&[("never", Restart::Never), ("on-failure", Restart::OnFailure), ("always", Restart::Always)])
}

pub fn priority() -> impl TypedValueParser<Value = Priority> {
    one_of(&[("now", Priority::Now), ("next", Priority::Next), ("later", Priority::Later)])
}

pub fn task_status() -> impl TypedValueParser<Value = TaskStatus> {
    one_of(&[
        ("pending", TaskStatus::Pending),
        ("in_progress", TaskStatus::InProgress),
        ("completed", TaskStatus::Completed),
        ("failed", TaskStatus::Failed),
        ("deleted", TaskStatus::Deleted),
    ])
}

/// A request as a person names it: its whole id, or the beginning or end of it (4 characters at least).
///
/// Ends are what `requests` shows: of a UUIDv7 they are the random part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestRef(String);

impl FromStr for RequestRef {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim().to_ascii_lowercase();
        let fits = text.len() >= 4 && text.chars().all(|c| c.is_ascii_hexdigit() || c == '-');
        fits.then_some(Self(text)).ok_or_else(|| {
            "a request is named by its id, or by 4 or more characters of its beginning or end".to_owned()
        })
    }
}

impl fmt::Display for RequestRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl RequestRef {
    #[must_use]
    pub fn matches(&self, id: &RequestId) -> bool {
        let id = id.to_string();
        id.starts_with(&self.0) || id.ends_with(&self.0)
    }

    /// The id itself, where it is written in full.
    #[must_use]
    pub fn whole(&self) -> Option<RequestId> {
        self.0.parse().ok()
    }

    /// The one request of `known` that this names.
    pub fn resolve(&self, known: impl IntoIterator<Item = RequestId>) -> Result<RequestId, CommandError> {
        let mut found: Vec<RequestId> = known.into_iter().filter(|id| self.matches(id)).collect();
        // The same request may be known from more than one record.
        found.sort_unstable();
        found.dedup();
        match found.as_slice() {
            [one] => Ok(*one),
            [] => {
                Err(CommandError::not_found(format!("no request `{self}`")).hint("`crewmux requests --all` lists them"))
            }
            several => Err(CommandError::not_found(format!("{} requests are named by `{self}`", several.len()))
                .hint("give more characters of the id")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_named_by_either_end_of_its_id_and_only_by_one() {
        let ids = ["0193f1aa-0000-7000-8000-00009c41d7aa", "0193f1aa-0000-7000-8000-00009c41d7bb"]
            .map(|id| id.parse::<RequestId>().unwrap());
        let resolve = |text: &str| text.parse::<RequestRef>().unwrap().resolve([ids[0], ids[1], ids[0]]);
        assert_eq!(resolve("D7AA"), Ok(ids[0]));
        assert_eq!(resolve(&ids[1].to_string()), Ok(ids[1]));
        assert_eq!(resolve("ffff").unwrap_err().kind.code(), 3);
        assert!(resolve("0193f1aa").unwrap_err().message.starts_with("2 requests"));
        for text in ["", "abc", "xyz1", "../../x"] {
            assert!(text.parse::<RequestRef>().is_err(), "{text}");
        }
    }

    #[test]
    fn keys_and_values_split_at_the_first_equals_sign() {
        assert_eq!(key_value("A=b=c"), Ok(("A".into(), "b=c".into())));
        assert_eq!(key_value("A="), Ok(("A".into(), String::new())));
        assert!(key_value("=b").is_err() && key_value("A").is_err());
        assert_eq!(key_json("n=1").unwrap().1, 1);
        assert_eq!(key_json("n=one").unwrap().1, "one");
    }
}
