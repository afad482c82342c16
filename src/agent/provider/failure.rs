//! Why a request gave no whole answer, and whether it is worth asking again.

use std::time::Duration;

use thiserror::Error;

/// Longest part of a server's own words that is passed on, in bytes.
const MOST_WORDS: usize = 2_000;

#[derive(Clone, Debug, PartialEq, Error)]
pub enum Failure {
    /// The server answered with an error.
    #[error("the model's server answered {status}{}: {message}", kind_of(.kind))]
    Refused { status: u16, kind: String, message: String, retry_after: Option<Duration> },
    /// The stream itself told of an error.
    #[error("the model's server broke off{}: {message}", kind_of(.kind))]
    Told { kind: String, message: String },
    /// The stream ended before its last event.
    #[error("the answer was cut off: {0}")]
    Cut(String),
    #[error("cannot reach the model's server at {url}: {why}")]
    Unreachable { url: String, why: String },
    /// Nothing was sent: the settings do not allow it.
    #[error("{0}")]
    Settings(String),
    /// The recording has no answer to this.
    #[error("{0}")]
    Cassette(String),
}

fn kind_of(kind: &str) -> String {
    if kind.is_empty() { String::new() } else { format!(" ({kind})") }
}

impl Failure {
    /// An answer with an error status. `body` is whatever came with it.
    #[must_use]
    pub fn refused(status: u16, retry_after: Option<Duration>, body: &[u8]) -> Self {
        let told: serde_json::Value = serde_json::from_slice(body).unwrap_or_default();
        let word = |name: &str| told["error"][name].as_str().unwrap_or_default().to_owned();
        let mut message = word("message");
        if message.is_empty() {
            message = String::from_utf8_lossy(&body[..body.len().min(MOST_WORDS)]).trim().to_owned();
        }
        if message.is_empty() {
            "(no words)".clone_into(&mut message);
        }
        Self::Refused { status, kind: word("type"), message, retry_after }
    }

    /// Whether the same request may succeed a moment later.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        match self {
            // 408 and 409 are what proxies answer under load; 529 is "overloaded".
            Self::Refused { status, .. } => matches!(status, 408 | 409 | 429 | 500..=599),
            Self::Told { kind, .. } => matches!(kind.as_str(), "overloaded_error" | "api_error" | "rate_limit_error"),
            Self::Cut(_) | Self::Unreachable { .. } => true,
            Self::Settings(_) | Self::Cassette(_) => false,
        }
    }

    /// Whether everyone who asks this server has to wait, not this request alone.
    #[must_use]
    pub fn is_crowded(&self) -> bool {
        match self {
            Self::Refused { status, .. } => matches!(status, 429 | 503 | 529),
            Self::Told { kind, .. } => matches!(kind.as_str(), "overloaded_error" | "rate_limit_error"),
            _ => false,
        }
    }

    /// Whether the conversation has grown too long for the model.
    #[must_use]
    pub fn is_too_long(&self) -> bool {
        match self {
            Self::Refused { status, message, .. } => {
                *status == 413
                    || (*status == 400
                        && (message.contains("too long")
                            || message.contains("context limit")
                            || message.contains("context window")))
            }
            _ => false,
        }
    }

    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Refused { retry_after, .. } => *retry_after,
            _ => None,
        }
    }

    /// What a person can do about it.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Refused { status: 401 | 403, .. } => {
                Some("set ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN to a key that this server takes")
            }
            Self::Refused { status: 404, .. } => Some(
                "`model` and `base_url` must fit the server: `crewmux agent --show-settings` shows where each comes from",
            ),
            Self::Unreachable { .. } => Some("`base_url` (or ANTHROPIC_BASE_URL) says which server is asked"),
            _ => None,
        }
    }
}
