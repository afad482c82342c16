//! The events of a stream, as the Messages API sends them.

use serde::Deserialize;
use serde_json::Value;

use crate::agent::wire::{Block, Usage};

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum StreamEvent {
    MessageStart {
        message: Started,
    },
    ContentBlockStart {
        index: usize,
        content_block: Block,
    },
    ContentBlockDelta {
        index: usize,
        delta: Delta,
    },
    ContentBlockStop {
        index: usize,
    },
    MessageDelta {
        delta: Ending,
        #[serde(default)]
        usage: Value,
    },
    MessageStop,
    Ping,
    Error {
        error: Told,
    },
    /// Of a kind that came later than this program.
    #[serde(untagged)]
    Other(Value),
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Started {
    pub id: String,
    pub model: String,
    pub usage: Usage,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Delta {
    TextDelta {
        text: String,
    },
    InputJsonDelta {
        partial_json: String,
    },
    ThinkingDelta {
        thinking: String,
    },
    SignatureDelta {
        signature: String,
    },
    CitationsDelta {
        citation: Value,
    },
    #[serde(untagged)]
    Other(Value),
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Ending {
    pub stop_reason: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Told {
    #[serde(rename = "type")]
    pub kind: String,
    pub message: String,
}

impl StreamEvent {
    /// Reads the `data` of one event.
    ///
    /// # Errors
    /// What is no JSON object with a type.
    pub fn parse(data: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(data)
    }
}
