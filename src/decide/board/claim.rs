//! Claims: who may take what, and the taking.

use crate::model::id::TaskId;
use crate::model::task::{Claim, Task, TaskStatus};
use crate::model::time::Timestamp;

use super::draft::Draft;
use super::index::Door;
use super::{Board, BoardError, Caller, Changed, TaskEvent};

impl Board {
    /// Takes `which`, or the next task that this caller may take in id order.
    pub fn claim(&self, caller: &Caller<'_>, which: Option<TaskId>, now: Timestamp) -> Result<Changed, BoardError> {
        let Some(life) = caller.life else {
            return Err(BoardError::NoLife(which.map_or_else(|| "ID".into(), |id| id.to_string())));
        };
        let id = match which {
            Some(id) => {
                self.may_claim(self.known(id)?, caller)?;
                self.within_limit(caller)?;
                id
            }
            None => {
                self.within_limit(caller)?;
                self.next_claimable(caller).ok_or_else(|| self.nothing_to_claim(caller))?
            }
        };
        let mut draft = Draft::new(self, now);
        let task = draft.edit(id)?;
        task.status = TaskStatus::InProgress;
        task.owner = Some(caller.name.clone());
        task.claim = Some(Claim { member: caller.name.clone(), life, since: now });
        task.attempts = task.attempts.saturating_add(1);
        task.epoch += 1;
        task.result = None;
        Ok(draft.finish(TaskEvent::Claimed, &caller.name))
    }

    /// What this caller could take now, in id order, its limit and life aside.
    #[must_use]
    pub fn claimable_by(&self, caller: &Caller<'_>) -> Vec<TaskId> {
        let mut ids: Vec<TaskId> = self
            .index
            .ready
            .iter()
            .filter(|(door, _)| door.opens_for(&caller.name, caller.capabilities))
            .flat_map(|(_, ids)| ids.iter().copied())
            .collect();
        ids.sort_unstable();
        ids
    }

    /// The first of [`Board::claimable_by`], without making the list.
    #[must_use]
    pub fn next_claimable(&self, caller: &Caller<'_>) -> Option<TaskId> {
        self.index
            .ready
            .iter()
            .filter(|(door, _)| door.opens_for(&caller.name, caller.capabilities))
            .filter_map(|(_, ids)| ids.first().copied())
            .min()
    }

    fn may_claim(&self, task: &Task, caller: &Caller<'_>) -> Result<(), BoardError> {
        let id = task.id;
        if task.status != TaskStatus::Pending {
            return Err(BoardError::wrong_status(task, "claim"));
        }
        let on: Vec<_> = task
            .blocked_by
            .iter()
            .map(|b| (*b, self.get(*b).map_or(TaskStatus::Deleted, |t| t.status)))
            .filter(|(_, status)| *status != TaskStatus::Completed)
            .collect();
        if !on.is_empty() {
            return Err(BoardError::Blocked { id, on });
        }
        let door = Door::of(task);
        if let Some(owner) = door.owner.as_ref().filter(|_| !door.is_for(&caller.name)) {
            return Err(BoardError::KeptFor { id, owner: owner.clone() });
        }
        let missing: Vec<String> = door.missing(caller.capabilities).cloned().collect();
        if !missing.is_empty() {
            return Err(BoardError::Lacks { id, caller: caller.name.clone(), missing });
        }
        Ok(())
    }

    fn within_limit(&self, caller: &Caller<'_>) -> Result<(), BoardError> {
        if self.index.held_count(&caller.name) < caller.claim_limit {
            return Ok(());
        }
        let held = self.index.held(&caller.name).collect();
        Err(BoardError::Limit { caller: caller.name.clone(), held, limit: caller.claim_limit })
    }

    fn nothing_to_claim(&self, caller: &Caller<'_>) -> BoardError {
        let pending = self.count(TaskStatus::Pending);
        let ready: usize = self.index.ready.values().map(std::collections::BTreeSet::len).sum();
        let why = if pending == 0 {
            "no task is pending".to_owned()
        } else {
            format!("of {pending} pending, {} wait for others and {ready} are for somebody else", pending - ready)
        };
        BoardError::NothingToClaim { caller: caller.name.clone(), why }
    }
}
