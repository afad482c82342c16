//! TaskStop: ends a child or a shell that runs.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::lifecycle::Event;
use super::nursery::Nursery;
use crate::agent::filter::TASK_STOP;
use crate::agent::notification::What;
use crate::agent::tools::{BoxFuture, Context, Kind, Outcome, Possible, Subject, Tool, parse, schema};
use crate::agent::wire::ToolSpec;

pub struct TaskStop(pub Arc<Nursery>);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The id or name of an agent, or the id of a shell.
    #[serde(alias = "shell_id")]
    task_id: String,
}

impl Tool for TaskStop {
    fn name(&self) -> &str {
        TASK_STOP
    }

    fn spec(&self, _possible: &Possible) -> ToolSpec {
        let text = "Ends an agent or a shell that you started, with every process of it. What it printed stays. You are told of its end as always.";
        ToolSpec::new(self.name(), text, schema::<Input>())
    }

    fn kind(&self) -> Kind {
        Kind::Think
    }

    fn subject(&self, input: &Value, _cx: &Context) -> Subject {
        Subject::of(input["task_id"].as_str().or(input["shell_id"].as_str()).unwrap_or_default())
    }

    fn call<'a>(&'a self, input: Value, _cx: &'a Context) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            let Input { task_id } = match parse(TASK_STOP, input) {
                Ok(input) => input,
                Err(refused) => return refused,
            };
            let Some(one) = self.0.find(task_id.trim()) else { return unknown(&self.0, &task_id) };
            if let Some(end) = one.end() {
                return Outcome::error(format!("{} has ended already: {}.", one.id, end.as_str()));
            }
            self.0.step(&one.id, Event::Kill);
            Outcome::text(
                json!({ "task_id": one.id, "type": kind(one.new.what), "command": one.new.kind, "status": "stopping" })
                    .to_string(),
            )
        })
    }
}

pub(super) fn kind(what: What) -> &'static str {
    match what {
        What::Agent => "agent",
        What::Shell => "shell",
    }
}

/// What is said of an id that nobody has.
pub(super) fn unknown(nursery: &Nursery, word: &str) -> Outcome {
    let there: Vec<String> = nursery
        .all()
        .iter()
        .map(|one| format!("{} ({}, {})", one.id, one.new.description, one.life.state.as_str()))
        .collect();
    let there = if there.is_empty() {
        "Nothing was started yet.".to_owned()
    } else {
        format!("There are: {}.", there.join("; "))
    };
    let word: String = word.chars().take(80).collect();
    Outcome::error(format!("There is no task {word:?}. {there}"))
}
