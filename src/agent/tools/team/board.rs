//! TaskCreate, TaskGet, TaskList and TaskUpdate: the team's board.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::Seat;
use crate::act::{Verb, task};
use crate::agent::tools::{BoxFuture, Context, Kind, Outcome, Possible, Tool, parse, schema};
use crate::agent::wire::ToolSpec;
use crate::model::id::TaskId;
use crate::model::name::Name;
use crate::model::task::{NewTask, TaskResult};

pub struct TaskCreate(pub Seat);
pub struct TaskGet(pub Seat);
pub struct TaskList(pub Seat);
pub struct TaskUpdate(pub Seat);

/// A task's number, however the model writes it.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Id {
    Text(String),
    Number(u64),
}

impl Id {
    fn read(&self) -> Result<TaskId, Outcome> {
        let text = match self {
            Self::Text(text) => text.clone(),
            Self::Number(number) => number.to_string(),
        };
        text.parse().map_err(|_| Outcome::error(format!("{text:?} is no task's number. TaskList shows them.")))
    }
}

fn name(text: &str) -> Result<Name, Outcome> {
    Name::parse(text).map_err(|e| Outcome::error(format!("{text:?} cannot be a member's name: {e}.")))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Create {
    /// What is to be done, in a few words.
    subject: String,
    /// All that whoever takes it needs to know.
    #[serde(default)]
    description: String,
    /// The subject while it is being done: "Counting lines".
    #[serde(default)]
    active_form: Option<String>,
    /// Who alone may take it.
    #[serde(default)]
    owner: Option<String>,
    /// Tasks that must be completed first.
    #[serde(default)]
    blocked_by: Vec<Id>,
    #[serde(default)]
    metadata: Map<String, Value>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Get {
    /// The task's number.
    task_id: Id,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Nothing {}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Status {
    /// Give it back.
    Pending,
    /// Take it.
    InProgress,
    Completed,
    Failed,
    Deleted,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Update {
    /// The task's number.
    task_id: Id,
    #[serde(default)]
    status: Option<Status>,
    /// What came out of it, with completed; why not, with failed.
    #[serde(default)]
    result: Option<String>,
}

async fn create(seat: &Seat, input: Value) -> Result<Outcome, Outcome> {
    let Create { subject, description, active_form, owner, blocked_by, metadata } = parse("TaskCreate", input)?;
    let owner = owner.as_deref().map(name).transpose()?;
    let blocked_by = blocked_by.iter().map(Id::read).collect::<Result<_, _>>()?;
    let task = NewTask {
        subject,
        description,
        active_form,
        owner,
        blocked_by,
        blocks: Vec::new(),
        requires: Vec::new(),
        run: None,
        timeout: None,
        retries: 0,
        metadata,
    };
    seat.perform(Verb::TaskAdd { task }).await.map(|task| Outcome::text(task.to_string()))
}

async fn get(seat: &Seat, input: Value) -> Result<Outcome, Outcome> {
    let id = parse::<Get>("TaskGet", input)?.task_id.read()?;
    let found = seat.look(move |desk| Ok(desk.board.view()?.board.get(id).map(|task| serde_json::json!(task)))).await?;
    found
        .map(|task| Outcome::text(task.to_string()))
        .ok_or_else(|| Outcome::error(format!("There is no task {id}. TaskList shows those that there are.")))
}

async fn list(seat: &Seat, input: Value) -> Result<Outcome, Outcome> {
    let Nothing {} = parse("TaskList", input)?;
    let tasks = seat.look(task::list).await?;
    let line = |task: &Value| {
        let waits = task["blocked_by"].as_array().filter(|all| !all.is_empty());
        let waits = waits.map(|all| format!(", after {}", Value::Array(all.clone()))).unwrap_or_default();
        let owner = task["owner"].as_str().map(|owner| format!(", {owner}")).unwrap_or_default();
        let word = |key: &str| task[key].as_str().unwrap_or_default().to_owned();
        format!("{} [{}{owner}{waits}] {}", word("id"), word("status"), word("subject"))
    };
    let lines: Vec<String> = tasks.iter().map(line).collect();
    Ok(Outcome::text(if lines.is_empty() { "The board is empty.".to_owned() } else { lines.join("\n") }))
}

async fn update(seat: &Seat, input: Value) -> Result<Outcome, Outcome> {
    let Update { task_id, status, result } = parse("TaskUpdate", input)?;
    let id = task_id.read()?;
    let said = |text: Option<String>| TaskResult { text: text.unwrap_or_default(), ..TaskResult::default() };
    let verb = match status {
        Some(Status::Pending) => Verb::TaskRelease { id, epoch: None },
        Some(Status::InProgress) => Verb::TaskClaim { id: Some(id) },
        Some(Status::Completed) => Verb::TaskDone { id, epoch: None, result: said(result) },
        Some(Status::Failed) => {
            Verb::TaskFail { id, epoch: None, result: TaskResult { error: result, ..TaskResult::default() } }
        }
        Some(Status::Deleted) => Verb::TaskRm { id },
        None => return Err(Outcome::error("Nothing was changed: say which status the task is to have.")),
    };
    seat.perform(verb).await.map(|task| Outcome::text(task.to_string()))
}

macro_rules! board_tool {
    ($tool:ident, $input:ty, $does:ident, $text:literal) => {
        impl Tool for $tool {
            fn name(&self) -> &str {
                stringify!($tool)
            }

            fn spec(&self, _possible: &Possible) -> ToolSpec {
                ToolSpec::new(self.name(), $text, schema::<$input>())
            }

            fn kind(&self) -> Kind {
                Kind::Think
            }

            fn call<'a>(&'a self, input: Value, _cx: &'a Context) -> BoxFuture<'a, Outcome> {
                Box::pin(async move { $does(&self.0, input).await.unwrap_or_else(|refused| refused) })
            }
        }
    };
}

board_tool!(TaskCreate, Create, create, "Puts a task on the team's board, for whoever takes it.");
board_tool!(TaskGet, Get, get, "Shows one task of the team's board, whole.");
board_tool!(TaskList, Nothing, list, "Lists the tasks of the team's board.");
board_tool!(
    TaskUpdate,
    Update,
    update,
    "Takes a task of the team's board (in_progress), ends it (completed, failed), gives it back (pending) or takes it away (deleted). \
     Complete a task as soon as it is done, and only when it is."
);
