//! The task board: records folded into state, and every change to it as a decision that returns a record.
//!
//! Decisions never mutate. Whoever holds the journal's lock decides against the folded board, appends the
//! record and applies it, so what was checked is still true when it is written.

mod add;
mod change;
mod claim;
mod draft;
mod end;
mod error;
mod index;
mod outlook;
mod record;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_edges;
#[cfg(test)]
mod tests_prop;

use std::collections::{BTreeMap, BTreeSet};

use crate::model::id::{Life, TaskId};
use crate::model::name::Name;
use crate::model::task::{Claim, Task, TaskStatus};

use super::authority::Authority;
pub use change::Update;
pub use end::LOST_LIVES;
pub use error::BoardError;
pub use outlook::Outlook;
pub use record::{BoardRecord, Changed, TaskEvent};

use index::Index;

/// Who speaks, and with what right.
#[derive(Clone, Debug)]
pub struct Caller<'a> {
    pub name: Name,
    /// The life that a claim would belong to; `None` at an operator's shell.
    pub life: Option<Life>,
    pub authority: Authority,
    pub capabilities: &'a [String],
    /// How many tasks this member may have in progress at once.
    pub claim_limit: usize,
}

/// The folded board.
#[derive(Clone, Debug, PartialEq)]
pub struct Board {
    tasks: BTreeMap<TaskId, Task>,
    next_id: u64,
    index: Index,
}

impl Default for Board {
    fn default() -> Self {
        Self { tasks: BTreeMap::new(), next_id: 1, index: Index::default() }
    }
}

impl Board {
    /// Every task, deleted ones too, in id order.
    #[must_use]
    pub fn tasks(&self) -> &BTreeMap<TaskId, Task> {
        &self.tasks
    }

    #[must_use]
    pub fn get(&self, id: TaskId) -> Option<&Task> {
        self.tasks.get(&id)
    }

    /// The id that the next task will have. Ids are never used again, also after a deletion.
    #[must_use]
    pub fn next_id(&self) -> TaskId {
        TaskId(self.next_id)
    }

    /// How many tasks have this status.
    #[must_use]
    pub fn count(&self, status: TaskStatus) -> usize {
        self.index.count(status)
    }

    /// Every task in progress with its claim, by member.
    pub fn claims(&self) -> impl Iterator<Item = (&Task, &Claim)> {
        self.index.all_held().filter_map(|id| self.tasks.get(&id)).filter_map(|t| Some((t, t.claim.as_ref()?)))
    }

    /// The tasks that this member has in progress.
    pub fn held_by(&self, member: &Name) -> impl Iterator<Item = &Task> {
        self.index.held(member).filter_map(|id| self.tasks.get(&id))
    }

    /// Folds one record in. The same record again changes nothing: a record holds whole tasks, the last one counts.
    pub fn apply(&mut self, record: BoardRecord) {
        match record {
            BoardRecord::Snapshot { next_id, tasks } => {
                *self = Self { next_id: next_id.max(1), ..Self::default() };
                self.put(tasks);
            }
            BoardRecord::Task { tasks, .. } => self.put(tasks),
        }
    }

    /// The whole board as one record, for the first line of a new segment.
    #[must_use]
    pub fn snapshot(&self) -> BoardRecord {
        BoardRecord::Snapshot { next_id: self.next_id, tasks: self.tasks.values().cloned().collect() }
    }

    fn put(&mut self, tasks: Vec<Task>) {
        // Readiness depends on other tasks, so it is settled after all of the record is in.
        let mut touched = BTreeSet::new();
        for task in tasks {
            self.next_id = self.next_id.max(task.id.0.saturating_add(1));
            touched.insert(task.id);
            match self.tasks.get(&task.id) {
                Some(old) => {
                    let completed = |t: &Task| t.status == TaskStatus::Completed;
                    if completed(old) != completed(&task) || old.blocks != task.blocks {
                        touched.extend(old.blocks.iter().chain(&task.blocks));
                    }
                    self.index.forget(old);
                }
                None => touched.extend(&task.blocks),
            }
            self.index.learn(&task);
            self.tasks.insert(task.id, task);
        }
        for task in touched.iter().filter_map(|id| self.tasks.get(id)) {
            self.index.set_ready(task, task.status == TaskStatus::Pending && self.blockers_completed(task));
        }
    }

    fn blockers_completed(&self, task: &Task) -> bool {
        task.blocked_by.iter().all(|id| self.get(*id).is_some_and(|t| t.status == TaskStatus::Completed))
    }

    fn known(&self, id: TaskId) -> Result<&Task, BoardError> {
        self.get(id).ok_or_else(|| BoardError::NotFound { id, known: self.known_ids() })
    }

    /// The ids that exist, as a person would write them: `1-4, 6`.
    fn known_ids(&self) -> String {
        const MOST_RANGES: usize = 8;
        let mut ranges: Vec<(u64, u64)> = Vec::new();
        for id in self.tasks.values().filter(|t| t.status != TaskStatus::Deleted).map(|t| t.id.0) {
            match ranges.last_mut() {
                Some((_, end)) if id == *end + 1 => *end = id,
                _ => ranges.push((id, id)),
            }
        }
        if ranges.is_empty() {
            return "the board is empty".into();
        }
        let words = |(a, b): &(u64, u64)| if a == b { a.to_string() } else { format!("{a}-{b}") };
        let mut text: Vec<String> = ranges.iter().take(MOST_RANGES).map(words).collect();
        if ranges.len() > MOST_RANGES {
            text.push("…".into());
        }
        format!("there are {}", text.join(", "))
    }
}
