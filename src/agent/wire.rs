//! What travels between the agent and a model: turns of content blocks, tools, usage, and the body of a request.
//!
//! The shapes are those of the Messages API. Fields and blocks that are not known here are kept as they came, since a
//! provider wants back what it sent (signatures of thinking above all).

use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

/// Fields of a block that are not known here, in the order in which they came.
pub type Extra = Map<String, Value>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    User,
    Assistant,
}

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    pub role: Role,
    pub content: Vec<Block>,
}

impl Turn {
    #[must_use]
    pub fn user(content: Vec<Block>) -> Self {
        Self { role: Role::User, content }
    }

    #[must_use]
    pub fn assistant(content: Vec<Block>) -> Self {
        Self { role: Role::Assistant, content }
    }

    /// The texts of this turn, one after another.
    #[must_use]
    pub fn text(&self) -> String {
        let texts: Vec<&str> = self.content.iter().filter_map(Block::as_text).collect();
        texts.join("\n")
    }

    /// The calls in this turn: id, name, input.
    pub fn calls(&self) -> impl Iterator<Item = (&str, &str, &Value)> {
        self.content.iter().filter_map(|block| match block {
            Block::ToolUse { id, name, input, .. } => Some((id.as_str(), name.as_str(), input)),
            _ => None,
        })
    }
}

/// A part of a turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Block {
    Text {
        text: String,
        #[serde(flatten)]
        extra: Extra,
    },
    Thinking {
        thinking: String,
        #[serde(default)]
        signature: String,
        #[serde(flatten)]
        extra: Extra,
    },
    RedactedThinking {
        data: String,
        #[serde(flatten)]
        extra: Extra,
    },
    ToolUse {
        id: String,
        name: String,
        input: Value,
        #[serde(flatten)]
        extra: Extra,
    },
    ToolResult {
        tool_use_id: String,
        #[serde(default, deserialize_with = "parts")]
        content: Vec<ResultPart>,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
        #[serde(flatten)]
        extra: Extra,
    },
    Image {
        source: Value,
        #[serde(flatten)]
        extra: Extra,
    },
    /// A block of a kind that is not known here.
    #[serde(untagged)]
    Other(Value),
}

impl Block {
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into(), extra: Extra::new() }
    }

    #[must_use]
    pub fn tool_use(id: impl Into<String>, name: impl Into<String>, input: Value) -> Self {
        Self::ToolUse { id: id.into(), name: name.into(), input, extra: Extra::new() }
    }

    #[must_use]
    pub fn tool_result(id: impl Into<String>, content: Vec<ResultPart>, is_error: bool) -> Self {
        Self::ToolResult { tool_use_id: id.into(), content, is_error, extra: Extra::new() }
    }

    /// An image from its media type and its bytes in base64.
    #[must_use]
    pub fn image(media_type: &str, base64: &str) -> Self {
        let source = serde_json::json!({ "type": "base64", "media_type": media_type, "data": base64 });
        Self::Image { source, extra: Extra::new() }
    }

    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text { text, .. } => Some(text),
            _ => None,
        }
    }

    #[must_use]
    pub fn is_thinking(&self) -> bool {
        matches!(self, Self::Thinking { .. } | Self::RedactedThinking { .. })
    }

    /// A text of white space only: a provider refuses it.
    #[must_use]
    pub fn is_blank(&self) -> bool {
        self.as_text().is_some_and(|text| text.trim().is_empty())
    }
}

/// A part of a tool's result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ResultPart {
    Text {
        text: String,
        #[serde(flatten)]
        extra: Extra,
    },
    Image {
        source: Value,
        #[serde(flatten)]
        extra: Extra,
    },
    #[serde(untagged)]
    Other(Value),
}

