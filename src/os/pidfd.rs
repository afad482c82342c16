//! A handle on one process that a re-used pid cannot fake (pidfd_open(2)).

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use tokio::io::Interest;

use super::process::{self, ProcessId};
use super::watch::watch;

#[derive(Debug)]
pub struct Pidfd {
    fd: OwnedFd,
    id: ProcessId,
}

impl Pidfd {
    /// Takes hold of the process. The start time is looked at *after* the open: whatever the pid meant before, the
    /// handle means the process that had this start time.
    ///
    /// # Errors
    /// `NotFound` when that process is gone, be the pid in use again or not.
    pub fn open(id: ProcessId) -> io::Result<Self> {
        let gone = || io::Error::new(io::ErrorKind::NotFound, format!("process {} is gone", id.pid));
        let pid = i32::try_from(id.pid).ok().and_then(Pid::from_raw).ok_or_else(gone)?;
        let fd = pidfd_open(pid, PidfdFlags::empty()).map_err(|error| match error {
            rustix::io::Errno::SRCH => gone(),
            other => io::Error::new(io::Error::from(other).kind(), format!("pidfd of process {}: {other}", id.pid)),
        })?;
        match process::stat(id.pid) {
            Ok(stat) if stat.start_time == id.start_time => Ok(Self { fd, id }),
            _ => Err(gone()),
        }
    }

    #[must_use]
    pub const fn id(&self) -> ProcessId {
        self.id
    }

    /// Sends a signal. A process that has ended takes it as well as a running one: that is no error.
    ///
    /// # Errors
    /// `PermissionDenied` for a process of another user.
    pub fn signal(&self, signal: Signal) -> io::Result<()> {
        match pidfd_send_signal(&self.fd, signal) {
            Ok(()) | Err(rustix::io::Errno::SRCH) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether it has ended (it may be a zombie).
    #[must_use]
    pub fn exited(&self) -> bool {
        poll_exit(&[self], Duration::ZERO)
    }

    /// Waits until it has ended. Safe to cancel, and to be waited for from several places.
    ///
    /// # Errors
    /// When the runtime cannot watch the handle.
    pub async fn wait(&self) -> io::Result<()> {
        // A file descriptor can be registered once only, so each wait has its own.
        let fd = watch(self.fd.try_clone()?, Interest::READABLE)?;
        let _ready = fd.readable().await?;
        Ok(())
    }

    /// Blocks until it has ended, at most for `timeout`; whether it has ended.
    #[must_use]
    pub fn wait_blocking(&self, timeout: Duration) -> bool {
        poll_exit(&[self], timeout)
    }
}

impl AsFd for Pidfd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Blocks until at least one of them has ended, at most for `timeout`; whether one has.
#[must_use]
pub fn poll_exit(pidfds: &[&Pidfd], timeout: Duration) -> bool {
    let deadline = Instant::now() + timeout;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let limit = Timespec { tv_sec: left.as_secs().cast_signed(), tv_nsec: left.subsec_nanos().into() };
        let mut polled: Vec<_> = pidfds.iter().map(|pidfd| PollFd::new(pidfd, PollFlags::IN)).collect();
        match poll(&mut polled, Some(&limit)) {
            Ok(0) => return false,
            Ok(_) => return polled.iter().any(|one| one.revents().contains(PollFlags::IN)),
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_reused_pid_is_another_process() {
        let mut child = Command::new("sleep").arg("1000").spawn().unwrap();
        let id = process::stat(child.id()).unwrap().id();
        let other = ProcessId { start_time: id.start_time - 1, ..id };
        assert_eq!(Pidfd::open(other).unwrap_err().kind(), io::ErrorKind::NotFound);
        let pidfd = Pidfd::open(id).unwrap();
        assert!(!pidfd.exited());
        assert!(!pidfd.wait_blocking(Duration::from_millis(1)));
        pidfd.signal(Signal::KILL).unwrap();
        assert!(pidfd.wait_blocking(Duration::from_secs(60)));
        child.wait().unwrap();
        assert!(pidfd.exited());
        pidfd.signal(Signal::TERM).unwrap();
        assert_eq!(Pidfd::open(id).unwrap_err().kind(), io::ErrorKind::NotFound);
        assert_eq!(Pidfd::open(ProcessId { pid: 0, start_time: 0 }).unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[tokio::test]
    async fn several_wait_for_one_process() {
        let mut child = Command::new("sleep").arg("1000").spawn().unwrap();
        let pidfd = Pidfd::open(process::stat(child.id()).unwrap().id()).unwrap();
        let end = async { child.kill() };
        let (first, second, killed) = tokio::join!(pidfd.wait(), pidfd.wait(), end);
        first.unwrap();
        second.unwrap();
        killed.unwrap();
        child.wait().unwrap();
    }
}
