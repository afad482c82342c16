//! What makes questions cheap on a board of thousands: who may take what, what is ready, who holds what.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::id::TaskId;
use crate::model::name::Name;
use crate::model::task::{Task, TaskStatus};

/// Who may take a task. Tasks with the same door are claimed alike, so the next one for somebody is found by
/// looking at each door once, not at each task.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Door {
    pub owner: Option<Name>,
    pub requires: Vec<String>,
}

impl Door {
    pub fn of(task: &Task) -> Self {
        let mut requires = task.requires.clone();
        requires.sort();
        requires.dedup();
        Self { owner: task.assigned.clone().or_else(|| task.owner.clone()), requires }
    }

    pub fn opens_for(&self, name: &Name, capabilities: &[String]) -> bool {
        self.is_for(name) && self.missing(capabilities).next().is_none()
    }

    pub fn is_for(&self, name: &Name) -> bool {
        self.owner.as_ref().is_none_or(|o| o == name)
    }

    pub fn missing<'a>(&'a self, capabilities: &'a [String]) -> impl Iterator<Item = &'a String> {
        self.requires.iter().filter(|need| !capabilities.contains(need))
    }
}

type Groups = BTreeMap<Door, BTreeSet<TaskId>>;

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Index {
    /// Everything pending.
    pub pending: Groups,
    /// What is pending with every blocker completed.
    pub ready: Groups,
    held: BTreeMap<Name, BTreeSet<TaskId>>,
    counts: [usize; 5],
}

impl Index {
    pub fn count(&self, status: TaskStatus) -> usize {
        self.counts[status as usize]
    }

    pub fn held<'a>(&'a self, member: &Name) -> impl Iterator<Item = TaskId> + 'a {
        self.held.get(member).into_iter().flatten().copied()
    }

    pub fn all_held(&self) -> impl Iterator<Item = TaskId> + '_ {
        self.held.values().flatten().copied()
    }

    pub fn held_count(&self, member: &Name) -> usize {
        self.held.get(member).map_or(0, BTreeSet::len)
    }

    /// Takes a task out as it was. It is not ready any more either.
    pub fn forget(&mut self, old: &Task) {
        self.counts[old.status as usize] -= 1;
        if old.status == TaskStatus::Pending {
            let door = Door::of(old);
            take(&mut self.pending, &door, old.id);
            take(&mut self.ready, &door, old.id);
        }
        if let Some(member) = holder(old) {
            take(&mut self.held, member, old.id);
        }
    }

    /// Puts a task in as it is now, not yet as ready.
    pub fn learn(&mut self, task: &Task) {
        self.counts[task.status as usize] += 1;
        if task.status == TaskStatus::Pending {
            self.pending.entry(Door::of(task)).or_default().insert(task.id);
        }
        if let Some(member) = holder(task) {
            self.held.entry(member.clone()).or_default().insert(task.id);
        }
    }

    pub fn set_ready(&mut self, task: &Task, ready: bool) {
        let door = Door::of(task);
        if ready {
            self.ready.entry(door).or_default().insert(task.id);
        } else {
            take(&mut self.ready, &door, task.id);
        }
    }
}

fn holder(task: &Task) -> Option<&Name> {
    task.claim.as_ref().filter(|_| task.status == TaskStatus::InProgress).map(|c| &c.member)
}

fn take<K: Ord>(groups: &mut BTreeMap<K, BTreeSet<TaskId>>, key: &K, id: TaskId) {
    if let Some(set) = groups.get_mut(key) {
        set.remove(&id);
        if set.is_empty() {
            groups.remove(key);
        }
    }
}
