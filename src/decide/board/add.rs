//! New tasks.

use std::collections::BTreeMap;

use crate::model::id::TaskId;
use crate::model::spec::TaskSpec;
use crate::model::task::{NewTask, Task, TaskStatus};
use crate::model::time::Timestamp;

use super::draft::Draft;
use super::{Board, BoardError, Caller, Changed, TaskEvent};

impl Board {
    /// Adds one task.
    pub fn add(&self, caller: &Caller<'_>, task: NewTask, now: Timestamp) -> Result<Changed, BoardError> {
        self.add_many(caller, vec![task], now)
    }

    /// Adds all of these or none. They get the ids from [`Board::next_id`] on, in this order, and may name each other by them.
    ///
    /// A task whose blocker has failed or is deleted is added and fails at once, as it would have had it come before.
    pub fn add_many(&self, caller: &Caller<'_>, new: Vec<NewTask>, now: Timestamp) -> Result<Changed, BoardError> {
        if new.is_empty() {
            return Err(BoardError::Nothing);
        }
        let mut draft = Draft::new(self, now);
        let mut edges = Vec::with_capacity(new.len());
        for (id, mut task) in (self.next_id..).map(TaskId).zip(new) {
            if task.subject.trim().is_empty() {
                return Err(BoardError::NoSubject);
            }
            edges.push((id, std::mem::take(&mut task.blocked_by), std::mem::take(&mut task.blocks)));
            draft.insert(Task { created_by: Some(caller.name.clone()), ..pending(id, task, now) });
        }
        for (id, blocked_by, blocks) in &edges {
            for blocker in blocked_by {
                draft.link(*blocker, *id)?;
            }
            for waiter in blocks {
                if let Some(task) = draft.get(*waiter).filter(|t| t.status != TaskStatus::Pending) {
                    return Err(BoardError::wrong_status(task, "block"));
                }
                draft.link(*id, *waiter)?;
            }
        }
        draft.check_cycles()?;
        for (id, ..) in &edges {
            draft.fail_if_hopeless(*id)?;
        }
        Ok(draft.finish(TaskEvent::Added, &caller.name))
    }

    /// The tasks of a spec with their keys turned into the ids that [`Board::add_many`] will give them.
    pub fn resolve(&self, specs: &[TaskSpec]) -> Result<Vec<NewTask>, BoardError> {
        let mut ids = BTreeMap::new();
        for (id, spec) in (self.next_id..).map(TaskId).zip(specs) {
            if ids.insert(spec.key.as_str(), id).is_some() {
                return Err(BoardError::KeyTwice(spec.key.clone()));
            }
        }
        specs
            .iter()
            .map(|spec| {
                let mut task = spec.task.clone();
                for blocker in &spec.blocked_by {
                    task.blocked_by.push(
                        *ids.get(blocker.as_str()).ok_or_else(|| BoardError::UnknownKey {
                            key: spec.key.clone(),
                            blocker: blocker.clone(),
                        })?,
                    );
                }
                Ok(task)
            })
            .collect()
    }
}

fn pending(id: TaskId, new: NewTask, now: Timestamp) -> Task {
    Task {
        id,
        subject: new.subject,
        description: new.description,
        active_form: new.active_form,
        status: TaskStatus::Pending,
        assigned: new.owner.clone(),
        owner: new.owner,
        blocks: Vec::new(),
        blocked_by: Vec::new(),
        requires: new.requires,
        run: new.run,
        timeout: new.timeout,
        retries: new.retries,
        attempts: 0,
        epoch: 0,
        claim: None,
        metadata: new.metadata,
        result: None,
        created_by: None,
        created_at: now,
        updated_at: now,
    }
}
