//! Being the parent of orphans (`PR_SET_CHILD_SUBREAPER`, prctl(2)) without losing the exit status of our own children.
//!
//! A teammate process adopts what its program leaves behind, so it must wait for processes that it never started.
//! Waiting for *any* child would steal the status that [`tokio::process::Child`] waits for; so our own children are
//! kept in a list, and only what is not in it is reaped. Start every child of a subreaper with [`spawn_kept`].

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::process::{Pid, WaitOptions, set_child_subreaper, waitpid};
use tokio::process::{Child, Command};
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::process::{self, ProcessId};

static KEPT: Mutex<Vec<ProcessId>> = Mutex::new(Vec::new());

fn kept() -> MutexGuard<'static, Vec<ProcessId>> {
    KEPT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// While this lives, the [`Reaper`] leaves the child to whoever waits for it.
#[derive(Debug)]
#[must_use = "the reaper takes the child's exit status once this is dropped"]
pub struct Kept(ProcessId);

impl Kept {
    #[must_use]
    pub const fn id(&self) -> ProcessId {
        self.0
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        let mut kept = kept();
        if let Some(at) = kept.iter().position(|id| *id == self.0) {
            kept.swap_remove(at);
        }
    }
}

/// Starts a child that the [`Reaper`] leaves alone.
///
/// # Errors
/// Those of [`Command::spawn`].
pub fn spawn_kept(command: &mut Command) -> io::Result<(Child, Kept)> {
    // Held over the spawn: the reaper must not look between the birth of the child and its entry in the list.
    let mut kept = kept();
    let child = command.spawn()?;
    // The child cannot have been waited for yet, so its pid is still its own.
    let pid = child.id().ok_or_else(|| io::Error::other("the new process has no pid"))?;
    let start_time = process::stat(pid)?.start_time;
    let id = ProcessId { pid, start_time };
    kept.push(id);
    drop(kept);
    Ok((child, Kept(id)))
}

/// From now on, orphaned descendants become children of this process.
///
/// # Errors
/// When the kernel refuses.
pub fn become_subreaper() -> io::Result<()> {
    // The argument is a flag to the kernel: any pid stands for "on".
    Ok(set_child_subreaper(Pid::from_raw(1))?)
}

/// Waits for adopted orphans as they end.
#[derive(Debug)]
pub struct Reaper {
    signals: Signal,
}

impl Reaper {
    /// # Errors
    /// When SIGCHLD cannot be listened to.
    pub fn new() -> io::Result<Self> {
        Ok(Self { signals: signal(SignalKind::child())? })
    }

    /// Reaps for ever whatever ends after [`Self::new`]. Safe to cancel; run it in a task of its own: each end of a child
    /// makes it look through all processes. It does not look before the first: of 64 teammates that start together, each
    /// would look through what all of them start.
    pub async fn run(&mut self) {
        while self.signals.recv().await.is_some() {
            reap_orphans();
        }
    }
}

/// Reaps every ended child that nobody waits for; how many.
pub fn reap_orphans() -> usize {
    let parent = std::process::id();
    let kept = kept();
    // Not waitid(P_ALL, WNOWAIT): it shows the same zombie again and again until its owner has waited for it, and so
    // hides the others.
    process::all()
        .filter(|stat| stat.ppid == parent && stat.state == 'Z' && !kept.contains(&stat.id()))
        .filter_map(|stat| Pid::from_raw(i32::try_from(stat.pid).ok()?))
        .filter(|pid| matches!(waitpid(Some(*pid), WaitOptions::NOHANG), Ok(Some(_))))
        .count()
}
