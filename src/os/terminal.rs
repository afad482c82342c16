//! Terminals: raw mode, size, and our end of a pseudo-terminal.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{
    InputModes, LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetwinsize, tcsetattr,
    tcsetwinsize,
};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use super::watch::{self, set_nonblocking, watch};

pub use rustix::termios::{Winsize, isatty};

/// The size of a terminal that does not tell.
pub const DEFAULT_SIZE: Winsize = Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };

/// A terminal in raw mode; dropping this gives it back as it was.
#[derive(Debug)]
pub struct RawMode {
    fd: OwnedFd,
    before: Termios,
}

impl RawMode {
    /// `None` when `fd` is not a terminal.
    ///
    /// # Errors
    /// When the terminal refuses.
    pub fn enter(fd: impl AsFd) -> io::Result<Option<Self>> {
        if !isatty(&fd) {
            return Ok(None);
        }
        let fd = fd.as_fd().try_clone_to_owned()?;
        let before = tcgetattr(&fd)?;
        let mut raw = before.clone();
        raw.make_raw();
        // What was typed before is for the program, so it is not flushed away.
        tcsetattr(&fd, OptionalActions::Drain, &raw)?;
        Ok(Some(Self { fd, before }))
    }
}

impl Drop for RawMode {
    fn drop(&mut self) {
        // Nothing to be done when the terminal is gone already. Not `Drain`: a terminal that nobody reads would hold
        // us here.
        let _ = tcsetattr(&self.fd, OptionalActions::Now, &self.before);
    }
}

/// Rows and columns; `None` when it is no terminal or knows no size.
#[must_use]
pub fn winsize(fd: impl AsFd) -> Option<Winsize> {
    tcgetwinsize(fd).ok().filter(|size| size.ws_row > 0 && size.ws_col > 0)
}

/// Sets the size; the kernel tells the foreground programs by SIGWINCH if it changed.
///
/// # Errors
/// When `fd` is no terminal.
pub fn set_winsize(fd: impl AsFd, size: Winsize) -> io::Result<()> {
    Ok(tcsetwinsize(fd, size)?)
}

/// The byte that stops the foreground programs (Ctrl-Z as a rule), when typing it does so now. Ask our end.
#[must_use]
pub fn suspend_char_active(master: impl AsFd) -> Option<u8> {
    let modes = tcgetattr(master).ok()?;
    let byte = modes.special_codes[SpecialCodeIndex::VSUSP];
    // 0 is _POSIX_VDISABLE on Linux.
    (modes.local_modes.contains(LocalModes::ISIG) && byte != 0).then_some(byte)
}

const FLAGS: OpenptFlags = OpenptFlags::RDWR.union(OpenptFlags::NOCTTY).union(OpenptFlags::CLOEXEC);

/// The program's end of a pseudo-terminal. Not by name: `/dev/pts` may be another mount than the one our end came from.
///
/// # Errors
/// When `master` is none.
pub fn open_slave(master: impl AsFd) -> io::Result<OwnedFd> {
    Ok(ioctl_tiocgptpeer(master, FLAGS)?)
}

/// A new pseudo-terminal: our end and the program's.
///
/// # Errors
/// When the system has none left.
pub fn open_pty(size: Winsize) -> io::Result<(OwnedFd, OwnedFd)> {
    let master = openpt(FLAGS)?;
    grantpt(&master)?;
    unlockpt(&master)?;
    let slave = open_slave(&master)?;
    let mut modes = tcgetattr(&slave)?;
    // Erasing takes a whole character, as tmux sets it up too.
    modes.input_modes |= InputModes::IUTF8;
    tcsetattr(&slave, OptionalActions::Now, &modes)?;
    tcsetwinsize(&slave, size)?;
    Ok((master, slave))
}

/// Our end of a pseudo-terminal, for a tokio runtime.
#[derive(Debug)]
pub struct Master {
    fd: AsyncFd<OwnedFd>,
}

impl Master {
    /// # Errors
    /// Outside a runtime, or when it cannot watch the descriptor.
    pub fn new(fd: OwnedFd) -> io::Result<Self> {
        set_nonblocking(&fd)?;
        Ok(Self { fd: watch(fd, Interest::READABLE | Interest::WRITABLE)? })
    }

    /// Reads output of the program; 0 once nothing has the terminal open any more. Safe to cancel.
    ///
    /// # Errors
    /// Those of read(2).
    pub async fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        watch::read(&self.fd, buffer).await.or_else(end)
    }

    /// Waits until [`Self::try_read`] may find something. Safe to cancel.
    ///
    /// # Errors
    /// When the runtime shuts down.
    pub async fn readable(&self) -> io::Result<()> {
        // Only a read that finds nothing takes the readiness back.
        self.fd.readable().await?.retain_ready();
        Ok(())
    }

    /// Reads what is there; `WouldBlock` when there is nothing, 0 at the end.
    ///
    /// # Errors
    /// Those of read(2).
    pub fn try_read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.fd.try_io(Interest::READABLE, |fd| Ok(rustix::io::read(fd, buffer)?)).or_else(end)
    }

    /// Types; how many bytes were taken. Waits while the program does not read. Safe to cancel.
    ///
    /// # Errors
    /// Those of write(2); `BrokenPipe` when the program's terminal was closed.
    pub async fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        watch::write(&self.fd, bytes).await
    }
}

impl AsFd for Master {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// A pseudo-terminal that no program has open answers EIO, which is its end of file.
fn end(error: io::Error) -> io::Result<usize> {
    let eio = rustix::io::Errno::IO.raw_os_error();
    if error.raw_os_error() == Some(eio) { Ok(0) } else { Err(error) }
}
