//! Recorded answers: what examples and tests run on, without a key and without a network.
//!
//! A cassette is a file of JSON lines. Each line has an answer (`reply`) and says what it answers (`when`); a request gets the first
//! unused line that fits it. Lines are matched by what is asked and not by their order, since children ask at the same time.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{BoxFuture, Call, Events, Failure, Provider, StreamEvent};

/// The newest version of the format.
const VERSION: u32 = 1;
/// Characters of a request that are shown where nothing fits it.
const SHOWN: usize = 300;

/// One line of a cassette.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exchange {
    #[serde(default = "version")]
    pub v: u32,
    #[serde(default)]
    pub when: When,
    /// Whether it may answer more than once.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub repeat: bool,
    pub reply: Reply,
}

fn version() -> u32 {
    VERSION
}

/// Which requests are meant. All that is said must fit; an empty one fits everything.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct When {
    /// The kind of loop that asks: `main`, `fork`, `compact` or the name of a definition.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Is part of the system prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    /// Is part of the last message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last: Option<String>,
    /// Is part of any message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub any: Option<String>,
    /// Is part of no message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not: Option<String>,
    /// How many messages there are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub messages: Option<usize>,
}

/// What comes back. Either `content` or `events`, or an error `status`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Reply {
    /// The blocks of the answer. In their texts `${cwd}` stands for the folder that the agent works in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<Vec<Value>>,
    /// `tool_use` where the content has a call, else `end_turn`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Value>,
    /// The events themselves, where it matters how they come.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub events: Option<Vec<Value>>,
    /// An error instead of an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<f64>,
    /// The stream breaks after so many events.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut_after: Option<usize>,
    /// Milliseconds before the answer begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay_ms: Option<u64>,
}

impl When {
    /// Whether it is this request that is meant.
    #[must_use]
    pub fn fits(&self, source: &str, body: &Value) -> bool {
        let part = |wanted: &Option<String>, has: &dyn Fn() -> String| {
            wanted.as_ref().is_none_or(|wanted| has().contains(wanted.as_str()))
        };
        let empty = Vec::new();
        let messages = body["messages"].as_array().unwrap_or(&empty);
        let all = || messages.iter().map(words).collect::<Vec<_>>().join("\n");
        self.source.as_deref().is_none_or(|wanted| wanted == source)
            && self.messages.is_none_or(|wanted| wanted == messages.len())
            && part(&self.last, &|| last_words(body))
            && part(&self.system, &|| words(&json!({ "content": body["system"] })))
            && part(&self.any, &all)
            && self.not.as_ref().is_none_or(|unwanted| !all().contains(unwanted.as_str()))
    }
}

impl Reply {
    /// The events of this answer, in order.
    #[must_use]
    pub fn events(&self, cwd: &str) -> Vec<Value> {
        let mut events = match &self.events {
            Some(events) => events.clone(),
            None => self.made_events(),
        };
        if let Some(kept) = self.cut_after {
            events.truncate(kept);
        }
        events.iter_mut().for_each(|event| fill(event, cwd));
        events
    }

    fn made_events(&self) -> Vec<Value> {
        let content = self.content.clone().unwrap_or_default();
        let calls = content.iter().any(|block| block["type"] == "tool_use");
        let stop = self.stop_reason.as_deref().unwrap_or(if calls { "tool_use" } else { "end_turn" });
        let usage = self.usage.clone().unwrap_or_else(|| json!({ "input_tokens": 1, "output_tokens": 1 }));
        let mut events = vec![json!({ "type": "message_start", "message": {
            "id": "msg_recorded", "type": "message", "role": "assistant", "model": "recorded", "content": [], "usage": usage } })];
        for (index, block) in content.iter().enumerate() {
            let (start, deltas) = split(block);
            events.push(json!({ "type": "content_block_start", "index": index, "content_block": start }));
            for delta in deltas {
                events.push(json!({ "type": "content_block_delta", "index": index, "delta": delta }));
            }
            events.push(json!({ "type": "content_block_stop", "index": index }));
        }
        let told = json!({ "output_tokens": usage["output_tokens"] });
        events.push(json!({ "type": "message_delta", "delta": { "stop_reason": stop }, "usage": told }));
        events.push(json!({ "type": "message_stop" }));
        events
    }

    /// The failure that stands in place of an answer.
    #[must_use]
    pub fn failure(&self) -> Option<Failure> {
        let status = self.status?;
        let error = json!({ "error": { "type": "", "message": self.message.as_deref().unwrap_or("as recorded") } });
        let wait = self.retry_after.filter(|s| s.is_finite() && *s >= 0.0).map(Duration::from_secs_f64);
        Some(Failure::refused(status, wait, error.to_string().as_bytes()))
    }
}

/// A block as it begins, and what is added to it.
fn split(block: &Value) -> (Value, Vec<Value>) {
    let mut start = block.clone();
    match block["type"].as_str() {
        Some("text") => {
            start["text"] = "".into();
            (start, vec![json!({ "type": "text_delta", "text": block["text"] })])
        }
        Some("thinking") => {
            start["thinking"] = "".into();
            start["signature"] = "".into();
            let signature = block["signature"].as_str().unwrap_or_default();
            let thought = json!({ "type": "thinking_delta", "thinking": block["thinking"] });
            (start, vec![thought, json!({ "type": "signature_delta", "signature": signature })])
        }
        Some("tool_use") => {
            start["input"] = json!({});
            (start, vec![json!({ "type": "input_json_delta", "partial_json": block["input"].to_string() })])
        }
        _ => (start, Vec::new()),
    }
}

