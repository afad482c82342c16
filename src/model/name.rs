//! Names of teams and members, and the one function that turns them into path components.

use std::fmt;

use serde::{Deserialize, Serialize};
use unicode_normalization::{UnicodeNormalization, is_nfc};

/// Longest name in bytes. Percent-encoded it still fits a path component (255 bytes on Linux).
pub const MAX_NAME_BYTES: usize = 64;

/// The lead's own mailbox and roster name.
pub const LEAD: &str = "team-lead";
/// The short alias of [`LEAD`].
pub const LEAD_ALIAS: &str = "lead";
/// A person at a shell.
pub const OPERATOR: &str = "operator";
/// Kept free because people read it as "everyone".
pub const ALL: &str = "all";

/// Why a text is not a name. Each fragment reads after "is not a name: ".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    #[error("it is empty")]
    Empty,
    #[error("it has {0} bytes, at most {MAX_NAME_BYTES} are allowed")]
    TooLong(usize),
    #[error("it starts with {0:?}; a name starts with a letter, a digit or `_`")]
    BadStart(char),
    #[error("it contains {0:?}; letters, digits, `-`, `_` and `.` are allowed")]
    BadChar(char),
    #[error("it is not in Unicode normal form C; write it as {0:?}")]
    NotNfc(String),
    #[error("`{0}` is reserved")]
    Reserved(&'static str),
}

/// A valid name: 1 to 64 bytes, NFC, letters, digits, `-`, `_`, `.`; never a path, never hidden.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Name(String);

impl Name {
    /// Parses a name that a person or another program chose. Reserved words are refused.
    pub fn parse(text: &str) -> Result<Self, NameError> {
        for word in [LEAD, LEAD_ALIAS, OPERATOR, ALL] {
            if text == word {
                return Err(NameError::Reserved(word));
            }
        }
        Self::parse_any(text)
    }

    /// Parses a name that may be the lead's or the operator's, as found in files.
    pub fn parse_any(text: &str) -> Result<Self, NameError> {
        let first = text.chars().next().ok_or(NameError::Empty)?;
        if text.len() > MAX_NAME_BYTES {
            return Err(NameError::TooLong(text.len()));
        }
        if let Some(bad) = text.chars().find(|&c| !allowed(c)) {
            return Err(NameError::BadChar(bad));
        }
        if matches!(first, '-' | '.') {
            return Err(NameError::BadStart(first));
        }
        if !is_nfc(text) {
            return Err(NameError::NotNfc(text.nfc().collect()));
        }
        Ok(Self(text.to_owned()))
    }

    /// The lead.
    #[must_use]
    pub fn lead() -> Self {
        Self(LEAD.to_owned())
    }

    /// The person at a shell.
    #[must_use]
    pub fn operator() -> Self {
        Self(OPERATOR.to_owned())
    }

    #[must_use]
    pub fn is_lead(&self) -> bool {
        self.0 == LEAD
    }

    #[must_use]
    pub fn is_operator(&self) -> bool {
        self.0 == OPERATOR
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The path component of this name: every byte outside `[a-z0-9_-]` percent-encoded. Injective,
    /// also on file systems that fold case. It names the tmux session and git branches too.
    #[must_use]
    pub fn component(&self) -> String {
        use fmt::Write as _;
        let mut out = String::with_capacity(self.0.len());
        for byte in self.0.bytes() {
            if byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-') {
                out.push(char::from(byte));
            } else {
                let _ = write!(out, "%{byte:02X}");
            }
        }
        out
    }

    /// The name behind a path component, if it is one that [`Name::component`] makes.
    #[must_use]
    pub fn from_component(component: &str) -> Option<Self> {
        let mut bytes = Vec::with_capacity(component.len());
        let mut rest = component.as_bytes();
        while let [byte, tail @ ..] = rest {
            rest = tail;
            if *byte == b'%' {
                let hex = std::str::from_utf8(rest.get(..2)?).ok()?;
                bytes.push(u8::from_str_radix(hex, 16).ok()?);
                rest = &rest[2..];
            } else {
                bytes.push(*byte);
            }
        }
        let name = Self::parse_any(&String::from_utf8(bytes).ok()?).ok()?;
        (name.component() == component).then_some(name)
    }
}

/// Letters and digits of any script; the combining marks and joiners that a script needs inside a
/// word count as letters here only where NFC leaves them, which `char::is_alphanumeric` decides.
fn allowed(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '-' | '_' | '.') || is_mark(c)
}

/// Combining marks of scripts that cannot be written without them (NFC keeps these apart).
fn is_mark(c: char) -> bool {
    unicode_normalization::char::is_combining_mark(c)
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

impl std::str::FromStr for Name {
    type Err = NameError;
    fn from_str(text: &str) -> Result<Self, NameError> {
        Self::parse(text)
    }
}

impl TryFrom<String> for Name {
    type Error = NameError;
    fn try_from(text: String) -> Result<Self, NameError> {
        Self::parse_any(&text)
    }
}

impl From<Name> for String {
    fn from(name: Name) -> Self {
        name.0
    }
}

/// `name@team`: who someone is, in full.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct AgentId {
    pub name: Name,
    pub team: Name,
}

impl AgentId {
    #[must_use]
    pub fn new(name: Name, team: Name) -> Self {
        Self { name, team }
    }
}

impl fmt::Display for AgentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.name, self.team)
    }
}

impl TryFrom<String> for AgentId {
    type Error = NameError;
    fn try_from(text: String) -> Result<Self, NameError> {
        let (name, team) = text.split_once('@').ok_or(NameError::BadChar('@'))?;
        Ok(Self::new(Name::parse_any(name)?, Name::parse_any(team)?))
    }
}

impl From<AgentId> for String {
    fn from(id: AgentId) -> Self {
        id.to_string()
    }
}
