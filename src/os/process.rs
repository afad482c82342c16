//! What `/proc` says about processes (proc(5)).

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

/// Deeper chains than this are not followed: a chain read while it changes could otherwise loop.
const MAX_ANCESTORS: usize = 128;
/// `PF_KTHREAD` of the kernel's `sched.h`: the process is a kernel thread.
const PF_KTHREAD: u32 = 0x0020_0000;

/// One process for as long as this boot lasts: a pid alone may be given to another process later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ProcessId {
    pub pid: u32,
    /// Clock ticks after boot (field 22 of `/proc/PID/stat`).
    pub start_time: u64,
}

/// The parts of `/proc/PID/stat` that we use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stat {
    pub pid: u32,
    pub ppid: u32,
    pub pgrp: u32,
    pub session: u32,
    pub tty_nr: i32,
    /// `R`, `S`, `D`, `T`, `Z`, …
    pub state: char,
    pub flags: u32,
    pub threads: u32,
    pub start_time: u64,
}

impl Stat {
    #[must_use]
    pub const fn id(&self) -> ProcessId {
        ProcessId { pid: self.pid, start_time: self.start_time }
    }

    /// Whether it has ended. A main thread that left its other threads running is a zombie that still runs.
    #[must_use]
    pub const fn has_ended(&self) -> bool {
        matches!(self.state, 'X' | 'x') || (self.state == 'Z' && self.threads <= 1)
    }

    #[must_use]
    pub const fn is_kernel_thread(&self) -> bool {
        self.flags & PF_KTHREAD != 0
    }

    /// The name in field 2 may hold spaces and parentheses, so the fields count from the last `)`.
    fn parse(text: &[u8]) -> Option<Self> {
        let open = text.iter().position(|byte| *byte == b'(')?;
        let close = text.iter().rposition(|byte| *byte == b')')?;
        let pid = std::str::from_utf8(text.get(..open)?).ok()?.trim().parse().ok()?;
        let rest = std::str::from_utf8(text.get(close + 1..)?).ok()?;
        // fields[0] is field 3 of proc(5).
        let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
        let field = |number: usize| fields.get(number - 3).copied();
        Some(Self {
            pid,
            state: field(3)?.chars().next()?,
            ppid: field(4)?.parse().ok()?,
            pgrp: unsigned(field(5)?)?,
            session: unsigned(field(6)?)?,
            tty_nr: field(7)?.parse().ok()?,
            flags: field(9)?.parse().ok()?,
            threads: unsigned(field(20)?)?,
            start_time: field(22)?.parse().ok()?,
        })
    }
}

/// The running binary, also after it was replaced on disk by a newer build.
///
/// # Errors
/// When `/proc` does not tell it.
pub fn own_binary() -> io::Result<PathBuf> {
    let exe = std::env::current_exe()?;
    match exe.to_str().and_then(|s| s.strip_suffix(" (deleted)")) {
        Some(path) => Ok(PathBuf::from(path)),
        None => Ok(exe),
    }
}

/// Some fields are -1 for a process that is just being taken away.
fn unsigned(text: &str) -> Option<u32> {
    text.parse::<i64>().ok().map(|number| u32::try_from(number).unwrap_or(0))
}

/// Reads a file of `/proc`, all of it in one go where it is no longer than a page: their sizes say 0, and a reader that
/// believes them begins with 32 bytes and asks six times.
fn read(path: &str) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(4096);
    // `take` keeps the standard library from asking for the size first.
    fs::File::open(path)?.take(u64::MAX).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// What `/proc/PID/stat` says now.
///
/// # Errors
/// `NotFound` when there is no such process.
pub fn stat(pid: u32) -> io::Result<Stat> {
    let path = format!("/proc/{pid}/stat");
    let text = read(&path).map_err(|error| {
        // A process that ends between open and read gives ESRCH.
        let gone = error.raw_os_error() == Some(rustix::io::Errno::SRCH.raw_os_error());
        let kind = if gone { io::ErrorKind::NotFound } else { error.kind() };
        io::Error::new(kind, format!("{path}: {error}"))
    })?;
    Stat::parse(&text).ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, format!("{path}: unknown form")))
}

/// This process.
#[must_use]
pub fn me() -> ProcessId {
    let pid = std::process::id();
    ProcessId { pid, start_time: stat(pid).map_or(0, |stat| stat.start_time) }
}

/// The id of this boot; start times of another boot mean nothing. Empty when the kernel does not tell.
#[must_use]
pub fn boot_id() -> String {
    static BOOT_ID: OnceLock<String> = OnceLock::new();
    BOOT_ID
        .get_or_init(|| fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim_end().to_owned())
        .clone()
}

