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
        if matches!(first, '-' | '.') || is_mark(first) {
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

/// Letters and digits of any script, and the marks that a script needs inside a word; nothing that a reader cannot
/// see. Control and bidi characters, joiners and zero-width spaces are neither letters, digits nor marks.
fn allowed(c: char) -> bool {
    (c.is_alphanumeric() || matches!(c, '-' | '_' | '.') || is_mark(c)) && !is_invisible(c)
}

/// Combining marks of scripts that cannot be written without them (NFC keeps these apart).
fn is_mark(c: char) -> bool {
    unicode_normalization::char::is_combining_mark(c)
}

/// Letters and marks that show as nothing, so that two names could look alike: the fillers, the joiner of marks,
/// variation selectors and the like (Unicode's `Default_Ignorable_Code_Point`, as far as it has letters and marks).
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{ffa0}' | '\u{e0000}'..='\u{e0fff}')
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Names that other tools let through, and why each is refused here.
    #[test]
    fn f26_hostile_names_are_refused_with_the_rule() {
        let long = "x".repeat(300);
        let table: &[(&str, &str)] = &[
            ("", "empty"),
            ("../x", "contains '/'"),
            ("..", "starts with '.'"),
            (".hidden", "starts with '.'"),
            ("-rf", "starts with '-'"),
            ("a/b", "contains '/'"),
            ("a\\b", "contains"),
            ("a@b", "contains '@'"),
            ("a b", "contains ' '"),
            ("a:b", "contains ':'"),
            ("a%2e", "contains '%'"),
            ("*", "contains '*'"),
            (&long, "300 bytes"),
            ("a\0b", "contains"),
            ("a\nb", "contains"),
            ("a\u{1b}[31m", "contains"),
            ("a\u{7f}", "contains"),
            ("a\u{9b}", "contains"),
            ("a\u{202e}b", "contains"),
            ("a\u{2066}b", "contains"),
            ("a\u{200b}b", "contains"),
            ("a\u{200d}b", "contains"),
            ("a\u{200e}b", "contains"),
            ("a\u{feff}b", "contains"),
            ("a\u{ad}b", "contains"),
            ("a\u{3164}b", "contains"),
            ("a\u{34f}b", "contains"),
            ("a\u{fe0f}b", "contains"),
            ("a\u{2028}b", "contains"),
            ("\u{301}a", "starts with"),
            ("\u{93f}\u{915}", "starts with"),
            ("cafe\u{301}", "normal form C"),
            ("\u{1112}\u{1161}\u{11ab}", "normal form C"),
            ("team-lead", "reserved"),
            ("lead", "reserved"),
            ("operator", "reserved"),
            ("all", "reserved"),
        ];
        for (text, why) in table {
            let error = Name::parse(text).expect_err(text).to_string();
            assert!(error.contains(why), "{text:?}: {error}");
        }
    }

    /// Side by side: none of them shares a folder with another, whatever the file system does with case.
    #[test]
    fn f25_names_that_others_fold_keep_apart() {
        let names =
            ["a_b", "A_B", "a-b", "a.b", "ab", "My_Team", "my-team", "команда", "チーム", "हिन्दी", "café", "_x", "1"];
        let components: Vec<String> = names.iter().map(|n| Name::parse(n).unwrap().component()).collect();
        for (i, a) in components.iter().enumerate() {
            assert_eq!(Name::from_component(a).unwrap().as_str(), names[i]);
            assert!(a.len() <= 3 * MAX_NAME_BYTES);
            for b in &components[..i] {
                assert_ne!(a.to_lowercase(), b.to_lowercase());
            }
        }
        assert_eq!(components[0], "a_b");
        assert_eq!(components[1], "%41_%42");
    }

    #[test]
    fn a_component_that_is_none_has_no_name() {
        for text in ["", "A", "%", "%4", "%+A", "%zz", "%61", "a.b", "..", "%2E%2E", "a%2Fb", "%41%", "%e4", "é", "%C3"]
        {
            assert_eq!(Name::from_component(text), None, "{text}");
        }
    }

    /// Letters of many scripts, both cases, marks, and what is refused.
    fn any_text() -> impl Strategy<Value = String> {
        prop_oneof![
            any::<String>(),
            "[a-zA-Z0-9_.-]{0,12}",
            "[aAbBéÉßẞıİіІk\u{212a}ſsñ\u{303}\u{301}_.-]{0,8}",
            "\\PC{0,20}",
        ]
    }

    proptest! {
        #[test]
        fn a_name_survives_its_component(text in any_text()) {
            if let Ok(name) = Name::parse_any(&text) {
                let component = name.component();
                prop_assert!(component.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-%".contains(&b)));
                prop_assert!(!component.starts_with('-') && component.len() <= 3 * MAX_NAME_BYTES);
                prop_assert_eq!(Name::from_component(&component), Some(name));
            }
        }

        #[test]
        fn two_names_never_share_a_component_even_with_case_folded(a in any_text(), b in any_text()) {
            if let (Ok(x), Ok(y)) = (Name::parse_any(&a), Name::parse_any(&b)) {
                prop_assert_eq!(x == y, x.component().to_lowercase() == y.component().to_lowercase());
            }
        }

        #[test]
        fn from_component_takes_only_what_component_makes(text in any_text()) {
            if let Some(name) = Name::from_component(&text) {
                prop_assert_eq!(name.component(), text);
            }
        }

        #[test]
        fn a_name_holds_only_what_a_reader_sees(text in any_text()) {
            if let Ok(name) = Name::parse(&text) {
                prop_assert!(name.as_str().chars().all(|c| !c.is_control() && !c.is_whitespace()));
                prop_assert!(unicode_normalization::is_nfc(name.as_str()));
                prop_assert!(name.as_str().len() <= MAX_NAME_BYTES);
            }
        }

        #[test]
        fn an_id_reads_back(a in "[a-z][a-z0-9_.-]{0,8}", b in "[a-z][a-z0-9_.-]{0,8}") {
            let id = AgentId::new(Name::parse_any(&a).unwrap(), Name::parse_any(&b).unwrap());
            prop_assert_eq!(AgentId::try_from(id.to_string()).unwrap(), id);
        }
    }
}
