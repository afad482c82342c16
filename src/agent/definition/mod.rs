//! Agent definitions: what kinds of children there are, built in and from Markdown files.

mod builtin;
mod file;
mod find;
mod front;

use std::path::PathBuf;

use serde::Serialize;

use super::filter::{self, List};
use super::permission::Mode;

pub use builtin::{built_in, fork_definition};
pub use file::parse;
pub use find::{Broken, Found, Library, folders};

pub const GENERAL: &str = "general-purpose";
pub const WORKER: &str = "worker";
pub const VERIFICATION: &str = "verification";
pub const FORK: &str = "fork";

/// Turns of a definition that says nothing of them.
pub const TURNS: u32 = 50;

/// Which model a child runs on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Model {
    /// Its parent's.
    Inherit,
    Small,
    Medium,
    Large,
    /// An id of the provider's.
    #[serde(untagged)]
    Exact(String),
}

impl Model {
    /// The words that are offered to a model that starts children.
    pub const CHOICES: [&str; 4] = ["inherit", "small", "medium", "large"];

    /// Reads a word; the family names that other agents use are read as sizes.
    #[must_use]
    pub fn parse(word: &str) -> Self {
        match word {
            "inherit" => Self::Inherit,
            "small" | "haiku" => Self::Small,
            "medium" | "sonnet" => Self::Medium,
            "large" | "opus" => Self::Large,
            other => Self::Exact(other.to_owned()),
        }
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Inherit => "inherit",
            Self::Small => "small",
            Self::Medium => "medium",
            Self::Large => "large",
            Self::Exact(id) => id,
        }
    }
}

/// The files that a child works on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Isolation {
    /// Its parent's.
    #[default]
    None,
    /// A work tree on a branch of its own.
    Worktree,
}

/// Where a definition comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    BuiltIn,
    #[serde(untagged)]
    File(PathBuf),
}

/// What a child may write, beside what its mode says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Writes {
    /// As its mode says.
    ByMode,
    /// Nothing of the project; a temporary folder of its own. The sandbox keeps it.
    OwnTmp,
}

/// A kind of child.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Definition {
    pub name: String,
    /// When to use it, for the model that chooses.
    pub description: String,
    /// These tools and no others; `None` for all that a child may have.
    pub tools: Option<Vec<String>>,
    pub disallowed_tools: Vec<String>,
    pub model: Model,
    /// `None`: `accept_edits`.
    pub permission_mode: Option<Mode>,
    pub max_turns: u32,
    pub isolation: Isolation,
    /// Always in the background.
    pub background: bool,
    pub required_mcp_servers: Vec<String>,
    pub color: Option<String>,
    pub writes: Writes,
    /// The system prompt.
    #[serde(skip)]
    pub prompt: String,
    pub source: Source,
    /// Keys of the file that mean something to other programs and nothing here.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ignored: Vec<String>,
}

impl Definition {
    /// Whether a person wrote it.
    #[must_use]
    pub fn is_custom(&self) -> bool {
        matches!(self.source, Source::File(_))
    }

    /// What it says of tools, for the filter.
    #[must_use]
    pub fn list(&self) -> List<'_> {
        List { only: self.tools.as_deref(), without: &self.disallowed_tools }
    }

    /// The role of a child of this kind.
    #[must_use]
    pub fn role(&self, background: bool) -> filter::Role<'_> {
        filter::Role::Subagent { custom: self.is_custom(), background, list: self.list() }
    }

    /// The mode that a child of a parent in `parent` runs in. A sandbox can be narrowed and not widened, so a read-only
    /// parent has read-only children; and a file that lies in a repository gives nobody a right that its parent has not.
    #[must_use]
    pub fn mode_under(&self, parent: Mode) -> Mode {
        let own = self.permission_mode.unwrap_or(Mode::AcceptEdits);
        match (parent, own) {
            (Mode::ReadOnly | Mode::Plan, _) => Mode::ReadOnly,
            (Mode::Bypass, own) if !own.is_read_only() => Mode::Bypass,
            (_, Mode::Bypass) => Mode::Bubble,
            // A child has nobody who agrees to a plan: its plan is its answer.
            (_, Mode::Plan) => Mode::ReadOnly,
            (_, own) => own,
        }
    }

    /// Its tools in words, for a model or a person.
    #[must_use]
    pub fn tools_text(&self) -> String {
        let without = self.disallowed_tools.join(", ");
        match (&self.tools, without.is_empty()) {
            (Some(only), true) => only.join(", "),
            (Some(only), false) => format!("{}, without {without}", only.join(", ")),
            (None, true) => "all".to_owned(),
            (None, false) => format!("all but {without}"),
        }
    }
}

#[cfg(test)]
mod tests;
