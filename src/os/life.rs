//! Ending everything that belongs to a life: nothing of it may run on when its work is handed to another.
//!
//! Known limit: a process that cleaned its environment, left the session *and* lost its parents is found only while
//! the teammate process (its subreaper, see [`super::reap`]) still runs or once it was seen in an earlier look.

use std::borrow::Borrow;
use std::cell::OnceCell;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use super::pidfd::{Pidfd, poll_exit};
use super::process::{self, ProcessId, Stat};
use crate::model::id::Life;

/// The variable that marks what a life starts.
pub const LIFE_VARIABLE: &str = "CREWMUX_LIFE";
/// How long past the grace we go on killing before we report what is left (such as a process in state D).
const KILL_FOR: Duration = Duration::from_secs(5);
/// How long one round of kills may take to show before the next look.
const ROUND: Duration = Duration::from_millis(50);
/// Looks at `/proc` while freezing what forks; a stopped process forks no more, so few are needed.
const MAX_FREEZES: usize = 20;
/// Empty looks in a row that count as none left.
const EMPTY_LOOKS: usize = 3;
/// Handles held at once: a fork bomb must not use up our file descriptors.
const MAX_HANDLES: usize = 256;

/// How to know a life's processes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LifeMark {
    /// The teammate process, which leads the session of its pane.
    pub teammate: Option<ProcessId>,
    pub life: Life,
    /// The boot that `teammate` belongs to.
    pub boot_id: String,
}

/// What became of a life's processes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EndReport {
    /// All that ended, the killed ones among them.
    pub ended: usize,
    /// Those that did not end within their grace.
    pub killed: usize,
    /// Those that could not be ended.
    pub left: Vec<ProcessId>,
}

/// Every process of the life: those of the teammate's session, those started with its mark, and all their descendants.
/// Never the caller, `spare` (pids; their descendants are not spared), or a kernel thread. A process with the mark of
/// another life, such as a nested team, is not ours, nor is what descends from it.
#[must_use]
pub fn members_of(mark: &LifeMark, spare: &[u32]) -> Vec<ProcessId> {
    find(mark, spare, &HashSet::new(), &mut Marks::new(), all_seen(), &mut |_| {}).members
}

/// Which of the lives have no process left. These are the empty looks with which [`end_life`] would end at once, made for all
/// of them together: after the death of a whole team that is a single walk through `/proc` instead of one for each member.
#[must_use]
pub fn gone(marks: &[LifeMark], spare: &[u32]) -> Vec<bool> {
    let mut gone = vec![true; marks.len()];
    let mut known: Vec<Marks> = vec![Marks::new(); marks.len()];
    for _ in 0..EMPTY_LOOKS {
        let seen: Vec<Seen> = all_seen().collect();
        for ((mark, known), gone) in marks.iter().zip(&mut known).zip(&mut gone).filter(|(_, gone)| **gone) {
            *gone = find(mark, spare, &HashSet::new(), known, seen.iter(), &mut |_| {}).members.is_empty();
        }
    }
    gone
}

/// A process in one look. What its environment says is read when it is asked for, once.
struct Seen {
    stat: Stat,
    life: OnceCell<Option<OsString>>,
}

impl Seen {
    fn life(&self) -> Option<&OsString> {
        self.life.get_or_init(|| process::environ_value(self.stat.pid, LIFE_VARIABLE)).as_ref()
    }
}

fn all_seen() -> impl Iterator<Item = Seen> {
    process::all().map(|stat| Seen { stat, life: OnceCell::new() })
}

#[derive(Debug, Default)]
struct Found {
    members: Vec<ProcessId>,
    /// The process groups of the members …
    groups: HashSet<u32>,
    /// … and those that hold somebody else.
    foreign_groups: HashSet<u32>,
}

/// What the mark in each process's environment says (`None`: it is empty, somebody cleared it), read once an ending: it is
/// the costly part of a look, and only another program in the same process changes it, whose parent says the same.
type Marks = HashMap<ProcessId, Option<Belongs>>;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Belongs {
    Ours,
    Other,
    /// As its parent does.
    Inherits,
}

