//! How a claim ends: by its holder's word, by who commands, by the end of a life, by time.

use std::time::Duration;

use crate::model::id::{Life, TaskId};
use crate::model::name::Name;
use crate::model::task::{Task, TaskResult, TaskStatus};
use crate::model::time::Timestamp;

use super::super::plant::{Fault, planted};
use super::draft::Draft;
use super::{Board, BoardError, Caller, Changed, TaskEvent};

/// How many lives beyond its retries a task may use up: a crash of its holder is seldom the task's fault, so even a
/// task without retries comes back, yet one that kills whoever takes it must end.
pub const LOST_LIVES: u32 = 3;

impl Board {
    /// The task is done.
    pub fn done(
        &self,
        caller: &Caller<'_>,
        id: TaskId,
        epoch: Option<u64>,
        result: TaskResult,
        now: Timestamp,
    ) -> Result<Changed, BoardError> {
        let holds = self.may_end(caller, id, epoch, "complete")?;
        let mut draft = Draft::new(self, now);
        let task = draft.edit(id)?;
        task.status = TaskStatus::Completed;
        end_claim(task, holds);
        task.owner.get_or_insert_with(|| caller.name.clone());
        task.result = Some(result);
        Ok(draft.finish(TaskEvent::Completed, &caller.name))
    }

    /// An attempt failed. While one is left the task goes back; else it and all that waits for it have failed.
    pub fn fail(
        &self,
        caller: &Caller<'_>,
        id: TaskId,
        epoch: Option<u64>,
        result: TaskResult,
        now: Timestamp,
    ) -> Result<Changed, BoardError> {
        let holds = self.may_end(caller, id, epoch, "fail")?;
        let mut draft = Draft::new(self, now);
        let task = draft.edit(id)?;
        // A pending task that is failed by hand has no attempt to repeat.
        let again = task.status == TaskStatus::InProgress && task.attempts <= task.retries;
        end_claim(task, holds);
        task.result = Some(result);
        if again {
            back(task);
            return Ok(draft.finish(TaskEvent::Retried, &caller.name));
        }
        task.status = TaskStatus::Failed;
        draft.fail_waiters(id, TaskStatus::Failed)?;
        Ok(draft.finish(TaskEvent::Failed, &caller.name))
    }

    /// Gives a task back untouched. The attempt is not counted.
    pub fn release(
        &self,
        caller: &Caller<'_>,
        id: TaskId,
        epoch: Option<u64>,
        now: Timestamp,
    ) -> Result<Changed, BoardError> {
        let holds = self.may_end(caller, id, epoch, "release")?;
        if self.known(id)?.status != TaskStatus::InProgress {
            return Err(BoardError::wrong_status(self.known(id)?, "release"));
        }
        let mut draft = Draft::new(self, now);
        let task = draft.edit(id)?;
        end_claim(task, holds);
        back(task);
        task.attempts = task.attempts.saturating_sub(1);
        Ok(draft.finish(TaskEvent::Released, &caller.name))
    }

    /// Hands back what an ended life of `member` had in progress; `None` if that was nothing. Its attempts count.
    #[must_use]
    pub fn return_life(&self, member: &Name, life: Life, by: &Name, now: Timestamp) -> Option<Changed> {
        self.return_where(member, |holder| holder == life, by, now)
    }

    /// Hands back what lives of `member` other than the `current` one still have in progress; `None` if that was nothing.
    #[must_use]
    pub fn return_stale(&self, member: &Name, current: Option<Life>, by: &Name, now: Timestamp) -> Option<Changed> {
        self.return_where(member, |holder| Some(holder) != current, by, now)
    }

    fn return_where(
        &self,
        member: &Name,
        is_over: impl Fn(Life) -> bool,
        by: &Name,
        now: Timestamp,
    ) -> Option<Changed> {
        let lost = |t: &&Task| t.claim.as_ref().is_some_and(|c| is_over(c.life));
        let lost: Vec<TaskId> = self.held_by(member).filter(lost).map(|t| t.id).collect();
        if lost.is_empty() {
            return None;
        }
        let mut draft = Draft::new(self, now);
        for id in lost {
            let Ok(task) = draft.edit(id) else { continue };
            end_claim(task, false);
            if task.attempts < task.retries.saturating_add(LOST_LIVES) {
                back(task);
                continue;
            }
            task.status = TaskStatus::Failed;
            let error = format!("{member} ended while it had the task, at attempt {}", task.attempts);
            task.result = Some(TaskResult { error: Some(error), ..TaskResult::default() });
            // What waits for a task on the board is on the board.
            let _ = draft.fail_waiters(id, TaskStatus::Failed);
        }
        Some(draft.finish(TaskEvent::Returned, by))
    }

    /// The tasks in progress that are over their time limit by `grace` or more.
    #[must_use]
    pub fn expire(&self, now: Timestamp, grace: Duration) -> Vec<TaskId> {
        self.claims().filter(|(t, _)| deadline(t, grace).is_some_and(|d| d <= now)).map(|(t, _)| t.id).collect()
    }

    /// When the next task will be over its time limit by `grace`.
    #[must_use]
    pub fn next_deadline(&self, grace: Duration) -> Option<Timestamp> {
        self.claims().filter_map(|(t, _)| deadline(t, grace)).min()
    }

    /// Whether this caller's word ends the task, and if so whether as its holder.
    fn may_end(
        &self,
        caller: &Caller<'_>,
        id: TaskId,
        epoch: Option<u64>,
        what: &'static str,
    ) -> Result<bool, BoardError> {
        let task = self.known(id)?;
        if epoch.is_some_and(|e| e != task.epoch) && !planted(Fault::EpochForgotten) {
            return Err(BoardError::stale(task, &caller.name));
        }
        let claim = task.claim.as_ref().filter(|_| task.status == TaskStatus::InProgress);
        if claim.is_some_and(|c| c.member == caller.name && Some(c.life) == caller.life) {
            return Ok(true);
        }
        if !caller.authority.commands() {
            return Err(BoardError::stale(task, &caller.name));
        }
        if task.status.ended() {
            return Err(BoardError::wrong_status(task, what));
        }
        Ok(false)
    }
}

/// Drops the claim. Unless its holder spoke, the epoch rises so that a late word of the holder is refused.
pub(super) fn end_claim(task: &mut Task, by_holder: bool) {
    task.claim = None;
    if !by_holder {
        task.epoch += 1;
    }
}

/// Puts a task back for whoever could take it before.
fn back(task: &mut Task) {
    task.status = TaskStatus::Pending;
    task.owner = task.assigned.clone();
}

fn deadline(task: &Task, grace: Duration) -> Option<Timestamp> {
    let claim = task.claim.as_ref()?;
    Some(claim.since.plus(task.timeout?.0).plus(grace))
}
