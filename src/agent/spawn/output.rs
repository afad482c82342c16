//! TaskOutput: how far a child or a shell is, and what it has put out.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::lifecycle::{End, Event};
use super::nursery::{Nursery, One};
use super::stop::{kind, unknown};
use crate::agent::filter::TASK_OUTPUT;
use crate::agent::tools::{BoxFuture, Context, Kind, Outcome, Possible, Subject, Tool, parse, schema};
use crate::agent::wire::ToolSpec;

/// Longest that one call waits, and how long where nothing is said.
const MOST: Duration = Duration::from_secs(600);
const WAIT: Duration = Duration::from_secs(30);

pub struct TaskOutput(pub Arc<Nursery>);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The id or name of an agent, or the id of a shell.
    #[serde(alias = "shell_id")]
    task_id: String,
    /// Wait until it has ended.
    #[serde(default)]
    block: bool,
    /// How long to wait, in milliseconds.
    #[serde(default)]
    timeout: Option<u64>,
}

impl Tool for TaskOutput {
    fn name(&self) -> &str {
        TASK_OUTPUT
    }

    fn spec(&self, _possible: &Possible) -> ToolSpec {
        let text = "The state of an agent or a shell that you started, how far it is, and the end of its output. An end that you read here is not told \
                    again. You are told of every end by itself: wait with it only where you can do nothing else.";
        ToolSpec::new(self.name(), text, schema::<Input>())
    }

    fn kind(&self) -> Kind {
        Kind::Think
    }

    fn subject(&self, input: &Value, _cx: &Context) -> Subject {
        Subject::of(input["task_id"].as_str().or(input["shell_id"].as_str()).unwrap_or_default())
    }

    fn call<'a>(&'a self, input: Value, cx: &'a Context) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            let input: Input = match parse(TASK_OUTPUT, input) {
                Ok(input) => input,
                Err(refused) => return refused,
            };
            let Some(one) = self.0.find(input.task_id.trim()) else { return unknown(&self.0, &input.task_id) };
            // Nobody lets go of it while it is waited for.
            self.0.step(&one.id, Event::Hold);
            if input.block {
                let ended = self.0.until(|n| n.get(&one.id).is_none_or(|one| one.life.state.ended()).then_some(()));
                let limit = input.timeout.map_or(WAIT, Duration::from_millis).min(MOST);
                tokio::select! {
                    _ = tokio::time::timeout(limit, ended) => {}
                    () = cx.cancel.cancelled() => {}
                }
            }
            let now = self.0.get(&one.id).unwrap_or(one);
            if now.life.state.ended() {
                self.0.step(&now.id, Event::Told);
            }
            self.0.step(&now.id, Event::Release);
            Outcome::text(told(&now, cx.limits.output_bytes))
        })
    }
}

fn told(one: &One, most: usize) -> String {
    let mut head = json!({
        "task_id": one.id,
        "type": kind(one.new.what),
        "status": one.life.state.as_str(),
        "description": one.new.description,
        "output_file": one.output_file,
    });
    if let Some(End::Failed(why)) = one.end() {
        head["error"] = why.as_str().into();
    }
    if let Some(usage) = one.usage() {
        head["usage"] = json!(usage);
        head["recent"] = json!(one.progress.activities);
    }
    let said = match one.result.trim() {
        "" => last(&one.output_file, most).unwrap_or_else(|e| format!("(its output cannot be read: {e})")),
        result => result.to_owned(),
    };
    format!("{head}\n\n{said}")
}

/// The last `most` bytes of a file.
fn last(path: &Path, most: usize) -> std::io::Result<String> {
    let mut file = File::open(path)?;
    let size = file.metadata()?.len();
    let from = size.saturating_sub(most as u64);
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.take(most as u64).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    Ok(if from > 0 { format!("[{from} bytes before this are in the file]\n{text}") } else { text.into_owned() })
}