impl ResultPart {
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into(), extra: Extra::new() }
    }

    /// An image from its media type and its bytes in base64.
    #[must_use]
    pub fn image(media_type: &str, base64: &str) -> Self {
        let source = serde_json::json!({ "type": "base64", "media_type": media_type, "data": base64 });
        Self::Image { source, extra: Extra::new() }
    }

    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text { text, .. } => Some(text),
            _ => None,
        }
    }
}

/// A result's content is written as a plain string by some.
fn parts<'de, D: Deserializer<'de>>(d: D) -> Result<Vec<ResultPart>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Either {
        Text(String),
        Parts(Vec<ResultPart>),
    }
    Ok(match Either::deserialize(d)? {
        Either::Text(text) => vec![ResultPart::text(text)],
        Either::Parts(parts) => parts,
    })
}

/// A tool as the model gets to see it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    pub name: String,
    /// Empty, and the schema null, where the provider knows the tool by its type.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub input_schema: Value,
    /// Marks a tool that the provider runs itself, as web search.
    #[serde(flatten, default, skip_serializing_if = "Extra::is_empty")]
    pub extra: Extra,
}

impl ToolSpec {
    #[must_use]
    pub fn new(name: impl Into<String>, description: impl Into<String>, input_schema: Value) -> Self {
        Self { name: name.into(), description: description.into(), input_schema, extra: Extra::new() }
    }
}

/// Tokens that one request took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    #[serde(deserialize_with = "or_zero")]
    pub input_tokens: u64,
    #[serde(deserialize_with = "or_zero")]
    pub output_tokens: u64,
    #[serde(deserialize_with = "or_zero")]
    pub cache_creation_input_tokens: u64,
    #[serde(deserialize_with = "or_zero")]
    pub cache_read_input_tokens: u64,
}

/// Local servers write `null` where they do not count.
fn or_zero<'de, D: Deserializer<'de>>(d: D) -> Result<u64, D::Error> {
    Ok(Option::<u64>::deserialize(d)?.unwrap_or(0))
}

impl Usage {
    /// All that the model read: fresh, written to the cache and read from it.
    #[must_use]
    pub fn context(&self) -> u64 {
        self.input_tokens + self.cache_creation_input_tokens + self.cache_read_input_tokens
    }

    pub fn add(&mut self, other: Self) {
        self.input_tokens += other.input_tokens;
        self.output_tokens += other.output_tokens;
        self.cache_creation_input_tokens += other.cache_creation_input_tokens;
        self.cache_read_input_tokens += other.cache_read_input_tokens;
    }
}

/// How much a model is to think before it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thinking {
    pub budget_tokens: u64,
}

/// What a request says before its messages. Serialized once: its bytes are the beginning of every request.
#[derive(Clone, Debug, PartialEq)]
pub struct Head {
    pub model: String,
    pub max_tokens: u64,
    pub thinking: Option<Thinking>,
    pub temperature: Option<f64>,
    pub system: Vec<String>,
    pub tools: Vec<ToolSpec>,
}

/// Cache breakpoints that a provider takes in one request.
const MOST_MARKS: usize = 4;
const MARK: &str = r#","cache_control":{"type":"ephemeral"}"#;

impl Head {
    /// Up to and including `"messages":[`. The system prompt's end is a cache breakpoint, which covers the tools too:
    /// a provider reads them first.
    fn render(&self) -> String {
        #[derive(Serialize)]
        struct Plain<'a> {
            model: &'a str,
            max_tokens: u64,
            stream: bool,
            #[serde(skip_serializing_if = "Option::is_none")]
            thinking: Option<Value>,
            #[serde(skip_serializing_if = "Option::is_none")]
            temperature: Option<f64>,
            #[serde(skip_serializing_if = "<[ToolSpec]>::is_empty")]
            tools: &'a [ToolSpec],
            #[serde(skip_serializing_if = "Vec::is_empty")]
            system: Vec<Value>,
        }
        let mut system: Vec<Value> = self
            .system
            .iter()
            .filter(|text| !text.trim().is_empty())
            .map(|text| serde_json::json!({ "type": "text", "text": text }))
            .collect();
        if let Some(Value::Object(last)) = system.last_mut() {
            last.insert("cache_control".to_owned(), serde_json::json!({ "type": "ephemeral" }));
        }
        let thinking =
            self.thinking.map(|t| serde_json::json!({ "type": "enabled", "budget_tokens": t.budget_tokens }));
        let plain = Plain {
            model: &self.model,
            max_tokens: self.max_tokens,
            stream: true,
            thinking,
            temperature: self.temperature,
            tools: &self.tools,
            system,
        };
        let mut text = json(&plain);
        text.pop();
        text.push_str(r#","messages":["#);
        text
    }
}

