//! What can still happen on the board, given who is there.

use std::collections::BTreeMap;

use crate::model::id::TaskId;
use crate::model::name::Name;
use crate::model::task::TaskStatus;

use super::Board;
use super::index::Door;

/// How far the board is, and what will never come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outlook {
    pub pending: usize,
    pub in_progress: usize,
    pub completed: usize,
    pub failed: usize,
    /// Pending tasks that none of the members can ever take, each with the reason.
    pub stuck: Vec<(TaskId, String)>,
    /// Nothing is in progress and nothing pending can still be claimed.
    pub done: bool,
}

impl Outlook {
    /// Whether there is nothing left and nothing failed.
    #[must_use]
    pub fn all_completed(&self) -> bool {
        self.pending == 0 && self.in_progress == 0 && self.failed == 0
    }
}

impl Board {
    /// The outlook with these members living or restartable, each with its capabilities.
    #[must_use]
    pub fn outlook(&self, members: &[(Name, &[String])]) -> Outlook {
        let opens = |door: &Door| members.iter().any(|(name, has)| door.opens_for(name, has));
        let in_progress = self.count(TaskStatus::InProgress);
        // Whatever is pending and not ready waits, in the end, for something that is ready or in progress.
        let done = in_progress == 0 && !self.index.ready.keys().any(opens);

        let mut stuck: BTreeMap<TaskId, String> = BTreeMap::new();
        let mut queue = Vec::new();
        for (door, ids) in self.index.pending.iter().filter(|(door, _)| !opens(door)) {
            let why = why(door, members);
            for id in ids {
                stuck.insert(*id, why.clone());
                queue.push((*id, *id));
            }
        }
        while let Some((id, root)) = queue.pop() {
            for waiter in self.get(id).into_iter().flat_map(|t| &t.blocks) {
                if self.get(*waiter).is_some_and(|t| t.status == TaskStatus::Pending) && !stuck.contains_key(waiter) {
                    stuck.insert(*waiter, format!("waits for {root}, which nobody can take"));
                    queue.push((*waiter, root));
                }
            }
        }
        Outlook {
            pending: self.count(TaskStatus::Pending),
            in_progress,
            completed: self.count(TaskStatus::Completed),
            failed: self.count(TaskStatus::Failed),
            stuck: stuck.into_iter().collect(),
            done,
        }
    }
}

fn why(door: &Door, members: &[(Name, &[String])]) -> String {
    let requires = door.requires.iter().map(|r| format!("`{r}`")).collect::<Vec<_>>().join(", ");
    match &door.owner {
        Some(owner) if members.iter().any(|(name, _)| name == owner) => {
            format!("is kept for {owner}, who lacks some of {requires}")
        }
        Some(owner) => format!("is kept for {owner}, who is gone"),
        None if members.is_empty() => "nobody is left to take it".into(),
        None => format!("nobody has {requires}"),
    }
}
