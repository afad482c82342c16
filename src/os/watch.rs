//! Descriptors watched by the tokio runtime.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Has the runtime watch a descriptor.
///
/// # Errors
/// `PermissionDenied` for what cannot be watched, such as a plain file.
#[expect(deprecated, reason = "deprecated for types that may change their descriptor; an `OwnedFd` never does")]
pub fn watch(fd: OwnedFd, interest: Interest) -> io::Result<AsyncFd<OwnedFd>> {
    AsyncFd::with_interest(fd, interest)
}

pub fn set_nonblocking(fd: impl AsFd) -> io::Result<()> {
    let flags = fcntl_getfl(&fd)?;
    Ok(fcntl_setfl(&fd, flags | OFlags::NONBLOCK)?)
}

/// Reads when there is something; 0 at the end. Safe to cancel.
pub async fn read(fd: &AsyncFd<OwnedFd>, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        let mut ready = fd.readable().await?;
        let closed = ready.ready().is_read_closed();
        match ready.try_io(|fd| Ok(rustix::io::read(fd, &mut *buffer)?)) {
            Ok(result) => return result,
            // A hang-up stays, so waiting on would spin.
            Err(_) if closed => return Ok(0),
            Err(_) => {}
        }
    }
}

/// Writes when there is room; how many bytes were taken. Safe to cancel.
///
/// # Errors
/// `BrokenPipe` when there will never be room again.
pub async fn write(fd: &AsyncFd<OwnedFd>, bytes: &[u8]) -> io::Result<usize> {
    loop {
        let mut ready = fd.writable().await?;
        let closed = ready.ready().is_write_closed();
        match ready.try_io(|fd| Ok(rustix::io::write(fd, bytes)?)) {
            Ok(result) => return result,
            Err(_) if closed => return Err(io::ErrorKind::BrokenPipe.into()),
            Err(_) => {}
        }
    }
}
