//! The board.

use std::time::Duration;

use serde_json::{Value, json};

use super::answer::{MOST_CHARS, MOST_TEXT, Result, cut};
use super::mail::someone;
use super::params::{Status, TaskCreate, TaskGet, TaskList, TaskUpdate};
use super::wait::Call;
use crate::act::{ActError, Client, Verb};
use crate::decide::authority::Authority;
use crate::decide::board::Caller;
use crate::model::id::TaskId;
use crate::model::task::{NewTask, Task, TaskResult, TaskStatus};
use crate::model::time::Span;

/// Tasks in one answer where nothing is said.
const TASKS: usize = 50;
/// Most tasks in one answer.
const MOST_TASKS: usize = 200;

pub(super) async fn create(call: &Call, given: TaskCreate) -> Result {
    let task = NewTask {
        subject: given.subject,
        description: given.description,
        owner: given.owner.as_deref().map(someone).transpose()?,
        blocked_by: given.blocked_by.iter().map(|id| task_id(id)).collect::<Result<_>>()?,
        requires: given.requires,
        run: given.run,
        timeout: given.timeout_seconds.map(|s| Span(Duration::from_secs(s))),
        retries: given.retries,
        ..NewTask::default()
    };
    changed(call, Verb::TaskAdd { task }).await
}

pub(super) async fn list(call: &Call, given: TaskList) -> Result {
    let owner = given.owner.as_deref().map(someone).transpose()?;
    let after = given.after.as_deref().map(task_id).transpose()?;
    let (status, claimable) = (given.status.map(status), given.claimable);
    let limit = given.limit.unwrap_or(TASKS).clamp(1, MOST_TASKS);
    call.session
        .with(move |client| {
            let mine = if claimable { Some(claimable_by(client)?) } else { None };
            let board = &client.desk.board.view()?.board;
            let mut found: Vec<&Task> = board
                .tasks()
                .values()
                .filter(|t| status.map_or(t.status != TaskStatus::Deleted, |s| t.status == s))
                .filter(|t| owner.as_ref().is_none_or(|owner| t.owner.as_ref() == Some(owner)))
                .filter(|t| after.is_none_or(|after| t.id > after))
                .filter(|t| mine.as_ref().is_none_or(|mine| mine.contains(&t.id)))
                .collect();
            let mut more = found.len().saturating_sub(limit);
            found.truncate(limit);
            let mut out: Vec<Value> = Vec::new();
            let mut chars = 0;
            for task in &found {
                let line = line(task);
                chars += line.to_string().chars().count();
                if chars > MOST_CHARS - 500 {
                    more += found.len() - out.len();
                    break;
                }
                out.push(line);
            }
            let mut answer = json!({"tasks": out});
            if more > 0 {
                answer["more"] = json!(format!("{more} more; call task_list with `after` set to the last id"));
            }
            Ok(answer)
        })
        .await
}

pub(super) async fn get(call: &Call, given: TaskGet) -> Result {
    let id = task_id(&given.id)?;
    call.session
        .with(move |client| {
            let board = &client.desk.board.view()?.board;
            let Some(task) = board.get(id) else {
                return Err(ActError::not_found(format!("no task {id}")));
            };
            let mut out = json!(task);
            shorten(&mut out["description"]);
            if let Some(text) = out["result"].get_mut("text") {
                shorten(text);
            }
            Ok(out)
        })
        .await
}

pub(super) async fn update(call: &Call, given: TaskUpdate) -> Result {
    let id = given.id.as_deref().map(task_id).transpose()?;
    let named = || id.ok_or_else(|| ActError::usage("`id` is missing: which task?"));
    let result = TaskResult {
        text: given.result.clone().unwrap_or_default(),
        error: given.error.clone(),
        ..TaskResult::default()
    };
    let verb = match (given.status, &given.owner) {
        (Some(_), Some(_)) => return Err(ActError::usage("give `status` or `owner`, one at a time")),
        (None, None) => return Err(ActError::usage("give `status`, or `owner` to assign the task")),
        (None, Some(owner)) => Verb::TaskAssign { id: named()?, member: Some(someone(owner)?) },
        (Some(Status::InProgress), None) => Verb::TaskClaim { id },
        (Some(Status::Completed), None) => Verb::TaskDone { id: named()?, epoch: None, result },
        (Some(Status::Failed), None) => Verb::TaskFail { id: named()?, epoch: None, result },
        (Some(Status::Pending), None) => Verb::TaskRelease { id: named()?, epoch: None },
        (Some(Status::Deleted), None) => Verb::TaskRm { id: named()? },
    };
    let ends = matches!(given.status, Some(Status::Completed | Status::Failed));
    if !ends && (given.result.is_some() || given.error.is_some()) {
        return Err(ActError::usage("`result` and `error` go with status completed or failed"));
    }
    let claims = matches!(verb, Verb::TaskClaim { .. });
    let answer = call.session.perform(verb).await?;
    let task = answer.value;
    // Whoever claims a task goes on to work on it: it gets the whole of it.
    if claims {
        let mut task = task;
        shorten(&mut task["description"]);
        return Ok(task);
    }
    Ok(short(&task))
}

async fn changed(call: &Call, verb: Verb) -> Result {
    Ok(short(&call.session.perform(verb).await?.value))
}

/// A task of an answer in a line.
fn short(task: &Value) -> Value {
    match serde_json::from_value::<Task>(task.clone()) {
        Ok(task) => line(&task),
        Err(_) => task.clone(),
    }
}

fn line(task: &Task) -> Value {
    let mut out = json!({"id": task.id, "status": task.status, "subject": cut(&task.subject, 200).0});
    if let Some(owner) = &task.owner {
        out["owner"] = json!(owner);
    }
    if !task.blocked_by.is_empty() && !task.status.ended() {
        out["blocked_by"] = json!(task.blocked_by);
    }
    if let Some(error) = task.result.as_ref().and_then(|r| r.error.as_ref()) {
        out["error"] = json!(cut(error, 200).0);
    }
    out
}

fn shorten(text: &mut Value) {
    let Some(whole) = text.as_str() else { return };
    if let (part, more @ 1..) = cut(whole, MOST_TEXT) {
        *text = json!(format!("{part}\n… {more} more characters"));
    }
}

/// The tasks that the caller could claim now.
fn claimable_by(client: &mut Client) -> Result<Vec<TaskId>> {
    let name = client.name();
    if client.is_operator() {
        return Err(ActError::forbidden("the operator claims no tasks"));
    }
    let team = client.desk.team()?;
    let limit = team.settings.limits.claims_per_member;
    let member = team.member(&name);
    let capabilities = member.and_then(|m| m.spec.as_ref()).map(|s| s.capabilities.clone()).unwrap_or_default();
    let life = member.and_then(|m| m.life);
    let caller = Caller { name, life, authority: Authority::Member, capabilities: &capabilities, claim_limit: limit };
    Ok(client.desk.board.view()?.board.claimable_by(&caller))
}

fn task_id(text: &str) -> Result<TaskId> {
    text.trim().parse().map_err(|_| ActError::usage(format!("`{text}` is no task; tasks are numbered 1, 2, 3, …")))
}

fn status(given: Status) -> TaskStatus {
    match given {
        Status::Pending => TaskStatus::Pending,
        Status::InProgress => TaskStatus::InProgress,
        Status::Completed => TaskStatus::Completed,
        Status::Failed => TaskStatus::Failed,
        Status::Deleted => TaskStatus::Deleted,
    }
}
