//! The board's verbs: decided under the board's lock, then told to whom it concerns.

use serde_json::{Value, json};

use super::board::BoardLog;
use super::desk::Desk;
use super::error::ActError;
use super::verb::{Answer, Verb};
use super::who::Who;
use crate::decide::authority::Authority;
use crate::decide::board::{Board, BoardError, Caller, Changed};
use crate::model::id::{MessageId, TaskId};
use crate::model::message::{Body, Lane, Message, Report, ReportStatus};
use crate::model::task::{Task, TaskResult, TaskStatus};
use crate::model::time::Timestamp;
use crate::model::tree::Tree;
use crate::os::clock;
use crate::store::{Durability, StateLog, mailbox};

/// Does one verb on the board. The answer is the task the verb was about.
pub(super) fn task(desk: &mut Desk, who: &Who, verb: Verb) -> Result<Answer, ActError> {
    if let Verb::TaskAssign { member: Some(name), .. } = &verb {
        let member = desk.member(name)?;
        if name.is_lead() {
            return Err(ActError::forbidden("the lead takes no tasks"));
        }
        if !member.is_active {
            return Err(ActError::forbidden(format!("`{name}` has ended"))
                .hint(format!("`crewmux restart {name}` starts it again")));
        }
    }
    let (capabilities, claim_limit) = rights(desk, who)?;
    let caller = Caller {
        name: who.name.clone(),
        life: who.life,
        authority: who.authority,
        capabilities: &capabilities,
        claim_limit,
    };
    let assigned = matches!(verb, Verb::TaskAssign { member: Some(_), .. });
    let ends = matches!(verb, Verb::TaskDone { .. } | Verb::TaskFail { .. });
    let changed = decide(&mut desk.board, |board, now| match verb {
        Verb::TaskAdd { task } => board.add(&caller, task, now),
        Verb::TaskClaim { id } => board.claim(&caller, id, now),
        Verb::TaskDone { id, epoch, result } => board.done(&caller, id, epoch, result, now),
        Verb::TaskFail { id, epoch, result } => board.fail(&caller, id, epoch, result, now),
        Verb::TaskRelease { id, epoch } => board.release(&caller, id, epoch, now),
        Verb::TaskAssign { id, member } => board.assign(&caller, id, member, now),
        Verb::TaskRm { id } => board.rm(&caller, id, now),
        other => unreachable_verb(board, &other),
    })?;
    let Some(task) = changed.tasks.first().cloned() else {
        return Ok(Answer::default());
    };
    if assigned {
        tell_assigned(desk, who, &task)?;
    }
    if ends && who.authority == Authority::Member && task.status.ended() {
        report(desk, who, &task)?;
    }
    Ok(Answer::of(json!(task)))
}

/// The task as a `task add` or `task done` would leave it. Nothing is written.
pub(super) fn tried(desk: &mut Desk, who: &Who, verb: &Verb) -> Result<Option<Task>, ActError> {
    let (capabilities, claim_limit) = rights(desk, who)?;
    let caller = Caller {
        name: who.name.clone(),
        life: who.life,
        authority: who.authority,
        capabilities: &capabilities,
        claim_limit,
    };
    let (board, now) = (&desk.board.view()?.board, clock::now());
    let changed = match verb {
        Verb::TaskAdd { task } => board.add(&caller, task.clone(), now),
        Verb::TaskDone { id, epoch, result } => board.done(&caller, *id, *epoch, result.clone(), now),
        other => unreachable_verb(board, other),
    }?;
    Ok(changed.tasks.first().cloned())
}

/// `task` is called by the door with the board's verbs alone; anything else names nothing on the board.
fn unreachable_verb(board: &Board, verb: &Verb) -> Result<Changed, BoardError> {
    debug_assert!(false, "`{}` is not a verb of the board", verb.word());
    Err(BoardError::NotFound { id: TaskId(0), known: format!("{} tasks", board.tasks().len()) })
}

/// Decides under the lock, writes durably, and returns what changed.
pub fn decide(
    log: &mut StateLog<BoardLog>,
    decide: impl FnOnce(&Board, Timestamp) -> Result<Changed, BoardError>,
) -> Result<Changed, ActError> {
    let done = log.update(|state, now| {
        let changed = decide(&state.board, now)?;
        Ok::<_, BoardError>((changed.clone(), vec![changed.record]))
    })?;
    Ok(done?)
}

fn rights(desk: &mut Desk, who: &Who) -> Result<(Vec<String>, usize), ActError> {
    let team = desk.team()?;
    let limit = team.settings.limits.claims_per_member;
    let capabilities = team.member(&who.name).and_then(|m| m.spec.as_ref()).map(|s| s.capabilities.clone());
    if who.authority == Authority::Member && team.member(&who.name).is_none_or(|m| !m.is_active) {
        return Err(ActError::forbidden(format!("`{}` is not in the roster", who.name)));
    }
    Ok((capabilities.unwrap_or_default(), limit))
}

fn tell_assigned(desk: &mut Desk, who: &Who, task: &Task) -> Result<(), ActError> {
    let Some(owner) = task.owner.clone().filter(|owner| *owner != who.name) else { return Ok(()) };
    let by = who.agent_id(&desk.name);
    let body = Body::TaskAssigned { task_id: task.id, subject: task.subject.clone(), assigned_by: by.clone() };
    let at = task.updated_at.to_string();
    let id = MessageId::derived(&["task_assigned", &task.id.to_string(), owner.as_str(), &at]);
    let mut message = Message::new(id, by, owner.clone(), &body);
    message.summary = Some(format!("task {} is yours", task.id));
    mailbox::deliver(&desk.dir.member(&owner), &message, Lane::Inbox, Durability::Fast, true)?;
    Ok(())
}

/// The final answer of a task, told to the lead exactly once: its id follows from task and epoch.
fn report(desk: &mut Desk, who: &Who, task: &Task) -> Result<(), ActError> {
    let mut report = report_of(task);
    report.worktree = desk.member(&who.name)?.worktree.as_ref().map(Tree::named);
    let body = Body::Report(Box::new(report));
    let id = MessageId::derived(&["report", &task.id.to_string(), &task.epoch.to_string()]);
    let lead = desk.team()?.reports_to(&who.name);
    let mut message = Message::new(id, who.agent_id(&desk.name), lead.clone(), &body);
    message.summary = Some(format!("task {} {}: {}", task.id, task.status.as_str(), task.subject));
    mailbox::deliver(&desk.dir.member(&lead), &message, Lane::Inbox, Durability::Fast, true)?;
    Ok(())
}

fn report_of(task: &Task) -> Report {
    let TaskResult { text, error, output_file, usage, .. } = task.result.clone().unwrap_or_default();
    Report {
        status: if task.status == TaskStatus::Completed { ReportStatus::Completed } else { ReportStatus::Failed },
        error,
        task_id: Some(task.id),
        summary: task.subject.clone(),
        result: text,
        usage,
        worktree: None,
        output_file: output_file.unwrap_or_default(),
    }
}

/// Every task that is not deleted, as `task list` shows them.
pub fn list(desk: &mut Desk) -> Result<Vec<Value>, ActError> {
    let board = &desk.board.view()?.board;
    Ok(board.tasks().values().filter(|t| t.status != TaskStatus::Deleted).map(|t| json!(t)).collect())
}
