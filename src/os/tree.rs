//! Ending everything that one program started, within a life that goes on.
//!
//! [`super::life`] ends all of a life; this ends one branch of it: the session that the program leads, what carries its mark,
//! and what descends from either. A process that left the session, cleaned its environment *and* lost its parents is
//! not found.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::pidfd::{Pidfd, poll_exit};
use super::process::{self, ProcessId, Stat};

/// How long we go on killing.
const KILL_FOR: Duration = Duration::from_secs(5);
/// How long one round of kills may take to show.
const ROUND: Duration = Duration::from_millis(50);
/// A stopped process forks no more, so few looks are needed until all stand still.
const MAX_FREEZES: usize = 20;
/// Empty looks in a row that count as none left.
const EMPTY_LOOKS: usize = 2;
/// Handles held at once.
const MAX_HANDLES: usize = 256;

/// A program and how to know what it started.
#[derive(Clone, Debug)]
pub struct Tree {
    /// Leads a session of its own. `None`: nobody knows it any more, and the mark has to do.
    pub root: Option<ProcessId>,
    /// A variable of its environment, with a value that nothing else has.
    pub mark: (String, String),
}

impl Tree {
    /// What carries a mark, whoever started it, and what descends from that.
    #[must_use]
    pub fn marked(name: &str, value: impl ToString) -> Self {
        Self { root: None, mark: (name.to_owned(), value.to_string()) }
    }

    /// Ends all of it: asks (TERM) and waits for `grace`, if there is any, then kills. Blocks; call it through
    /// `spawn_blocking`. How many there were beside the root, and those that could not be ended.
    #[must_use]
    pub fn end(&self, grace: Duration) -> (usize, Vec<ProcessId>) {
        let mut known = HashSet::new();
        if !grace.is_zero() {
            let found = self.look(&mut known);
            for id in &found {
                send(*id, &[Signal::TERM, Signal::CONT]);
            }
            wait_for_all(&found, grace);
        }
        let until = Instant::now() + KILL_FOR;
        let left = loop {
            let found = self.freeze(&mut known);
            if found.is_empty() || Instant::now() >= until {
                break found;
            }
            for id in &found {
                send(*id, &[Signal::KILL]);
            }
            wait_for_all(&found, ROUND);
        };
        let beside = known.iter().filter(|id| Some(**id) != self.root).count();
        (beside, left)
    }

    /// Stops all, so that killing one does not race with another that forks.
    fn freeze(&self, known: &mut HashSet<ProcessId>) -> Vec<ProcessId> {
        let mut frozen = HashSet::new();
        let mut found = Vec::new();
        for _ in 0..MAX_FREEZES {
            found = self.look(known);
            let fresh: Vec<ProcessId> = found.iter().copied().filter(|id| frozen.insert(*id)).collect();
            if fresh.is_empty() {
                break;
            }
            for id in fresh {
                send(id, &[Signal::STOP]);
            }
        }
        found
    }

    fn look(&self, known: &mut HashSet<ProcessId>) -> Vec<ProcessId> {
        for _ in 0..EMPTY_LOOKS {
            let found = self.find(known);
            if !found.is_empty() {
                known.extend(&found);
                return found;
            }
        }
        Vec::new()
    }

    fn find(&self, known: &HashSet<ProcessId>) -> Vec<ProcessId> {
        // While a session has members the kernel does not give its number away.
        let session =
            self.root.filter(|root| process::stat(root.pid).map_or(true, |s| s.start_time == root.start_time));
        let since = self.root.map_or(0, |root| root.start_time);
        let me = std::process::id();
        let running: HashMap<u32, Stat> = process::all()
            .filter(|s| s.pid > 1 && s.pid != me && s.start_time >= since)
            .filter(|s| !s.is_kernel_thread() && !s.has_ended())
            .map(|stat| (stat.pid, stat))
            .collect();
        let own = |s: &Stat| {
            Some(s.id()) == self.root
                || session.is_some_and(|root| s.session == root.pid)
                || known.contains(&s.id())
                || self.has_mark(s)
        };
        let mut ours: HashSet<u32> = running.values().filter(|s| own(s)).map(|s| s.pid).collect();
        // Children of ours, and theirs.
        loop {
            let more: Vec<u32> =
                running.values().filter(|s| !ours.contains(&s.pid) && ours.contains(&s.ppid)).map(|s| s.pid).collect();
            if more.is_empty() {
                break;
            }
            ours.extend(more);
        }
        running.values().filter(|s| ours.contains(&s.pid)).map(Stat::id).collect()
    }

    fn has_mark(&self, stat: &Stat) -> bool {
        process::environ_value(stat.pid, &self.mark.0).is_some_and(|value| value == self.mark.1.as_str())
    }
}

/// Ends its tree when it is dropped, unless that was taken out: whoever waits for a program can be cancelled at any point.
#[derive(Debug)]
pub struct TreeGuard(Option<Tree>);

impl TreeGuard {
    #[must_use]
    pub const fn new(tree: Tree) -> Self {
        Self(Some(tree))
    }

    /// The tree, for whoever ends it himself.
    pub const fn take(&mut self) -> Option<Tree> {
        self.0.take()
    }
}

impl Drop for TreeGuard {
    fn drop(&mut self) {
        if let Some(tree) = self.0.take() {
            let _ = tree.end(Duration::ZERO);
        }
    }
}

/// One that has gone meanwhile shows itself in the next look.
fn send(id: ProcessId, signals: &[Signal]) {
    let Ok(pidfd) = Pidfd::open(id) else { return };
    for signal in signals {
        let _ = pidfd.signal(*signal);
    }
}

fn wait_for_all(ids: &[ProcessId], limit: Duration) {
    let until = Instant::now() + limit;
    let mut pidfds: Vec<Pidfd> = ids.iter().take(MAX_HANDLES).filter_map(|id| Pidfd::open(*id).ok()).collect();
    loop {
        pidfds.retain(|pidfd| !pidfd.exited());
        let left = until.saturating_duration_since(Instant::now());
        if pidfds.is_empty() || left.is_zero() {
            return;
        }
        let _ = poll_exit(&pidfds.iter().collect::<Vec<_>>(), left);
    }
}
