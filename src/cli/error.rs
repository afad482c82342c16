//! The one error a verb can end with: what failed, why, and what helps.

use std::error::Error;
use std::fmt;
use std::process::ExitCode;

use serde_json::json;

use super::output;
use crate::act::ActError;
use crate::store::StoreError;
use crate::tmux::TmuxError;
use crate::view::plain::{Lines, safe};

/// What kind of failure it is; each has its exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The reader of our output has gone: a quiet end.
    Closed,
    Failed,
    Usage,
    NotFound,
    Forbidden,
    TimedOut,
    NoLead,
    Conflict,
    Interrupted,
}

impl ErrorKind {
    #[must_use]
    pub fn code(self) -> u8 {
        match self {
            Self::Closed => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::NotFound => 3,
            Self::Forbidden => 4,
            Self::TimedOut => 5,
            Self::NoLead => 6,
            Self::Conflict => 7,
            Self::Interrupted => 130,
        }
    }

    /// The kind behind an exit code, as answers to verbs carry it.
    #[must_use]
    pub fn from_code(code: u8) -> Self {
        match code {
            2 => Self::Usage,
            3 => Self::NotFound,
            4 => Self::Forbidden,
            5 => Self::TimedOut,
            6 => Self::NoLead,
            7 => Self::Conflict,
            130 => Self::Interrupted,
            _ => Self::Failed,
        }
    }
}

/// Why a verb did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandError {
    pub kind: ErrorKind,
    pub message: String,
    pub causes: Vec<String>,
    pub hints: Vec<String>,
    /// A drawing of the place that is wrong, for files that people write.
    pub snippet: Option<String>,
}

macro_rules! constructors {
    ($($name:ident => $kind:ident),* $(,)?) => {
        $(
            #[must_use]
            pub fn $name(message: impl Into<String>) -> Self {
                Self::new(ErrorKind::$kind, message)
            }
        )*
    };
}

impl CommandError {
    #[must_use]
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), causes: Vec::new(), hints: Vec::new(), snippet: None }
    }

    constructors! {
        failed => Failed,
        usage => Usage,
        not_found => NotFound,
        forbidden => Forbidden,
        timed_out => TimedOut,
        no_lead => NoLead,
        conflict => Conflict,
        interrupted => Interrupted,
    }

    /// An error and its sources as message and causes.
    #[must_use]
    pub fn from_error(kind: ErrorKind, error: &dyn Error) -> Self {
        let me = Self::new(kind, error.to_string());
        match error.source() {
            Some(source) => me.cause(source),
            None => me,
        }
    }

    /// Adds an error and its sources to the causes. One whose text the line above already holds is left out.
    #[must_use]
    pub fn cause(mut self, error: &dyn Error) -> Self {
        let mut next = Some(error);
        while let Some(error) = next {
            let text = error.to_string();
            let above = self.causes.last().unwrap_or(&self.message);
            if !text.is_empty() && !above.contains(&text) {
                self.causes.push(text);
            }
            next = error.source();
        }
        self
    }

    /// Adds a cause that is only a text.
    #[must_use]
    pub fn because(mut self, text: impl Into<String>) -> Self {
        self.causes.push(text.into());
        self
    }

    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    #[must_use]
    pub fn snippet(mut self, text: impl Into<String>) -> Self {
        self.snippet = Some(text.into());
        self
    }

    #[must_use]
    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(self.kind.code())
    }

    /// `{"error":{…}}`, as `--json` shows it.
    #[must_use]
    pub fn to_json(&self) -> serde_json::Value {
        let mut error = json!({
            "code": self.kind.code(),
            "message": self.message,
            "causes": self.causes,
            "hints": self.hints,
        });
        if let (Some(snippet), Some(map)) = (&self.snippet, error.as_object_mut()) {
            map.insert("snippet".into(), snippet.as_str().into());
        }
        json!({ "error": error })
    }

    /// The lines for a person. Texts of others are in it: control characters come out visible.
    #[must_use]
    pub fn to_text(&self, color: bool) -> String {
        use std::fmt::Write as _;
        let label = |word: &str, sgr: &str| match color {
            true => format!("\x1b[1;{sgr}m{word}:\x1b[0m"),
            false => format!("{word}:"),
        };
        let mut out = String::new();
        let _ = writeln!(out, "{} {}", label("error", "31"), safe(&self.message, Lines::Keep));
        if let Some(snippet) = &self.snippet {
            let _ = writeln!(out, "{}", safe(snippet.trim_end(), Lines::Keep));
        }
        for cause in &self.causes {
            let _ = writeln!(out, "{} {}", label("caused by", "33"), safe(cause, Lines::Keep));
        }
        for hint in &self.hints {
            let _ = writeln!(out, "{} {}", label("hint", "36"), safe(hint, Lines::Keep));
        }
        out
    }

    /// Says it on stderr; a closed pipe says nothing. Nobody is left to tell when that fails.
    pub fn print(&self, json: bool) {
        if self.kind == ErrorKind::Closed {
            return;
        }
        let text = if json { format!("{}\n", self.to_json()) } else { self.to_text(output::color_on_stderr()) };
        output::stderr(&text);
    }
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl From<ActError> for CommandError {
    fn from(error: ActError) -> Self {
        let ActError { code, message, causes, hints } = error;
        Self { kind: ErrorKind::from_code(code), message, causes, hints, snippet: None }
    }
}

