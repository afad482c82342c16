//! What is said of a member whose program is an agent: its preset, its modes, what it may do without asking.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::time::Span;

/// What a spec says of an agent beyond its argv.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentSpec {
    /// The preset of `agent = "…"`, as it was when the member was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preset: Option<Preset>,
    /// The session mode outside of planning: `plan`, `ask`, `full`, or an id of the agent's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// MCP servers besides the team's own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mcp: Vec<McpServerSpec>,
    /// When sessions may be loaded, where that is not at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load: Option<LoadWindow>,
    #[serde(skip_serializing_if = "Rules::is_empty")]
    pub permissions: Rules,
}

impl AgentSpec {
    /// The mode of a life, in our words or the agent's own: planning, carrying out an approved plan, or what the spec says.
    #[must_use]
    pub fn mode_word(&self, planning: bool, executing: bool) -> &str {
        match (planning, self.mode.as_deref()) {
            (true, _) => "plan",
            (false, Some(own)) => own,
            (false, None) if executing => "full",
            (false, None) => "ask",
        }
    }

    /// The ids of the agent's own mode that this life's session is put into, the best first; none: as it begins.
    #[must_use]
    pub fn mode_ids(&self, planning: bool, executing: bool) -> Vec<String> {
        match &self.preset {
            Some(preset) => preset.mode_ids(self.mode_word(planning, executing)),
            // Without a preset only a mode that the spec names is known.
            None => self.mode.clone().filter(|_| !planning).into_iter().collect(),
        }
    }
}

/// What answers a tool call without asking: `Tool` or `Tool(pattern)` each.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Rules {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ask: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub deny: Vec<String>,
    /// How long an asked permission stays open before it counts as denied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires: Option<Span>,
}

impl Rules {
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The team's rules and a member's own, which come after them; each list is searched whole, so the order is of
    /// no weight.
    #[must_use]
    pub fn under(&self, own: &Self) -> Self {
        let join = |a: &[String], b: &[String]| a.iter().chain(b).cloned().collect();
        Self {
            allow: join(&self.allow, &own.allow),
            ask: join(&self.ask, &own.ask),
            deny: join(&self.deny, &own.deny),
            expires: own.expires.or(self.expires),
        }
    }
}

/// An MCP server that an agent is given on its standard streams.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct McpServerSpec {
    pub name: String,
    /// The program, resolved, and its arguments.
    pub command: Vec<String>,
    pub env: BTreeMap<String, String>,
}

/// When an agent's sessions may be loaded again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LoadWindow {
    Now,
    /// Not in the clock minute in which the session began: the agent would write over its own transcript.
    NextMinute,
    /// Never: a new life begins a new session.
    Never,
}

/// What is known of one make of agent: a data file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Preset {
    pub name: String,
    /// For people.
    pub title: String,
    /// What speaks ACP on its standard streams.
    pub command: Vec<String>,
    pub version: Versions,
    /// Variables that it always gets.
    pub env: BTreeMap<String, String>,
    /// Variables of the launcher that reach it also with `clean_env`.
    pub pass_env: Vec<String>,
    pub modes: Modes,
    /// Variables that it gets besides in one of our modes, or as a `coordinator`: what the mode is for an agent that has none of that kind.
    pub mode_env: BTreeMap<String, BTreeMap<String, String>>,
    pub quirks: Quirks,
    /// Folders and files below the home that it must be able to write. One with a `/` at its end is a folder of its own
    /// that is made where it is missing: it could not make it in its sandbox.
    pub state_dirs: Vec<String>,
    /// What to say where its program is not found.
    pub missing: String,
}

/// Which versions of an agent were seen to work; its own `initialize` tells which one is there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Versions {
    pub known: Vec<String>,
}

/// The agent's ids of our three modes. Of several the first that it offers is taken: what an agent offers depends on who
/// runs it, and where.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Modes {
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "one_or_more")]
    pub plan: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "one_or_more")]
    pub ask: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "one_or_more")]
    pub full: Vec<String>,
}

fn one_or_more<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "a mode's id, or a list of them")]
    enum Ids {
        One(String),
        More(Vec<String>),
    }
    Ok(match Ids::deserialize(from)? {
        Ids::One(id) => vec![id],
        Ids::More(ids) => ids,
    })
}

/// What is odd about an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Quirks {
    /// It does not end when its input is closed: it gets TERM at once.
    pub needs_term: bool,
    /// It sets the times of a lock of its own, and does not start where it may not: `read-only` lets it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub sets_times: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load: Option<LoadWindow>,
    /// What else people should know.
    pub note: String,
}

impl Preset {
    /// The agent's ids of one of our modes, the best first; what is none of ours is an id of its own.
    #[must_use]
    pub fn mode_ids(&self, word: &str) -> Vec<String> {
        match word {
            "plan" => self.modes.plan.clone(),
            // Who acts on nothing itself asks for what it does as ever.
            "ask" | "coordinator" => self.modes.ask.clone(),
            "full" => self.modes.full.clone(),
            other => vec![other.to_owned()],
        }
    }
}
