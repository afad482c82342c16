//! Whether a call may run: modes, rules, and whoever is asked where neither says.
//!
//! Modes that forbid writing are kept by the sandbox where it comes to commands; here stands what the agent does itself.

mod rules;

use serde::{Deserialize, Serialize};

use super::id::AgentId;
use super::tools::{BoxFuture, Kind};
pub use rules::{Rules, Ruling};

/// How much an agent may do without asking.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Looks, and changes nothing.
    #[serde(rename = "read-only", alias = "read_only")]
    ReadOnly,
    /// The same, until a plan was agreed upon.
    Plan,
    /// Asks before it changes or runs anything.
    #[default]
    Default,
    /// Edits where it works, and runs what the sandbox keeps there, without asking.
    AcceptEdits,
    /// Asks nobody.
    Bypass,
    /// As `default`; asks whoever started it, up to the lead, also from the background.
    Bubble,
}

impl Mode {
    pub const ALL: [Self; 6] =
        [Self::ReadOnly, Self::Plan, Self::Default, Self::AcceptEdits, Self::Bypass, Self::Bubble];

    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::Plan => "plan",
            Self::Default => "default",
            Self::AcceptEdits => "accept_edits",
            Self::Bypass => "bypass",
            Self::Bubble => "bubble",
        }
    }

    /// Reads the word; `_` and `-` are the same to people.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        let word = word.replace('_', "-");
        Self::ALL.into_iter().find(|mode| mode.as_str().replace('_', "-") == word)
    }

    /// Nothing may be changed in it.
    #[must_use]
    pub fn is_read_only(self) -> bool {
        matches!(self, Self::ReadOnly | Self::Plan)
    }
}

/// A call, as far as it matters here.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    pub tool: &'a str,
    pub kind: Kind,
    pub subject: &'a str,
    /// It acts outside the folders that the agent works in.
    pub outside: bool,
    /// Commands are kept within the mode by a sandbox.
    pub confined: bool,
    /// The agent may not take the screen.
    pub background: bool,
    /// Somebody is there to be asked.
    pub attended: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    Allow,
    /// With the reason, which reads after "was not permitted: ".
    Deny(String),
    /// Somebody has to say; with the reason why.
    Ask(String),
}

/// What mode and rules make of a call. A rule of deny holds in every mode, and no rule lets a read-only mode write.
#[must_use]
pub fn decide(mode: Mode, rules: &Rules, call: &Call<'_>) -> Decision {
    let ruling = rules.ruling(call);
    if let Ruling::Deny(rule) = ruling {
        return Decision::Deny(format!("the rule deny `{rule}` forbids it"));
    }
    if mode.is_read_only() && changes(call) {
        return Decision::Deny(read_only(mode, call));
    }
    let reason = match ruling {
        Ruling::Allow(_) => return Decision::Allow,
        Ruling::Ask(rule) => format!("the rule ask `{rule}` wants it asked"),
        Ruling::Deny(_) | Ruling::None => match by_mode(mode, call) {
            None => return Decision::Allow,
            Some(reason) => reason,
        },
    };
    ask(mode, call, reason)
}

/// Who cannot ask is denied: a question that nobody sees would hang for ever.
fn ask(mode: Mode, call: &Call<'_>, reason: String) -> Decision {
    if call.background && mode != Mode::Bubble {
        Decision::Deny(format!("{reason}, and an agent in the background cannot ask"))
    } else if !call.attended {
        Decision::Deny(format!("{reason}, and nobody is there to be asked"))
    } else {
        Decision::Ask(reason)
    }
}

/// What a read-only mode never does. A command is fine where the sandbox keeps it from writing.
fn changes(call: &Call<'_>) -> bool {
    match call.kind {
        Kind::Edit => true,
        Kind::Execute => !call.confined,
        Kind::Read | Kind::Search | Kind::Fetch | Kind::Think | Kind::Other => false,
    }
}

fn read_only(mode: Mode, call: &Call<'_>) -> String {
    let why = if call.kind == Kind::Execute {
        ", and there is no sandbox that would keep a command from writing"
    } else {
        ""
    };
    match mode {
        Mode::Plan => format!("in plan mode nothing is changed before the plan is agreed upon{why}"),
        _ => format!("the agent is read-only{why}"),
    }
}

/// `None`: nobody need be asked.
fn by_mode(mode: Mode, call: &Call<'_>) -> Option<String> {
    if mode == Mode::Bypass || call.kind == Kind::Think {
        return None;
    }
    match call.kind {
        Kind::Read | Kind::Search => call.outside.then(|| "it reads outside the folders that it works in".to_owned()),
        Kind::Edit if call.outside => Some("it writes outside the folders that it works in".to_owned()),
        Kind::Edit => (mode != Mode::AcceptEdits).then(|| "it changes files".to_owned()),
        // In a read-only mode only a confined command comes here.
        Kind::Execute if mode.is_read_only() || (mode == Mode::AcceptEdits && call.confined) => None,
        Kind::Execute => Some("it runs a command".to_owned()),
        Kind::Fetch => Some("it reaches into the network".to_owned()),
        Kind::Think | Kind::Other => Some("nobody has said that this tool may be used".to_owned()),
    }
}

/// What somebody is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    pub agent: AgentId,
    /// The tool call's id.
    pub call: String,
    pub tool: String,
    pub kind: Kind,
    /// What it acts on.
    pub subject: String,
    pub input: serde_json::Value,
    /// Why it is asked.
    pub reason: String,
}

/// The answer to a [`Question`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    AllowOnce,
    /// This call, and others like it from now on.
    AllowAlways,
    Deny(String),
}

/// Whoever is asked: the person through the protocol or the terminal, the parent, the team's lead.
pub trait Asker: Send + Sync {
    /// Whether anybody is there; if not, no question is put.
    fn is_attended(&self) -> bool;

    fn ask(&self, question: Question) -> BoxFuture<'_, Reply>;
}

/// There is nobody to ask.
#[derive(Clone, Copy, Debug)]
pub struct Nobody;

impl Asker for Nobody {
    fn is_attended(&self) -> bool {
        false
    }

    fn ask(&self, _question: Question) -> BoxFuture<'_, Reply> {
        Box::pin(async { Reply::Deny("nobody is there to be asked".to_owned()) })
    }
}

#[cfg(test)]
mod tests;