impl From<StoreError> for CommandError {
    fn from(error: StoreError) -> Self {
        ActError::from(error).into()
    }
}

impl From<TmuxError> for CommandError {
    fn from(error: TmuxError) -> Self {
        let kind = match &error {
            TmuxError::NoPane { .. } => ErrorKind::NotFound,
            TmuxError::TimedOut { .. } => ErrorKind::TimedOut,
            _ => ErrorKind::Failed,
        };
        let mut out = Self::from_error(kind, &error);
        out.hints.extend(error.hint().map(str::to_owned));
        out
    }
}

impl From<std::io::Error> for CommandError {
    fn from(error: std::io::Error) -> Self {
        Self::from_error(ErrorKind::Failed, &error)
    }
}

impl From<serde_json::Error> for CommandError {
    fn from(error: serde_json::Error) -> Self {
        Self::from_error(ErrorKind::Failed, &error)
    }
}

/// Turns any error into a [`CommandError`] with a sentence of one's own above it.
pub trait ResultExt<T> {
    fn or_fail(self, kind: ErrorKind, message: impl FnOnce() -> String) -> Result<T, CommandError>;
}

impl<T, E: Error> ResultExt<T> for Result<T, E> {
    fn or_fail(self, kind: ErrorKind, message: impl FnOnce() -> String) -> Result<T, CommandError> {
        self.map_err(|error| CommandError::new(kind, message()).cause(&error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("reading /x/y: {0}")]
    struct Outer(#[source] std::io::Error);

    fn outer() -> Outer {
        Outer(std::io::Error::other("no such thing"))
    }

    #[test]
    fn a_cause_never_repeats_the_line_above() {
        let error = CommandError::failed("cannot start").cause(&outer());
        assert_eq!(error.causes, ["reading /x/y: no such thing"]);
        assert!(CommandError::from_error(ErrorKind::NoLead, &outer()).causes.is_empty());
    }

    #[test]
    fn text_and_json_hold_the_same_facts() {
        let error = CommandError::conflict("the name `a\x1b[2J` is taken").because("it lives").hint("use --name");
        assert_eq!(
            error.to_text(false),
            "error: the name `a\\x1b[2J` is taken\ncaused by: it lives\nhint: use --name\n"
        );
        let json = error.to_json();
        assert_eq!(json["error"]["code"], 7);
        assert_eq!(json["error"]["causes"][0], "it lives");
        assert_eq!(json["error"]["hints"][0], "use --name");
    }

    #[test]
    fn codes_and_kinds_are_one_to_one() {
        for code in [1, 2, 3, 4, 5, 6, 7, 130] {
            assert_eq!(ErrorKind::from_code(code).code(), code);
        }
        assert_eq!(ErrorKind::Closed.code(), 0);
    }
}