/// `known` are processes of the life by an earlier look: their children are ours even if their marks are gone.
/// `at_once` is told of a member as soon as its mark is read, while the look goes on.
fn find(
    mark: &LifeMark,
    spare: &[u32],
    known: &HashSet<ProcessId>,
    marks: &mut Marks,
    seen: impl Iterator<Item = impl Borrow<Seen>>,
    at_once: &mut dyn FnMut(ProcessId),
) -> Found {
    let leader = session_leader(mark);
    let life = mark.life.to_string();
    let me = std::process::id();
    let may_end = |pid: u32| pid != me && !spare.contains(&pid);
    let mut running = HashMap::new();
    for seen in seen {
        let seen: &Seen = seen.borrow();
        let stat = seen.stat.clone();
        if stat.pid <= 1 || stat.is_kernel_thread() || stat.has_ended() {
            continue;
        }
        let belongs = belongs(seen, leader, &life, known, marks);
        if belongs == Belongs::Ours && may_end(stat.pid) {
            at_once(stat.id());
        }
        running.insert(stat.pid, (stat, belongs));
    }
    let mut found = Found::default();
    for (stat, _) in running.values() {
        if may_end(stat.pid) && is_ours(stat, &running) {
            found.members.push(stat.id());
            found.groups.insert(stat.pgrp);
        } else {
            found.foreign_groups.insert(stat.pgrp);
        }
    }
    found
}

/// The teammate, unless its pid means nothing (another boot) or something else (another process).
fn session_leader(mark: &LifeMark) -> Option<ProcessId> {
    let leader = mark.teammate?;
    if mark.boot_id.is_empty() || mark.boot_id != process::boot_id() {
        return None;
    }
    // While a session has members the kernel does not give its number away, so a pid without a process is fine.
    match process::stat(leader.pid) {
        Ok(stat) if stat.start_time != leader.start_time => None,
        _ => Some(leader),
    }
}

fn belongs(
    seen: &Seen,
    leader: Option<ProcessId>,
    life: &str,
    known: &HashSet<ProcessId>,
    marks: &mut Marks,
) -> Belongs {
    let stat = &seen.stat;
    // The teammate's own environment may hold the mark of a team around ours.
    if leader == Some(stat.id()) || known.contains(&stat.id()) {
        return Belongs::Ours;
    }
    // What was there before the teammate cannot be of its life, and need not be asked.
    if leader.is_some_and(|leader| stat.start_time < leader.start_time) {
        return Belongs::Other;
    }
    let marked = match marks.entry(stat.id()) {
        Entry::Occupied(known) => *known.get(),
        // One without a mark may be on its way to it, between its fork and its program: that is asked again.
        Entry::Vacant(unknown) => seen.life().and_then(|value| {
            let says = if *value == life { Belongs::Ours } else { Belongs::Other };
            *unknown.insert((!value.is_empty()).then_some(says))
        }),
    };
    let in_session = |leader: ProcessId| stat.session == leader.pid && stat.start_time >= leader.start_time;
    marked.unwrap_or(match leader {
        Some(leader) if in_session(leader) => Belongs::Ours,
        _ => Belongs::Inherits,
    })
}

fn is_ours(stat: &Stat, running: &HashMap<u32, (Stat, Belongs)>) -> bool {
    let mut pid = stat.pid;
    // Bounded: the parents were not all read at one moment, so they could form a ring.
    for _ in 0..running.len() {
        match running.get(&pid) {
            Some((_, Belongs::Ours)) => return true,
            Some((stat, Belongs::Inherits)) => pid = stat.ppid,
            Some((_, Belongs::Other)) | None => return false,
        }
    }
    false
}

/// Ends the life: TERM and CONT (a stopped process cannot heed TERM), up to `grace` to leave, then KILL until a look
/// finds none, at most 5 s more. Blocks; call it through `spawn_blocking`.
#[must_use]
pub fn end_life(mark: &LifeMark, spare: &[u32], grace: Duration) -> EndReport {
    let mut ending = Ending {
        mark,
        spare,
        known: HashSet::new(),
        killed: HashSet::new(),
        groups: HashSet::new(),
        marks: Marks::new(),
    };
    let grace_over = Instant::now() + grace;
    // With nothing left the grace is not waited out, so the time for killing counts from now.
    let left = if ending.ask(grace_over) { Vec::new() } else { ending.kill(Instant::now() + KILL_FOR) };
    let unfinished: HashSet<_> = left.iter().copied().collect();
    EndReport {
        ended: ending.known.difference(&unfinished).count(),
        killed: ending.killed.difference(&unfinished).count(),
        left,
    }
}

