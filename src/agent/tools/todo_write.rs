//! TodoWrite: the agent's own list of things to do.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::context::{Todo, TodoStatus, locked};
use super::{BoxFuture, Context, Kind, Outcome, Possible, Tool, ToolEvent, parse, schema};
use crate::agent::wire::ToolSpec;

pub struct TodoWrite;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The whole list, in order; it takes the place of the one before.
    todos: Vec<Todo>,
}

/// More is no list to work by.
const MOST: usize = 100;

const TEXT: &str = "Keeps your list of things to do, which the person sees. Use it for work of three steps or more: write all steps down, \
have exactly one in progress, and mark each as completed as soon as it is.";

impl Tool for TodoWrite {
    fn name(&self) -> &str {
        "TodoWrite"
    }

    fn spec(&self, _possible: &Possible) -> ToolSpec {
        ToolSpec::new(self.name(), TEXT, schema::<Input>())
    }

    fn kind(&self) -> Kind {
        Kind::Think
    }

    fn call<'a>(&'a self, input: Value, cx: &'a Context) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            let Input { todos } = match parse("TodoWrite", input) {
                Ok(input) => input,
                Err(refused) => return refused,
            };
            if todos.len() > MOST {
                return Outcome::error(format!("A list of {} is too long; {MOST} are the most.", todos.len()));
            }
            let open = todos.iter().filter(|todo| todo.status != TodoStatus::Completed).count();
            let active = todos.iter().filter(|todo| todo.status == TodoStatus::InProgress).count();
            locked(&cx.todos).clone_from(&todos);
            cx.show(ToolEvent::Plan(todos));
            let hint = match active {
                0 if open > 0 => " Mark the one you begin with as in_progress.",
                0 | 1 => "",
                _ => " More than one is in progress: work on one at a time.",
            };
            Outcome::text(format!("The list is kept: {open} open.{hint}"))
        })
    }
}