/// Puts the folder where `${cwd}` stands. Arguments of calls travel as JSON in a text, so it is escaped there.
fn fill(value: &mut Value, cwd: &str) {
    match value {
        Value::String(text) if text.contains("${cwd}") => *text = text.replace("${cwd}", cwd),
        Value::Array(items) => items.iter_mut().for_each(|item| fill(item, cwd)),
        Value::Object(map) => {
            let json = map.get("type").is_some_and(|kind| kind == "input_json_delta");
            let quoted = Value::from(cwd).to_string();
            let inner = quoted.get(1..quoted.len() - 1).unwrap_or_default();
            let cwd = if json { inner } else { cwd };
            map.values_mut().for_each(|item| fill(item, cwd));
        }
        _ => {}
    }
}

/// The words of a message: its texts, the results of tools, the arguments of calls.
fn words(message: &Value) -> String {
    fn collect(content: &Value, out: &mut Vec<String>) {
        match content {
            Value::String(text) => out.push(text.clone()),
            Value::Array(blocks) => {
                for block in blocks {
                    out.extend(block["text"].as_str().map(str::to_owned));
                    if block["type"] == "tool_use" {
                        out.push(format!("{} {}", block["name"].as_str().unwrap_or_default(), block["input"]));
                    }
                    collect(&block["content"], out);
                }
            }
            _ => {}
        }
    }
    let mut out = Vec::new();
    collect(&message["content"], &mut out);
    out.join("\n")
}

/// The words of the last message of a request.
#[must_use]
pub(super) fn last_words(body: &Value) -> String {
    body["messages"].as_array().and_then(|all| all.last()).map(words).unwrap_or_default()
}

/// Plays recorded answers.
pub struct Cassette {
    name: String,
    cwd: PathBuf,
    lines: Mutex<Vec<Line>>,
}

struct Line {
    exchange: Exchange,
    used: bool,
}

impl Cassette {
    /// Reads a cassette from a file.
    ///
    /// # Errors
    /// A file that is not there, or a line that is not one of a cassette.
    pub fn open(path: &Path, cwd: &Path) -> Result<Self, Failure> {
        let text = std::fs::read_to_string(path)
            .map_err(|e| Failure::Settings(format!("cannot read the cassette {}: {e}", path.display())))?;
        Self::from_text(&path.display().to_string(), &text, cwd)
    }

    /// Reads a cassette from its text; `name` is for error messages.
    ///
    /// # Errors
    /// A line that is not one of a cassette.
    pub fn from_text(name: &str, text: &str, cwd: &Path) -> Result<Self, Failure> {
        let mut lines = Vec::new();
        for (n, line) in text.lines().enumerate() {
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            let wrong = |why: String| Failure::Settings(format!("{name}:{}: {why}", n + 1));
            let exchange: Exchange =
                serde_json::from_str(line).map_err(|e| wrong(format!("no line of a cassette: {e}")))?;
            if exchange.v > VERSION {
                return Err(wrong(format!("version {} is newer than this program", exchange.v)));
            }
            lines.push(Line { exchange, used: false });
        }
        Ok(Self { name: name.to_owned(), cwd: cwd.to_owned(), lines: Mutex::new(lines) })
    }

    /// Takes the answer to a request.
    ///
    /// # Errors
    /// Where no unused line fits.
    pub fn take(&self, source: &str, body: &Value) -> Result<Reply, Failure> {
        let mut lines = self.lines.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let fits = |line: &&mut Line| (!line.used || line.exchange.repeat) && line.exchange.when.fits(source, body);
        match lines.iter_mut().find(fits) {
            Some(line) => {
                line.used = true;
                Ok(line.exchange.reply.clone())
            }
            None => {
                let last: String = last_words(body).chars().take(SHOWN).collect();
                let left = lines.iter().filter(|line| !line.used).count();
                Err(Failure::Cassette(format!(
                    "{} has no answer (of {left} unused) for a request of `{source}` whose last message begins: {last}",
                    self.name
                )))
            }
        }
    }

    /// Lines that answered nothing yet.
    #[must_use]
    pub fn unused(&self) -> usize {
        let lines = self.lines.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        lines.iter().filter(|line| !line.used && !line.exchange.repeat).count()
    }
}

impl Provider for Cassette {
    fn send<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<Events, Failure>> {
        Box::pin(async move {
            let body: Value = serde_json::from_slice(&call.body)
                .map_err(|e| Failure::Cassette(format!("the request is no JSON: {e}")))?;
            let reply = self.take(&call.source, &body)?;
            if let Some(ms) = reply.delay_ms {
                tokio::time::sleep(Duration::from_millis(ms)).await;
            }
            if let Some(failure) = reply.failure() {
                return Err(failure);
            }
            let events = reply.events(&self.cwd.display().to_string());
            let events = events.into_iter().map(|event| {
                serde_json::from_value::<StreamEvent>(event)
                    .map_err(|e| Failure::Cassette(format!("{}: {e}", self.name)))
            });
            Ok(Box::pin(futures::stream::iter(events.collect::<Vec<_>>())) as Events)
        })
    }
}

#[cfg(test)]
#[path = "cassette_tests.rs"]
mod tests;