/// Serializing what stands in this file cannot fail: every map has string keys.
fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// The bytes that all requests of a conversation begin with, and that a fork takes over as they are.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Prefix {
    text: String,
    messages: usize,
    marks: usize,
}

/// A request's body. Every turn is serialized once, when it is added, and its bytes are kept: what was sent once is sent
/// again the same way, so that a provider's prompt cache knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestBody {
    prefix: Arc<Prefix>,
    turns: Vec<Arc<str>>,
}

impl RequestBody {
    #[must_use]
    pub fn new(head: &Head) -> Self {
        let marks = usize::from(head.system.iter().any(|text| !text.trim().is_empty()));
        Self { prefix: Arc::new(Prefix { text: head.render(), messages: 0, marks }), turns: Vec::new() }
    }

    pub fn push(&mut self, turn: &Turn) {
        self.turns.push(json(turn).into());
    }

    /// Takes the last turn back: it was built and not sent.
    pub fn pop(&mut self) {
        self.turns.pop();
    }

    /// Turns in it.
    #[must_use]
    pub fn len(&self) -> usize {
        self.prefix.messages + self.turns.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The whole body as it is sent.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let (mut text, _) = self.render();
        text.push_str("]}");
        text.into_bytes()
    }

    /// The body to go on from byte for byte: a request of the result begins with all that [`RequestBody::bytes`] gives
    /// now, without its closing brackets.
    #[must_use]
    pub fn frozen(&self) -> Self {
        let (text, marks) = self.render();
        Self { prefix: Arc::new(Prefix { text, messages: self.len(), marks }), turns: Vec::new() }
    }

    /// The bytes that a frozen body always begins with.
    #[must_use]
    pub fn prefix(&self) -> &[u8] {
        self.prefix.text.as_bytes()
    }

    /// Prefix and turns. The last two turns of the user are cache breakpoints, as far as there are any left: the older of them
    /// finds what the request before has written, the newer one writes for the next.
    fn render(&self) -> (String, usize) {
        let last = self.turns.len().saturating_sub(1);
        let free = MOST_MARKS.saturating_sub(self.prefix.marks).min(2);
        let marked: Vec<usize> = (0..=last)
            .rev()
            .filter(|at| self.turns.get(*at).is_some_and(|turn| can_be_marked(turn)))
            .take(free)
            .collect();
        let size: usize = self.turns.iter().map(|turn| turn.len() + MARK.len() + 1).sum();
        let mut text = String::with_capacity(self.prefix.text.len() + size + 2);
        text.push_str(&self.prefix.text);
        for (at, turn) in self.turns.iter().enumerate() {
            if at > 0 || self.prefix.messages > 0 {
                text.push(',');
            }
            if marked.contains(&at) {
                // A turn ends in `}]}`: the mark goes into its last block.
                text.push_str(&turn[..turn.len() - 3]);
                text.push_str(MARK);
                text.push_str("}]}");
            } else {
                text.push_str(turn);
            }
        }
        (text, self.prefix.marks + marked.len())
    }
}

fn can_be_marked(turn: &str) -> bool {
    turn.starts_with(r#"{"role":"user""#) && turn.ends_with("}]}")
}

#[cfg(test)]
#[path = "wire_tests.rs"]
mod tests;
