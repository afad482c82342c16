//! `status.json`: written when something changed, at most four times a second, never flushed to disk.

use std::collections::VecDeque;
use std::time::Duration;

use serde_json::Map;
use tokio::time::Instant;

use crate::model::id::{Life, TaskId};
use crate::model::task::Usage;
use crate::model::team::{State, Status};
use crate::os::clock;
use crate::store::{MemberDir, document};

/// Least time between two writes.
pub(super) const PACE: Duration = Duration::from_millis(250);
/// Before, only a change of state is written: that a member starts is what the roster says, and many that start at once
/// have enough to do.
const FIRST: Duration = Duration::from_millis(250);

pub(super) struct StatusFile {
    dir: MemberDir,
    now: Status,
    written: Option<Status>,
    born: Instant,
    last: Option<Instant>,
}

impl StatusFile {
    pub fn new(dir: MemberDir, life: Life, watch: &str) -> Self {
        let now = Status {
            v: 1,
            state: State::Starting,
            life,
            updated_at: clock::now(),
            activity: None,
            task: None,
            epoch: None,
            usage: None,
            session_id: None,
            recent: Vec::new(),
            queued: 0,
            watch: watch.to_owned(),
            children: Vec::new(),
            extra: Map::new(),
        };
        Self { dir, now, written: None, born: Instant::now(), last: None }
    }

    /// Takes a change over; a change of state is written at once, all else at its pace.
    pub fn set(&mut self, state: State, task: Option<(TaskId, u64)>, activity: Option<String>, queued: u64) {
        let turned = self.now.state != state || self.now.task != task.map(|t| t.0);
        self.now.state = state;
        self.now.task = task.map(|t| t.0);
        self.now.epoch = task.map(|t| t.1);
        self.now.activity = activity;
        self.now.queued = queued;
        if turned || self.due().is_some_and(|at| at <= Instant::now()) {
            self.write();
        }
    }

    /// What an agent has used and done so far.
    pub fn agent(&mut self, usage: Usage, session_id: Option<&str>, recent: &VecDeque<String>) {
        self.now.usage = Some(usage);
        if self.now.session_id.as_deref() != session_id {
            self.now.session_id = session_id.map(str::to_owned);
        }
        if !self.now.recent.iter().eq(recent) {
            self.now.recent = recent.iter().cloned().collect();
        }
    }

    /// When a change that waits is to be written.
    pub fn due(&self) -> Option<Instant> {
        let same = self.written.as_ref().is_some_and(|w| {
            w.state == self.now.state
                && w.task == self.now.task
                && w.activity == self.now.activity
                && w.usage == self.now.usage
                && w.session_id == self.now.session_id
                && w.recent == self.now.recent
                && w.queued == self.now.queued
        });
        (!same).then(|| self.last.map_or(self.born + FIRST, |last| last + PACE))
    }

    pub fn write(&mut self) {
        self.now.updated_at = clock::now();
        // A status that cannot be written is an old status; the lease, not this file, says who lives.
        let _ = document::replace_json(&self.dir.status(), &self.now, document::Sync::Fast);
        self.written = Some(self.now.clone());
        self.last = Some(Instant::now());
    }
}
