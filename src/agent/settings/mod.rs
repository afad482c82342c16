//! How the agent is set: the person's file, the project's, the environment, the command line; each later one wins.

mod layer;
mod project;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::budget::{Allowance, Price};
use super::permission::{Mode, Rules};
use super::provider::{Auth, Endpoint};
use crate::model::time::Span;

pub use layer::{Found, Layers};

const BASE_URL: &str = "https://api.anthropic.com";

/// Everything that can be set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// The model of the main loop; an exact id, or `small`, `medium`, `large`.
    pub model: String,
    /// The exact ids behind `small`, `medium` and `large`.
    pub models: Models,
    /// Where the Messages API is spoken.
    pub base_url: String,
    /// Sent as `x-api-key`, or in the header that `auth_header` names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_key: Option<String>,
    /// Sent as `Authorization: Bearer`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auth_token: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auth_header: Option<String>,
    /// More headers of every request.
    pub headers: BTreeMap<String, String>,
    /// Longest answer, in tokens.
    pub max_tokens: u64,
    /// Tokens for thinking before an answer; 0 is none.
    pub thinking_tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Tokens that the model reads at most; 0 never compacts ahead of the limit.
    pub context_window: u64,
    /// The part of the window at which the conversation is compacted.
    pub compact_at: f64,
    /// Tries after the first for what fails in passing.
    pub retries: u32,
    /// An answer that is silent for this long is asked for again.
    pub silence: Span,
    /// Requests of this process that are under way at once.
    pub requests_at_once: usize,
    pub permission_mode: Mode,
    pub permissions: Rules,
    /// Requests in one turn; 0 is no limit.
    pub max_turns: u32,
    /// Tokens that a session may take; 0 is no limit.
    pub max_session_tokens: u64,
    /// Dollars that a session may cost; 0 is no limit. Counts models whose price is known.
    pub max_session_dollars: f64,
    /// Children at once.
    pub max_children: usize,
    /// Whether children may run in the background.
    pub background: bool,
    /// A child in the foreground is put in the background after this; 0 turns it off.
    pub background_after: Span,
    /// The key that puts a child in the background: `ctrl-` and a letter.
    pub background_key: String,
    /// Whether a child without a type is a fork.
    pub fork: bool,
    /// Dollars for a million tokens, by exact model id.
    pub prices: BTreeMap<String, Price>,
    /// Whether commands may reach the network.
    pub network: bool,
    /// Whether the MCP servers of a project's `.mcp.json` are started: programs that its authors chose.
    pub project_mcp: bool,
    /// How WebSearch is done: `provider`, a command, or not at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub web_search: Option<WebSearch>,
    /// Recorded answers instead of a model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cassette: Option<PathBuf>,
    /// Where whole answers are recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record: Option<PathBuf>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum WebSearch {
    /// `provider`
    Word(String),
    /// A command that gets the query as its last argument and prints what it found.
    Command { command: Vec<String> },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Models {
    pub small: String,
    pub medium: String,
    pub large: String,
}

impl Default for Models {
    fn default() -> Self {
        Self {
            small: "claude-haiku-4-5".to_owned(),
            medium: "claude-sonnet-4-5".to_owned(),
            large: "claude-opus-4-5".to_owned(),
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            model: "medium".to_owned(),
            models: Models::default(),
            base_url: BASE_URL.to_owned(),
            api_key: None,
            auth_token: None,
            auth_header: None,
            headers: BTreeMap::new(),
            max_tokens: 16_000,
            thinking_tokens: 0,
            temperature: None,
            context_window: 200_000,
            compact_at: 0.8,
            retries: 8,
            silence: Span::secs(180),
            requests_at_once: 8,
            permission_mode: Mode::Default,
            permissions: Rules::default(),
            max_turns: 0,
            max_session_tokens: 0,
            max_session_dollars: 0.0,
            max_children: 16,
            background: true,
            background_after: Span::secs(120),
            background_key: "ctrl-g".to_owned(),
            fork: true,
            prices: BTreeMap::new(),
            network: true,
            project_mcp: false,
            web_search: None,
            cassette: None,
            record: None,
        }
    }
}

/// What is wrong with a setting.
#[derive(Debug, Error)]
pub enum SettingsError {
    #[error("cannot read {path}: {why}")]
    Unreadable { path: PathBuf, why: std::io::Error },
    #[error("{origin} is not right: {why}")]
    Wrong { origin: String, why: String },
    #[error("{path} sets `{key}`, which a project may not")]
    NotForProjects { path: PathBuf, key: String },
}

