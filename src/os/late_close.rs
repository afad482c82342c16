//! Descriptors that the kernel closes after their process has ended, and not before.
//!
//! The last close of an inotify instance waits for readers all over the kernel (10 to 20 ms), and a process is not gone
//! until its descriptors are closed: who waits for its end waits that long. So the descriptor is also sent on a socket,
//! together with the socket's own receiving end. When the process ends, both of them are held by nothing but the message
//! that lies there unread, and the kernel's collector of such rings (unix(7), `SCM_RIGHTS`) closes them in a thread of its own.

use std::fs;
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::net::{
    AddressFamily, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType, sendmsg, socketpair,
};
use rustix::process::{PidfdFlags, PidfdGetfdFlags, getpid, pidfd_getfd, pidfd_open};

/// Both ends of the socket: dropping them closes what was sent, some time after.
#[derive(Debug)]
pub struct LateClose {
    _ends: [OwnedFd; 2],
}

/// Has the inotify instances of this process closed late.
///
/// # Errors
/// When the kernel has no such sockets or no descriptors to spare: then closing takes its time, and nothing else changes.
pub fn inotify() -> io::Result<LateClose> {
    let open = inotify_instances()?;
    let sent: Vec<BorrowedFd<'_>> = open.iter().map(AsFd::as_fd).collect();
    send_to_self(&sent)
}

/// Copies of the inotify instances that are open in this process.
fn inotify_instances() -> io::Result<Vec<OwnedFd>> {
    let me = pidfd_open(getpid(), PidfdFlags::empty())?;
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc/self/fd")?.flatten() {
        // What was closed since the list was made is not there to be copied.
        if fs::read_link(entry.path()).is_ok_and(|to| to.as_os_str() == "anon_inode:inotify")
            && let Some(fd) = entry.file_name().to_str().and_then(|name| name.parse().ok())
            && let Ok(copy) = pidfd_getfd(&me, fd, PidfdGetfdFlags::empty())
        {
            found.push(copy);
        }
    }
    Ok(found)
}

fn send_to_self(fds: &[BorrowedFd<'_>]) -> io::Result<LateClose> {
    let (sending, receiving) =
        socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK, None)?;
    let mut with_ring = fds.to_vec();
    with_ring.push(receiving.as_fd());
    let mut space = vec![MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(with_ring.len()))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !control.push(SendAncillaryMessage::ScmRights(&with_ring)) {
        return Err(io::Error::other("too many inotify instances for one message"));
    }
    sendmsg(&sending, &[IoSlice::new(b"\0")], &mut control, SendFlags::NOSIGNAL)?;
    Ok(LateClose { _ends: [sending, receiving] })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::inotify::{CreateFlags, init};

    fn open_instances() -> usize {
        inotify_instances().unwrap().len()
    }

    #[test]
    fn what_is_sent_stays_open_as_long_as_it_is_kept() {
        let (reading, writing) = rustix::pipe::pipe().unwrap();
        let kept = send_to_self(&[writing.as_fd()]).unwrap();
        drop(writing);
        rustix::io::ioctl_fionbio(&reading, true).unwrap();
        assert_eq!(rustix::io::read(&reading, &mut [0; 1]), Err(rustix::io::Errno::AGAIN), "a writer is left");
        drop(kept);
        // The collector runs in a thread of the kernel's: its end is waited for, by the end of the pipe.
        rustix::io::ioctl_fionbio(&reading, false).unwrap();
        assert_eq!(rustix::io::read(&reading, &mut [0; 1]), Ok(0));
    }

    #[test]
    fn the_instances_of_this_process_are_found() {
        let before = open_instances();
        let instance = init(CreateFlags::CLOEXEC).unwrap();
        assert!(open_instances() > before);
        drop(inotify().unwrap());
        drop(instance);
    }
}