struct Ending<'a> {
    mark: &'a LifeMark,
    spare: &'a [u32],
    known: HashSet<ProcessId>,
    killed: HashSet<ProcessId>,
    /// Process groups that hold members and nobody else.
    groups: HashSet<u32>,
    marks: Marks,
}

impl Ending<'_> {
    /// What is there now. One that forks and leaves faster than looks can follow is still reached by a signal to its
    /// group, so an empty look is believed only once the groups are gone, or were signalled and looked for again: what is
    /// left of a group may be what nobody reaped.
    fn look(&mut self, at_once: &mut dyn FnMut(ProcessId)) -> Vec<ProcessId> {
        let found = self.several_looks(at_once);
        if !found.is_empty() {
            return found;
        }
        self.signal_groups(Signal::KILL);
        if self.groups.is_empty() { found } else { self.several_looks(at_once) }
    }

    /// A process that forks and leaves at once can slip through one look, so only several empty ones in a row count as
    /// none.
    fn several_looks(&mut self, at_once: &mut dyn FnMut(ProcessId)) -> Vec<ProcessId> {
        for _ in 0..EMPTY_LOOKS {
            let found = find(self.mark, self.spare, &self.known, &mut self.marks, all_seen(), at_once);
            if !found.members.is_empty() {
                self.groups.extend(found.groups.iter().filter(|group| **group > 1));
                self.groups.retain(|group| !found.foreign_groups.contains(group));
                self.known.extend(&found.members);
                return found.members;
            }
        }
        Vec::new()
    }

    /// Asks all to leave, those that appear meanwhile too, until none is left (`true`) or the grace is over.
    fn ask(&mut self, until: Instant) -> bool {
        let mut asked = HashSet::new();
        loop {
            let found = self.look(&mut |_| {});
            let left = until.saturating_duration_since(Instant::now());
            if found.is_empty() || left.is_zero() {
                return found.is_empty();
            }
            for id in &found {
                if asked.insert(*id) {
                    send(*id, &[Signal::TERM, Signal::CONT]);
                }
            }
            wait_for_all(&found, left);
        }
    }

    /// Kills in rounds; what is left when the time is over.
    fn kill(&mut self, until: Instant) -> Vec<ProcessId> {
        loop {
            let found = self.freeze();
            if found.is_empty() {
                return found;
            }
            self.signal_groups(Signal::KILL);
            for id in &found {
                send(*id, &[Signal::KILL]);
            }
            self.killed.extend(&found);
            wait_for_all(&found, ROUND);
            if Instant::now() >= until {
                return found.into_iter().filter(|id| process::is_alive(*id)).collect();
            }
        }
    }

    /// Stops all, so that killing one does not race with another that forks; all that was found.
    fn freeze(&mut self) -> Vec<ProcessId> {
        let mut frozen = HashSet::new();
        let mut found = Vec::new();
        for _ in 0..MAX_FREEZES {
            // At once: when the look is over, one that forks and leaves would be another process already.
            found = self.look(&mut |id| send(id, &[Signal::STOP]));
            let fresh: Vec<_> = found.iter().filter(|id| frozen.insert(**id)).collect();
            if fresh.is_empty() {
                break;
            }
            self.signal_groups(Signal::STOP);
            for id in fresh {
                send(*id, &[Signal::STOP]);
            }
        }
        found
    }

    /// Signals whole groups, which reaches those born since the look too. The kernel keeps a group's number while it has
    /// a member. That the last of ours ended since the look a moment ago, and the number was given away again, would
    /// take all pids to be used up in between.
    fn signal_groups(&mut self, signal: Signal) {
        self.groups.retain(|group| {
            let group = i32::try_from(*group).ok().and_then(Pid::from_raw);
            group.is_some_and(|group| kill_process_group(group, signal).is_ok())
        });
    }
}

/// One that has gone meanwhile, or that belongs to another user, shows itself in the next look.
fn send(id: ProcessId, signals: &[Signal]) {
    let Ok(pidfd) = Pidfd::open(id) else { return };
    for signal in signals {
        let _ = pidfd.signal(*signal);
    }
}

/// Waits until all have ended (of very many: the first ones), at most for `limit`.
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
