//! Faults on purpose, for tests of the built program: the disk that refuses a write, the process that dies in the middle of
//! one, the clock that jumps. Only in builds with debug assertions, and only where [`VARIABLE`] names a folder. In other
//! builds every function here is its own end.
//!
//! `fault` in that folder is one fault, `PARTY FILE STEP WHAT [SKIP]`: in the process that runs the verb `PARTY` (`lead`,
//! `teammate`, `send`, …, `*`: any), at the step `STEP` (`write`, `sync`, `rename`) on a file of the name `FILE` (`*`: any), after letting
//! `SKIP` of them pass, happens `WHAT`: `kill` (before it), `half` (in its middle, then killed), `after` (done, then killed),
//! `stop` (before it, until CONT), `enospc`, `eio`, `short` (the disk takes a half). Whoever meets it first renames it to `fired`: it happens once.
//!
//! `clock` in that folder is by how many seconds the wall clock goes wrong.

use std::fs::File;
use std::io;
use std::path::Path;

/// Names the folder. Not one of ours by its name: those are kept from the processes of a team's tmux server.
#[cfg(debug_assertions)]
const VARIABLE: &str = "FAULTS_IN_CREWMUX";

/// One write(2), as much of it as the disk takes.
///
/// # Errors
/// As of the write.
pub fn write(file: &File, path: &Path, bytes: &[u8]) -> io::Result<usize> {
    let plain = |bytes: &[u8]| io::Write::write(&mut &*file, bytes);
    #[cfg(debug_assertions)]
    if let Some(what) = on::hit("write", path) {
        let half = &bytes[..bytes.len() / 2];
        return match what {
            on::What::Kill => on::die(),
            on::What::Half => plain(half).and_then(|_| on::die()),
            on::What::After => plain(bytes).and_then(|_| on::die()),
            on::What::Stop => on::stop().and_then(|()| plain(bytes)),
            on::What::Error(error) => Err(error),
            on::What::Short => plain(half),
        };
    }
    let _ = path;
    plain(bytes)
}

/// Another step on a file.
///
/// # Errors
/// As of the step.
pub fn step<T>(name: &str, path: &Path, work: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    #[cfg(debug_assertions)]
    if let Some(what) = on::hit(name, path) {
        return match what {
            on::What::Kill | on::What::Half => on::die(),
            on::What::After => work().and_then(|_| on::die()),
            on::What::Stop => on::stop().and_then(|()| work()),
            on::What::Error(error) => Err(error),
            on::What::Short => work(),
        };
    }
    let _ = (name, path);
    work()
}

/// How wrong the clock goes, in microseconds.
#[cfg(debug_assertions)]
#[must_use]
pub fn clock_error() -> i64 {
    let read = |folder: &Path| std::fs::read_to_string(folder.join("clock")).ok()?.trim().parse::<i64>().ok();
    on::folder().and_then(read).unwrap_or(0) * 1_000_000
}

#[cfg(not(debug_assertions))]
#[must_use]
pub const fn clock_error() -> i64 {
    0
}

#[cfg(debug_assertions)]
mod on {
    use std::collections::HashMap;
    use std::io;
    use std::path::{Path, PathBuf};
    use std::sync::{Mutex, OnceLock, PoisonError};

    pub enum What {
        Kill,
        Half,
        After,
        Stop,
        Error(io::Error),
        Short,
    }

    pub fn folder() -> Option<&'static Path> {
        static FOLDER: OnceLock<Option<PathBuf>> = OnceLock::new();
        FOLDER.get_or_init(|| std::env::var_os(super::VARIABLE).map(PathBuf::from)).as_deref()
    }

    pub fn hit(step: &str, path: &Path) -> Option<What> {
        let folder = folder()?;
        let text = std::fs::read_to_string(folder.join("fault")).ok()?;
        let words: Vec<&str> = text.split_whitespace().collect();
        let [party, file, at, what, more @ ..] = &words[..] else { return None };
        let mine = *party == "*" || std::env::args().nth(1).as_deref() == Some(party);
        let there = *file == "*" || path.file_name()?.to_str()? == *file;
        if !mine || *at != step || !there || skips(&text, more) {
            return None;
        }
        // One of several that get here at once has it.
        std::fs::rename(folder.join("fault"), folder.join("fired")).ok()?;
        match *what {
            "kill" => Some(What::Kill),
            "half" => Some(What::Half),
            "after" => Some(What::After),
            "stop" => Some(What::Stop),
            "short" => Some(What::Short),
            "enospc" => Some(What::Error(rustix::io::Errno::NOSPC.into())),
            "eio" => Some(What::Error(rustix::io::Errno::IO.into())),
            _ => None,
        }
    }

    /// Whether this one is let pass.
    fn skips(fault: &str, more: &[&str]) -> bool {
        static MET: OnceLock<Mutex<HashMap<String, u64>>> = OnceLock::new();
        let skip: u64 = more.first().and_then(|n| n.parse().ok()).unwrap_or(0);
        let mut met = MET.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
        let count = met.entry(fault.to_owned()).or_default();
        *count += 1;
        *count <= skip
    }

    pub fn stop() -> io::Result<()> {
        Ok(rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::STOP)?)
    }

    pub fn die() -> ! {
        let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
        loop {
            std::thread::park();
        }
    }
}
