//! A change in the making: the tasks that differ, laid over the board, which stays as it is.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::id::TaskId;
use crate::model::name::Name;
use crate::model::task::{Task, TaskResult, TaskStatus};
use crate::model::time::Timestamp;

use super::record::{BoardRecord, Changed, TaskEvent};
use super::{Board, BoardError};

pub(super) struct Draft<'a> {
    board: &'a Board,
    changed: BTreeMap<TaskId, Task>,
    /// In the order in which they were first touched.
    order: Vec<TaskId>,
    now: Timestamp,
}

impl<'a> Draft<'a> {
    pub fn new(board: &'a Board, now: Timestamp) -> Self {
        Self { board, changed: BTreeMap::new(), order: Vec::new(), now }
    }

    pub fn get(&self, id: TaskId) -> Option<&Task> {
        self.changed.get(&id).or_else(|| self.board.get(id))
    }

    /// The task to change; it is in the record from here on.
    pub fn edit(&mut self, id: TaskId) -> Result<&mut Task, BoardError> {
        if !self.changed.contains_key(&id) {
            let task = self.board.known(id)?.clone();
            self.insert(task);
        }
        let now = self.now;
        match self.changed.get_mut(&id) {
            Some(task) => {
                task.updated_at = now;
                Ok(task)
            }
            None => Err(BoardError::NotFound { id, known: self.board.known_ids() }),
        }
    }

    pub fn insert(&mut self, task: Task) {
        self.order.push(task.id);
        self.changed.insert(task.id, task);
    }

    /// Makes `waiter` wait for `blocker`, in both.
    pub fn link(&mut self, blocker: TaskId, waiter: TaskId) -> Result<(), BoardError> {
        insert_sorted(&mut self.edit(waiter)?.blocked_by, blocker);
        insert_sorted(&mut self.edit(blocker)?.blocks, waiter);
        Ok(())
    }

    pub fn unlink(&mut self, blocker: TaskId, waiter: TaskId) -> Result<(), BoardError> {
        self.edit(waiter)?.blocked_by.retain(|id| *id != blocker);
        self.edit(blocker)?.blocks.retain(|id| *id != waiter);
        Ok(())
    }

    /// Fails whatever waits for `root`, and what waits for that.
    pub fn fail_waiters(&mut self, root: TaskId, how: TaskStatus) -> Result<(), BoardError> {
        let error = format!("blocked by {root}: {}", how.as_str());
        let mut queue: Vec<TaskId> = self.get(root).map(|t| t.blocks.clone()).unwrap_or_default();
        while let Some(id) = queue.pop() {
            if self.get(id).is_some_and(|t| t.status == TaskStatus::Pending) {
                let task = self.edit(id)?;
                fail(task, &error);
                queue.extend(&task.blocks);
            }
        }
        Ok(())
    }

    /// Fails `id` (and what waits for it) if one of its blockers can never be completed.
    pub fn fail_if_hopeless(&mut self, id: TaskId) -> Result<(), BoardError> {
        let Some(task) = self.get(id).filter(|t| t.status == TaskStatus::Pending) else { return Ok(()) };
        let lost = task.blocked_by.iter().filter_map(|b| self.get(*b)).find_map(|b| match b.status {
            TaskStatus::Failed | TaskStatus::Deleted => Some((b.id, b.status)),
            _ => None,
        });
        if let Some((blocker, how)) = lost {
            fail(self.edit(id)?, &format!("blocked by {blocker}: {}", how.as_str()));
            self.fail_waiters(id, TaskStatus::Failed)?;
        }
        Ok(())
    }

    /// Refuses a circle of tasks that wait for each other through any of the changed ones.
    pub fn check_cycles(&self) -> Result<(), BoardError> {
        let mut finished = BTreeSet::new();
        for &start in self.changed.keys() {
            // Depth first without recursion: a chain may be thousands of tasks long.
            let mut path: Vec<(TaskId, usize)> = vec![(start, 0)];
            let mut on_path = BTreeSet::from([start]);
            while let Some((id, next)) = path.last_mut() {
                let id = *id;
                let blocker = (!finished.contains(&id)).then(|| self.get(id)?.blocked_by.get(*next).copied()).flatten();
                *next += 1;
                match blocker {
                    None => {
                        finished.insert(id);
                        on_path.remove(&id);
                        path.pop();
                    }
                    Some(blocker) if on_path.contains(&blocker) => {
                        let circle = path.iter().map(|(id, _)| *id).skip_while(|id| *id != blocker);
                        return Err(BoardError::Cycle(circle.chain([blocker]).collect()));
                    }
                    Some(blocker) => {
                        on_path.insert(blocker);
                        path.push((blocker, 0));
                    }
                }
            }
        }
        Ok(())
    }

    pub fn finish(mut self, event: TaskEvent, by: &Name) -> Changed {
        let tasks: Vec<Task> = self.order.iter().filter_map(|id| self.changed.remove(id)).collect();
        Changed { record: BoardRecord::Task { event, by: by.clone(), tasks: tasks.clone() }, tasks }
    }
}

fn fail(task: &mut Task, error: &str) {
    task.status = TaskStatus::Failed;
    task.result = Some(TaskResult { error: Some(error.to_owned()), ..TaskResult::default() });
}

fn insert_sorted(ids: &mut Vec<TaskId>, id: TaskId) {
    if let Err(at) = ids.binary_search(&id) {
        ids.insert(at, id);
    }
}
