//! From the events of a stream to one turn of the assistant.

use std::collections::{BTreeMap, HashSet};

use serde_json::Value;

use super::provider::{Delta, Failure, StreamEvent};
use super::wire::{Block, Turn, Usage};

/// Longest arguments of one call, in bytes. What is longer is refused and not parsed.
const MOST_INPUT: usize = 16 << 20;

/// A whole answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    pub turn: Turn,
    /// As the model's server says it: `end_turn`, `tool_use`, `max_tokens`, …
    pub stop: String,
    pub usage: Usage,
    /// Calls whose arguments cannot be used, by id, and why.
    pub bad_inputs: Vec<(String, String)>,
}

/// Something to show while it comes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    Text(String),
    Thinking(String),
    /// A call begins: its id and name. Its arguments are still on their way.
    Call(String, String),
}

/// An answer that is still coming.
#[derive(Debug, Default)]
pub struct Assembly {
    blocks: BTreeMap<usize, Open>,
    usage: Usage,
    stop: Option<String>,
    ended: bool,
}

#[derive(Debug)]
struct Open {
    block: Block,
    /// Arguments as far as they came.
    json: String,
    too_long: bool,
}

impl Assembly {
    /// Takes one event.
    ///
    /// # Errors
    /// What the stream itself tells of, and events that fit nothing.
    pub fn take(&mut self, event: StreamEvent) -> Result<Option<Piece>, Failure> {
        match event {
            StreamEvent::MessageStart { message } => self.usage = message.usage,
            StreamEvent::ContentBlockStart { index, content_block } => return Ok(self.start(index, content_block)),
            StreamEvent::ContentBlockDelta { index, delta } => {
                let Some(open) = self.blocks.get_mut(&index) else {
                    return Err(Failure::Cut(format!("block {index} goes on without having begun")));
                };
                return Ok(open.add(delta));
            }
            StreamEvent::MessageDelta { delta, usage } => {
                self.stop = delta.stop_reason.or(self.stop.take());
                self.count(&usage);
            }
            StreamEvent::MessageStop => self.ended = true,
            StreamEvent::Error { error } => return Err(Failure::Told { kind: error.kind, message: error.message }),
            StreamEvent::ContentBlockStop { .. } | StreamEvent::Ping | StreamEvent::Other(_) => {}
        }
        Ok(None)
    }

    fn start(&mut self, index: usize, block: Block) -> Option<Piece> {
        let piece = match &block {
            Block::Text { text, .. } if !text.is_empty() => Some(Piece::Text(text.clone())),
            Block::ToolUse { id, name, .. } => Some(Piece::Call(id.clone(), name.clone())),
            _ => None,
        };
        self.blocks.insert(index, Open { block, json: String::new(), too_long: false });
        piece
    }

    /// Later figures are totals and replace the earlier ones; what is not told stays.
    fn count(&mut self, told: &Value) {
        let set = |name: &str, field: &mut u64| {
            if let Some(n) = told[name].as_u64() {
                *field = n;
            }
        };
        set("input_tokens", &mut self.usage.input_tokens);
        set("output_tokens", &mut self.usage.output_tokens);
        set("cache_creation_input_tokens", &mut self.usage.cache_creation_input_tokens);
        set("cache_read_input_tokens", &mut self.usage.cache_read_input_tokens);
    }

    /// The answer, once the stream has ended.
    ///
    /// # Errors
    /// Where it ended too early.
    pub fn finish(self) -> Result<Answer, Failure> {
        let Some(stop) = self.stop.filter(|_| self.ended) else {
            return Err(Failure::Cut("the stream ended before the answer did".to_owned()));
        };
        let mut content = Vec::new();
        let mut bad_inputs = Vec::new();
        let mut ids = HashSet::new();
        for open in self.blocks.into_values() {
            let (mut block, why) = open.close();
            if let Block::ToolUse { id, .. } = &mut block {
                // A result names its call by id, so two calls of one id could not both be answered.
                while !ids.insert(id.clone()) {
                    id.push('x');
                }
                bad_inputs.extend(why.map(|why| (id.clone(), why)));
            }
            if !block.is_blank() {
                content.push(block);
            }
        }
        Ok(Answer { turn: Turn::assistant(content), stop, usage: self.usage, bad_inputs })
    }

    /// What has come so far, for a turn that is cancelled: whole texts only, no calls.
    #[must_use]
    pub fn so_far(&self) -> Vec<Block> {
        let texts = self.blocks.values().filter_map(|open| open.block.as_text());
        texts.filter(|text| !text.trim().is_empty()).map(Block::text).collect()
    }

    #[must_use]
    pub fn usage(&self) -> Usage {
        self.usage
    }
}

impl Open {
    fn add(&mut self, delta: Delta) -> Option<Piece> {
        match (delta, &mut self.block) {
            (Delta::TextDelta { text: more }, Block::Text { text, .. }) => {
                text.push_str(&more);
                return Some(Piece::Text(more));
            }
            (Delta::ThinkingDelta { thinking: more }, Block::Thinking { thinking, .. }) => {
                thinking.push_str(&more);
                return Some(Piece::Thinking(more));
            }
            (Delta::SignatureDelta { signature: more }, Block::Thinking { signature, .. }) => signature.push_str(&more),
            (Delta::InputJsonDelta { partial_json }, _) => {
                if self.json.len() + partial_json.len() > MOST_INPUT {
                    self.too_long = true;
                } else {
                    self.json.push_str(&partial_json);
                }
            }
            (Delta::CitationsDelta { citation }, Block::Text { extra, .. }) => {
                let list = extra.entry("citations").or_insert_with(|| Value::Array(Vec::new()));
                if !list.is_array() {
                    *list = Value::Array(Vec::new());
                }
                if let Value::Array(list) = list {
                    list.push(citation);
                }
            }
            _ => {}
        }
        None
    }

    /// The whole block, and why its arguments cannot be used, if they cannot.
    fn close(mut self) -> (Block, Option<String>) {
        let mut why = None;
        let parsed = if self.too_long {
            why = Some(format!("the arguments are longer than {MOST_INPUT} bytes; split the work into smaller calls"));
            None
        } else if self.json.trim().is_empty() {
            None
        } else {
            match serde_json::from_str::<Value>(&self.json) {
                Ok(value) => Some(value),
                Err(e) => {
                    why = Some(format!("the arguments are not valid JSON ({e}); call again with a JSON object"));
                    None
                }
            }
        };
        match &mut self.block {
            Block::ToolUse { input, .. } => {
                if let Some(value) = parsed {
                    *input = value;
                }
                // Whatever it was: a provider takes objects only.
                if !input.is_object() {
                    why.get_or_insert_with(|| "the arguments must be a JSON object".to_owned());
                    *input = Value::Object(serde_json::Map::new());
                }
            }
            Block::Other(Value::Object(other)) => {
                if let Some(value) = parsed {
                    other.insert("input".to_owned(), value);
                }
            }
            _ => {}
        }
        (self.block, why)
    }
}

#[cfg(test)]
#[path = "stream_tests.rs"]
mod tests;
