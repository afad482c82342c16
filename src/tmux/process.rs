//! The server's process, held so that its id cannot come to mean another.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

/// A process that need not be a child of ours.
#[derive(Debug, Clone)]
pub(super) struct Process(Arc<OwnedFd>);

impl Process {
    /// Nothing if there is no such process.
    pub fn open(pid: u32) -> Option<Self> {
        let pid = Pid::from_raw(i32::try_from(pid).ok()?)?;
        pidfd_open(pid, PidfdFlags::empty()).ok().map(|fd| Self(Arc::new(fd)))
    }

    /// Already gone is as good as killed.
    pub fn kill(&self) {
        let _ = pidfd_send_signal(&*self.0, Signal::KILL);
    }

    /// Whether the process has ended before `limit` is over. Waits on a thread of its own: the runtime goes on.
    pub async fn ended(&self, limit: Duration) -> bool {
        let held = Arc::clone(&self.0);
        let wait = move || {
            let until = std::time::Instant::now() + limit;
            loop {
                let left = until.saturating_duration_since(std::time::Instant::now());
                let Ok(left) = Timespec::try_from(left) else { return false };
                match poll(&mut [PollFd::new(&*held, PollFlags::IN)], Some(&left)) {
                    Err(rustix::io::Errno::INTR) => {}
                    answer => return answer.is_ok_and(|ready| ready > 0),
                }
            }
        };
        tokio::task::spawn_blocking(wait).await.unwrap_or(false)
    }
}