impl SettingsError {
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::NotForProjects { .. } => Some(
                "whoever wrote the project could get at your key, or run what you did not allow; put it into \
                 ~/.config/crewmux/agent.toml, or give it on the command line",
            ),
            Self::Wrong { .. } => Some("docs/AGENT.md lists the settings; `crewmux agent --show-settings` shows yours"),
            Self::Unreadable { .. } => None,
        }
    }
}

impl Settings {
    /// The exact id of a model: of `inherit` (the main loop's), a size, one of the words that are read as sizes, or itself.
    #[must_use]
    pub fn model_id(&self, word: &str) -> String {
        match word {
            "small" | "haiku" => self.models.small.clone(),
            "medium" | "sonnet" => self.models.medium.clone(),
            "large" | "opus" => self.models.large.clone(),
            // The setting itself saying `inherit` would go round for ever.
            "inherit" | "" if !matches!(self.model.as_str(), "inherit" | "") => self.model_id(&self.model),
            "inherit" | "" => self.models.medium.clone(),
            id => id.to_owned(),
        }
    }

    #[must_use]
    pub fn endpoint(&self) -> Endpoint {
        let auth = match (&self.auth_token, &self.api_key, &self.auth_header) {
            (_, Some(key), Some(header)) => Auth::Header(header.clone(), key.clone()),
            (Some(token), ..) => Auth::Bearer(token.clone()),
            (None, Some(key), None) => Auth::Key(key.clone()),
            (None, None, _) => Auth::None,
        };
        let headers = self.headers.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        Endpoint { base_url: self.base_url.clone(), auth, headers, silence: self.silence.0 }
    }

    /// Whether the hosted API would be asked without any key.
    #[must_use]
    pub fn lacks_key(&self) -> bool {
        self.cassette.is_none()
            && self.endpoint().auth == Auth::None
            && self.base_url == BASE_URL
            && self.headers.is_empty()
    }

    #[must_use]
    pub fn allowance(&self) -> Allowance {
        Allowance {
            tokens: Some(self.max_session_tokens).filter(|n| *n > 0),
            dollars: Some(self.max_session_dollars).filter(|n| *n > 0.0),
        }
    }

    /// Checks what a type cannot say.
    fn check(&self) -> Result<(), String> {
        let url = self.base_url.as_str();
        if !url.starts_with("http://") && !url.starts_with("https://") {
            return Err(format!("`base_url` must begin with http:// or https://, and is {url:?}"));
        }
        if self.max_tokens == 0 {
            return Err("`max_tokens` must be at least 1".to_owned());
        }
        if self.thinking_tokens > 0 && self.temperature.is_some() {
            return Err("`temperature` cannot be set together with `thinking_tokens`".to_owned());
        }
        if self.thinking_tokens >= self.max_tokens {
            return Err("`thinking_tokens` must be less than `max_tokens`, which counts them".to_owned());
        }
        if !(0.1..=0.98).contains(&self.compact_at) {
            return Err("`compact_at` must lie between 0.1 and 0.98".to_owned());
        }
        match &self.web_search {
            Some(WebSearch::Word(word)) if word != "provider" => {
                return Err(format!("`web_search` must be \"provider\" or {{ command = […] }}, and is {word:?}"));
            }
            Some(WebSearch::Command { command }) if command.is_empty() => {
                return Err("`web_search.command` is empty".to_owned());
            }
            _ => {}
        }
        if control_key(&self.background_key).is_none() {
            return Err(format!(
                "`background_key` must be ctrl- and a letter other than b (tmux's), c, d, z, i, j, m, and is {:?}",
                self.background_key
            ));
        }
        Ok(())
    }
}

/// The byte that a terminal sends for `ctrl-LETTER`, where that letter is free.
#[must_use]
pub fn control_key(name: &str) -> Option<u8> {
    let letter = name.strip_prefix("ctrl-")?.as_bytes();
    // Tmux's prefix, interrupt, end of input, suspend; tab and the two line ends.
    let taken = b"bcdzijm";
    match letter {
        [letter @ b'a'..=b'z'] if !taken.contains(letter) => Some(letter & 0x1f),
        _ => None,
    }
}

/// The person's own file.
#[must_use]
pub fn person_file() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let config = set("XDG_CONFIG_HOME").or_else(|| set("HOME").map(|home| home.join(".config")))?;
    Some(config.join("crewmux/agent.toml"))
}

/// The project's file: the nearest one from `cwd` upwards.
#[must_use]
pub fn project_file(cwd: &Path) -> Option<PathBuf> {
    cwd.ancestors().map(|dir| dir.join(".crewmux/agent.toml")).find(|file| file.is_file())
}

#[cfg(test)]
mod tests;
