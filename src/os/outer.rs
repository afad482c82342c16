//! The teammate's own terminal, read and written without blocking.
//!
//! It is opened anew: O_NONBLOCK belongs to the *open file*, which whoever started us and what we start share, and which
//! would find its reads failing.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use rustix::fs::{FileType, Mode, OFlags, fstat};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use super::terminal::isatty;
use super::watch::{read, set_nonblocking, watch, write};

/// What people type. Anything that cannot be watched (a plain file, /dev/null) counts as ended.
#[derive(Debug)]
pub struct OuterInput(Option<AsyncFd<OwnedFd>>);

impl OuterInput {
    pub fn open(fd: BorrowedFd<'_>) -> Self {
        Self(open(fd, OFlags::RDONLY).and_then(|fd| watch(fd, Interest::READABLE)).ok())
    }

    pub const fn is_open(&self) -> bool {
        self.0.is_some()
    }

    pub fn close(&mut self) {
        self.0 = None;
    }

    /// 0 at the end. Never returns once closed. Safe to cancel.
    pub async fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(fd) = &self.0 else { return std::future::pending().await };
        read(fd, buffer).await
    }
}

/// Where people watch.
#[derive(Debug)]
pub enum OuterOutput {
    Watched(AsyncFd<OwnedFd>),
    /// A plain file or /dev/null, which never makes us wait.
    Plain(OwnedFd),
    /// Nobody watches any more; the program runs on.
    Gone,
}

impl OuterOutput {
    pub fn open(fd: BorrowedFd<'_>) -> Self {
        let opened = open(fd, OFlags::WRONLY).and_then(|fd| watch(fd, Interest::WRITABLE));
        match opened {
            Ok(fd) => Self::Watched(fd),
            Err(_) => fd.try_clone_to_owned().map_or(Self::Gone, Self::Plain),
        }
    }

    /// How many bytes were taken. Safe to cancel.
    pub async fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Watched(fd) => write(fd, bytes).await,
            Self::Plain(fd) => Ok(rustix::io::write(fd, bytes)?),
            Self::Gone => Ok(bytes.len()),
        }
    }

    pub fn fd(&self) -> Option<BorrowedFd<'_>> {
        match self {
            Self::Watched(fd) => Some(fd.get_ref().as_fd()),
            Self::Plain(fd) => Some(fd.as_fd()),
            Self::Gone => None,
        }
    }
}

fn open(fd: BorrowedFd<'_>, access: OFlags) -> io::Result<OwnedFd> {
    let fifo = FileType::from_raw_mode(fstat(fd)?.st_mode) == FileType::Fifo;
    if isatty(fd) || fifo {
        let flags = access | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        if let Ok(own) = rustix::fs::open(format!("/proc/self/fd/{}", fd.as_raw_fd()), flags, Mode::empty()) {
            return Ok(own);
        }
    }
    // A socket cannot be opened anew, nor can the terminal of another user (su).
    let shared = fd.try_clone_to_owned()?;
    if FileType::from_raw_mode(fstat(fd)?.st_mode) != FileType::RegularFile {
        set_nonblocking(&shared)?;
    }
    Ok(shared)
}
