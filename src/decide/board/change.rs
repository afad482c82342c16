//! Changes to tasks that exist: assignment, deletion, fields.

use serde_json::{Map, Value};

use crate::model::id::TaskId;
use crate::model::name::Name;
use crate::model::task::{Task, TaskStatus};
use crate::model::time::Timestamp;

use super::draft::Draft;
use super::end::end_claim;
use super::{Board, BoardError, Caller, Changed, TaskEvent};

/// New values of a task's fields; what is `None` or empty stays.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Update {
    pub subject: Option<String>,
    pub description: Option<String>,
    pub active_form: Option<String>,
    pub add_blocked_by: Vec<TaskId>,
    pub remove_blocked_by: Vec<TaskId>,
    /// Keys to set; a `null` takes the key out.
    pub metadata: Map<String, Value>,
}

impl Board {
    /// Keeps a pending task for `member`, or opens it to everyone again.
    pub fn assign(
        &self,
        caller: &Caller<'_>,
        id: TaskId,
        member: Option<Name>,
        now: Timestamp,
    ) -> Result<Changed, BoardError> {
        let task = self.known(id)?;
        if !caller.authority.commands() {
            return Err(not_allowed(id, caller, "assign", "the operator or the lead"));
        }
        if task.status != TaskStatus::Pending {
            return Err(BoardError::wrong_status(task, "assign"));
        }
        let mut draft = Draft::new(self, now);
        let task = draft.edit(id)?;
        task.owner.clone_from(&member);
        task.assigned = member;
        Ok(draft.finish(TaskEvent::Assigned, &caller.name))
    }

    /// Deletes a task. What waited for it fails; what a completed one had let start goes on without it.
    pub fn rm(&self, caller: &Caller<'_>, id: TaskId, now: Timestamp) -> Result<Changed, BoardError> {
        let task = self.known(id)?;
        if !caller.authority.commands() {
            if task.created_by.as_ref() != Some(&caller.name) {
                return Err(not_allowed(id, caller, "delete", &makers(task)));
            }
            if task.status == TaskStatus::InProgress {
                return Err(BoardError::wrong_status(task, "delete"));
            }
        }
        if task.status == TaskStatus::Deleted {
            return Err(BoardError::wrong_status(task, "delete"));
        }
        let (was, waiters) = (task.status, task.blocks.clone());
        let mut draft = Draft::new(self, now);
        let task = draft.edit(id)?;
        task.status = TaskStatus::Deleted;
        end_claim(task, was != TaskStatus::InProgress);
        if was == TaskStatus::Completed {
            for waiter in waiters {
                draft.unlink(id, waiter)?;
            }
        } else {
            draft.fail_waiters(id, TaskStatus::Deleted)?;
        }
        Ok(draft.finish(TaskEvent::Deleted, &caller.name))
    }

    /// Changes fields: the maker, the holder, and who commands may.
    pub fn update(
        &self,
        caller: &Caller<'_>,
        id: TaskId,
        update: Update,
        now: Timestamp,
    ) -> Result<Changed, BoardError> {
        let task = self.known(id)?;
        let holds = task.claim.as_ref().is_some_and(|c| c.member == caller.name && Some(c.life) == caller.life);
        if !caller.authority.commands() && !holds && task.created_by.as_ref() != Some(&caller.name) {
            return Err(not_allowed(id, caller, "change", &makers(task)));
        }
        if task.status == TaskStatus::Deleted {
            return Err(BoardError::wrong_status(task, "change"));
        }
        if update == Update::default() {
            return Err(BoardError::Nothing);
        }
        if update.subject.as_ref().is_some_and(|s| s.trim().is_empty()) {
            return Err(BoardError::NoSubject);
        }
        let mut draft = Draft::new(self, now);
        self.change_blockers(&mut draft, task, &update)?;
        let task = draft.edit(id)?;
        if let Some(subject) = update.subject {
            task.subject = subject;
        }
        if let Some(description) = update.description {
            task.description = description;
        }
        if update.active_form.is_some() {
            task.active_form = update.active_form;
        }
        for (key, value) in update.metadata {
            if value.is_null() {
                task.metadata.shift_remove(&key);
            } else {
                task.metadata.insert(key, value);
            }
        }
        draft.fail_if_hopeless(id)?;
        Ok(draft.finish(TaskEvent::Updated, &caller.name))
    }

    fn change_blockers(&self, draft: &mut Draft<'_>, task: &Task, update: &Update) -> Result<(), BoardError> {
        let id = task.id;
        draft.edit(id)?;
        for blocker in &update.remove_blocked_by {
            if !task.blocked_by.contains(blocker) {
                return Err(BoardError::NotABlocker { id, blocker: *blocker });
            }
            draft.unlink(*blocker, id)?;
        }
        for blocker in &update.add_blocked_by {
            // What runs or has ended cannot begin to wait; that something completed came before it may be noted.
            if task.status != TaskStatus::Pending && self.known(*blocker)?.status != TaskStatus::Completed {
                return Err(BoardError::wrong_status(task, "block"));
            }
            draft.link(*blocker, id)?;
        }
        if update.add_blocked_by.is_empty() { Ok(()) } else { draft.check_cycles() }
    }
}

fn not_allowed(id: TaskId, caller: &Caller<'_>, what: &'static str, who: &str) -> BoardError {
    BoardError::NotAllowed { id, caller: caller.name.clone(), what, who: who.to_owned() }
}

fn makers(task: &Task) -> String {
    match &task.created_by {
        Some(maker) if !maker.is_operator() && !maker.is_lead() => format!("{maker}, the operator or the lead"),
        _ => "the operator or the lead".into(),
    }
}
