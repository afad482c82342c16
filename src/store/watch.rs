//! What wakes a process that waits for files. An event is only a hint: whoever wakes reads to the end.

use std::path::Path;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use notify::event::Flag;
use notify::{Config, EventKindMask, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::Notify;

use super::look::Look;
use crate::os::late_close::{self, LateClose};

/// The net under lost events.
pub const SLOW_LOOK: Duration = Duration::from_secs(10);
/// How often a folder is looked at where inotify is not to be had.
pub const POLL: Duration = Duration::from_millis(200);

/// Why a waiter woke.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wake {
    /// Something in a folder was made, changed or moved.
    Event,
    /// Events were lost: look at everything.
    Rescan,
    /// Nothing was heard for a while.
    Look,
}

const EVENT: u8 = 1;
const RESCAN: u8 = 2;

/// What the watcher's thread tells the waiters.
#[derive(Debug, Default)]
struct Bell {
    rung: AtomicU8,
    task: Notify,
    turn: Mutex<()>,
    thread: Condvar,
}

impl Bell {
    fn ring(&self, what: u8) {
        self.rung.fetch_or(what, Ordering::Release);
        self.task.notify_one();
        // Taken and let go, so that a thread between its look and its wait hears this.
        drop(self.turn.lock().unwrap_or_else(PoisonError::into_inner));
        self.thread.notify_all();
    }

    fn take(&self) -> Option<Wake> {
        match self.rung.swap(0, Ordering::Acquire) {
            0 => None,
            rung if rung & RESCAN != 0 => Some(Wake::Rescan),
            _ => Some(Wake::Event),
        }
    }
}

/// A watch on some folders, not on those below them. One a process: inotify instances are few (128 a user by default).
#[derive(Debug)]
pub struct Watch {
    bell: Arc<Bell>,
    watcher: Option<RecommendedWatcher>,
    /// Folders that inotify does not cover.
    polled: Look,
    /// So that whoever waits for the end of this process need not wait for the end of the watcher.
    _late: Option<LateClose>,
}

impl Watch {
    /// Starts to watch. Never fails: what cannot be watched is looked at every 200 ms.
    #[must_use]
    pub fn start<P: AsRef<Path>>(dirs: impl IntoIterator<Item = P>) -> Self {
        let bell = Arc::new(Bell::default());
        let watcher = watcher(&bell);
        let late = watcher.as_ref().and_then(|_| late_close::inotify().ok());
        let mut watch = Self { watcher, bell, polled: Look::default(), _late: late };
        for dir in dirs {
            watch.add(dir.as_ref());
        }
        watch
    }

    /// Watches one more folder.
    pub fn add(&mut self, dir: &Path) {
        let added = self.watcher.as_mut().is_some_and(|w| w.watch(dir, RecursiveMode::NonRecursive).is_ok());
        if !added {
            self.polled.add(dir.to_owned());
        }
    }

    /// Watches a folder no more.
    pub fn remove(&mut self, dir: &Path) {
        if let Some(watcher) = &mut self.watcher {
            // One that is not watched, or not there any more, is what was asked for.
            let _ = watcher.unwatch(dir);
        }
        self.polled.remove(dir);
    }

    /// `inotify`, or `polling` where at least one folder had to be looked at instead.
    #[must_use]
    pub fn mode(&self) -> &'static str {
        if self.watcher.is_some() && self.polled.is_empty() { "inotify" } else { "polling" }
    }

    fn step(&self) -> Duration {
        if self.polled.is_empty() { SLOW_LOOK } else { POLL }
    }

    /// Waits until something may have changed. Dropping the future loses nothing.
    pub async fn changed(&mut self) -> Wake {
        let begun = Instant::now();
        loop {
            if let Some(wake) = self.bell.take() {
                return wake;
            }
            let heard = tokio::time::timeout(self.step(), self.bell.task.notified()).await;
            if heard.is_err()
                && let Some(wake) = self.looked(begun)
            {
                return wake;
            }
        }
    }

    /// [`Self::changed`] for a plain thread. `None` where nothing was heard within `timeout`.
    pub fn wait_blocking(&mut self, timeout: Duration) -> Option<Wake> {
        let begun = Instant::now();
        loop {
            let turn = self.bell.turn.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(wake) = self.bell.take() {
                return Some(wake);
            }
            let left = timeout.checked_sub(begun.elapsed()).filter(|left| !left.is_zero())?;
            let waited = self.bell.thread.wait_timeout(turn, self.step().min(left));
            let silent = waited.unwrap_or_else(PoisonError::into_inner).1.timed_out();
            if silent && let Some(wake) = self.looked(begun) {
                return Some(wake);
            }
        }
    }

    /// After a step without events: whether there is a reason to wake all the same.
    fn looked(&mut self, begun: Instant) -> Option<Wake> {
        if self.polled.changed() {
            return Some(Wake::Event);
        }
        (begun.elapsed() >= SLOW_LOOK).then_some(Wake::Look)
    }
}

fn watcher(bell: &Arc<Bell>) -> Option<RecommendedWatcher> {
    // Never opening, reading or closing: a reader would wake itself. Asked of the kernel, so that not even the
    // watcher's own thread wakes for them.
    let kinds = EventKindMask::CREATE | EventKindMask::MODIFY_DATA | EventKindMask::MODIFY_NAME;
    let config = Config::default().with_event_kinds(kinds).with_follow_symlinks(false);
    let bell = Arc::clone(bell);
    let heard = move |event: notify::Result<notify::Event>| match event {
        Ok(event) if event.attrs.flag() == Some(Flag::Rescan) => bell.ring(RESCAN),
        Ok(event) if event.kind.is_create() || event.kind.is_modify() || event.kind.is_other() => bell.ring(EVENT),
        Ok(_) => {}
        Err(_) => bell.ring(RESCAN),
    };
    RecommendedWatcher::new(heard, config).ok()
}
