//! Who an agent is within one process: the main loop, or one of its children.

use std::fmt;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// `main`, or `a` and eight hex digits for a child. It names the child's transcript and output file, so it holds nothing
/// that means something in a path.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct AgentId(String);

impl AgentId {
    /// The loop that people and the protocol talk to.
    #[must_use]
    pub fn main() -> Self {
        Self("main".to_owned())
    }

    /// The id of a child, from a fresh random number.
    #[must_use]
    pub fn child(random: Uuid) -> Self {
        // The last digits: the first ones of a v7 are the time, which children of one turn share.
        let digits = random.simple().to_string();
        Self(format!("a{}", &digits[digits.len() - 8..]))
    }

    /// Reads what stands in a file or in a tool's arguments; `None` where it can't be an id.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let child = |digits: &str| digits.len() == 8 && digits.bytes().all(|b| b.is_ascii_hexdigit());
        (text == "main" || text.strip_prefix('a').is_some_and(child)).then(|| Self(text.to_owned()))
    }

    #[must_use]
    pub fn is_main(&self) -> bool {
        self.0 == "main"
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for AgentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for AgentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for AgentId {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text).ok_or_else(|| format!("`{text}` is no agent id"))
    }
}

impl From<AgentId> for String {
    fn from(id: AgentId) -> Self {
        id.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_read_back_and_nothing_else_is_one() {
        let id = AgentId::child(Uuid::from_u128(0x1234_5678_9abc_def0));
        assert_eq!(id.as_str(), "a9abcdef0");
        assert_eq!(AgentId::parse(id.as_str()), Some(id));
        assert!(AgentId::main().is_main());
        for bad in ["", "a", "a1234567", "a123456789", "../../aa", "a1234567/", "b12345678"] {
            assert_eq!(AgentId::parse(bad), None, "{bad}");
        }
    }
}