/// Whether just this process runs: the same start time, and not a zombie.
#[must_use]
pub fn is_alive(id: ProcessId) -> bool {
    stat(id.pid).is_ok_and(|stat| stat.start_time == id.start_time && !stat.has_ended())
}

/// The parent of `pid`, its parent, and so on, nearest first.
#[must_use]
pub fn ancestors(pid: u32) -> Vec<Stat> {
    let mut found = Vec::new();
    let mut seen = HashSet::from([pid]);
    let mut next = stat(pid).map_or(0, |stat| stat.ppid);
    while next != 0 && found.len() < MAX_ANCESTORS && seen.insert(next) {
        let Ok(stat) = stat(next) else { break };
        next = stat.ppid;
        found.push(stat);
    }
    found
}

/// Program and arguments; empty for a zombie, a kernel thread, or when there is no such process.
#[must_use]
pub fn cmdline(pid: u32) -> Vec<OsString> {
    let mut text = read(&format!("/proc/{pid}/cmdline")).unwrap_or_default();
    if text.last() == Some(&0) {
        text.pop();
    } else if text.is_empty() {
        return Vec::new();
    }
    text.split(|byte| *byte == 0).map(|word| OsString::from_vec(word.to_vec())).collect()
}

/// A variable of the environment that `pid` was started with. `None` also when we may not look.
#[must_use]
pub fn environ_value(pid: u32, name: &str) -> Option<OsString> {
    let text = read(&format!("/proc/{pid}/environ")).ok()?;
    text.split(|byte| *byte == 0)
        .find_map(|entry| entry.strip_prefix(name.as_bytes())?.strip_prefix(b"="))
        .map(|value| OsStr::from_bytes(value).to_owned())
}

/// Every process that `/proc` shows. One that ends meanwhile is left out. Newest first, as far as their numbers tell: the
/// newest are the likeliest to be gone a moment after the listing.
pub fn all() -> impl Iterator<Item = Stat> {
    let mut pids: Vec<u32> = fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .collect();
    pids.sort_unstable_by(|one, other| other.cmp(one));
    pids.into_iter().filter_map(|pid| stat(pid).ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn names_with_parentheses_do_not_shift_the_fields() {
        let line = b"42 (a) b (c) S 7 8 9 34816 10 4194304 0 0 0 0 0 0 0 0 20 0 3 0 123456 0 0\n";
        let stat = Stat::parse(line).unwrap();
        assert_eq!((stat.pid, stat.ppid, stat.pgrp, stat.session), (42, 7, 8, 9));
        assert_eq!((stat.tty_nr, stat.state, stat.threads, stat.start_time), (34816, 'S', 3, 123_456));
        assert_eq!(Stat::parse(b"42 (a"), None);
        assert_eq!(Stat::parse(b""), None);
    }

    #[test]
    fn a_program_whose_name_is_hostile_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let program = dir.path().join("x) S 1 (y");
        std::os::unix::fs::symlink("/bin/sleep", &program).unwrap();
        let mut child = Command::new(&program).arg("1000").env("CREWMUX_LIFE", "abc=d").spawn().unwrap();
        // The start may return a moment before the kernel shows the new program.
        while cmdline(child.id()).is_empty() {
            std::thread::yield_now();
        }
        let stat = stat(child.id()).unwrap();
        assert_eq!(stat.ppid, std::process::id());
        assert!(is_alive(stat.id()));
        assert!(!is_alive(ProcessId { start_time: stat.start_time + 1, ..stat.id() }));
        assert_eq!(cmdline(child.id()), [program.into_os_string(), "1000".into()]);
        assert_eq!(environ_value(child.id(), "CREWMUX_LIFE"), Some("abc=d".into()));
        assert_eq!(environ_value(child.id(), "CREWMUX_LIF"), None);
        assert!(all().any(|other| other.id() == stat.id()));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!is_alive(stat.id()));
    }

    #[test]
    fn a_zombie_is_not_alive() {
        let mut child = Command::new("sh").args(["-c", "read x"]).stdin(Stdio::piped()).spawn().unwrap();
        let id = stat(child.id()).unwrap().id();
        drop(child.stdin.take());
        while stat(child.id()).unwrap().state != 'Z' {
            std::thread::yield_now();
        }
        assert!(!is_alive(id));
        child.wait().unwrap();
    }

    #[test]
    fn ancestors_end_at_the_first_process() {
        let mine = ancestors(std::process::id());
        assert_eq!(mine.first().map(|stat| stat.pid), stat(std::process::id()).ok().map(|stat| stat.ppid));
        assert_eq!(me(), stat(std::process::id()).unwrap().id());
        assert!(!boot_id().is_empty());
        assert_eq!(ancestors(u32::MAX), []);
    }
}
