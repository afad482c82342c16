//! Locks on files. The only user of fs2, whose methods are shadowed by the standard library's: always by full path.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::error::{Result, StoreError};
use super::files::{self, FileId};

/// How long a writer waits for a lock before it says who holds it.
pub const WAIT: Duration = Duration::from_secs(5);

/// Tries without sleeping: an append holds its lock for a few microseconds.
const QUICK_TRIES: u32 = 32;
/// Tries after each sleep.
const TRIES_A_SLEEP: u32 = 4;
const FIRST_SLEEP: Duration = Duration::from_micros(50);
const LONGEST_SLEEP: Duration = Duration::from_millis(2);

/// Tries until `attempt` gives something or the time is over: first at once, then with growing sleeps. Never by yielding:
/// on a busy machine that gives a whole time slice to programs that have nothing to do with the lock, while one who sleeps
/// for a moment is woken in its turn.
pub fn retry<T>(wait: Duration, mut attempt: impl FnMut() -> io::Result<Option<T>>) -> io::Result<Option<T>> {
    for _ in 0..QUICK_TRIES {
        if let Some(got) = attempt()? {
            return Ok(Some(got));
        }
        std::hint::spin_loop();
    }
    let start = Instant::now();
    let mut sleep = FIRST_SLEEP;
    while start.elapsed() < wait {
        std::thread::sleep(sleep);
        sleep = (sleep * 2).min(LONGEST_SLEEP);
        for _ in 0..TRIES_A_SLEEP {
            if let Some(got) = attempt()? {
                return Ok(Some(got));
            }
            std::hint::spin_loop();
        }
    }
    Ok(None)
}

fn tried(outcome: io::Result<()>) -> io::Result<bool> {
    match outcome {
        Ok(()) => Ok(true),
        Err(e) if e.kind() == io::ErrorKind::WouldBlock => Ok(false),
        Err(e) if e.kind() == io::ErrorKind::Interrupted => Ok(false),
        Err(e) => Err(e),
    }
}

/// Tries to lock exclusively; `false` where another has it.
pub fn try_exclusive(file: &File) -> io::Result<bool> {
    tried(fs2::FileExt::try_lock_exclusive(file))
}

/// Tries to lock shared; `false` where another has it exclusively.
pub fn try_shared(file: &File) -> io::Result<bool> {
    tried(fs2::FileExt::try_lock_shared(file))
}

/// Lets go. The kernel does the same when the last handle is closed.
pub fn unlock(file: &File) {
    // Unlocking a valid handle cannot fail (flock(2)), and nothing could be done about it.
    let _ = fs2::FileExt::unlock(file);
}

/// A lock file that is opened once and locked many times: never renamed, truncated or unlinked.
#[derive(Debug)]
pub struct LockFile {
    path: PathBuf,
    open: Option<(File, FileId)>,
}

impl LockFile {
    #[must_use]
    pub fn new(path: PathBuf) -> Self {
        Self { path, open: None }
    }

    /// Locks exclusively, opening (and making) the file first where need be.
    pub fn lock(&mut self, wait: Duration) -> Result<()> {
        let file = match &self.open {
            Some((file, _)) => file,
            None => {
                let (file, _) =
                    files::open_or_create(&self.path, false).map_err(|e| StoreError::open(&self.path, e))?;
                let meta = file.metadata().map_err(|e| StoreError::io("look at", &self.path, e))?;
                &self.open.insert((file, FileId::of(&meta))).0
            }
        };
        let got = retry(wait, || Ok(try_exclusive(file)?.then_some(())))
            .map_err(|e| StoreError::io("lock", &self.path, e))?;
        got.ok_or_else(|| StoreError::Locked { path: self.path.clone(), waited: wait, holders: holders(&self.path) })
    }

    pub fn unlock(&self) {
        if let Some((file, _)) = &self.open {
            unlock(file);
        }
    }

    /// Whether the file of that name is still the one that is open here: the folder may have been moved away and
    /// another made in its place.
    #[must_use]
    pub fn is_current(&self) -> bool {
        let there = fs::metadata(&self.path).ok().map(|m| FileId::of(&m));
        self.open.as_ref().is_some_and(|(_, id)| there == Some(*id))
    }

    /// Closes the file, and with it the lock.
    pub fn forget(&mut self) {
        self.open = None;
    }
}

/// An exclusive lock that is held until it is dropped.
#[derive(Debug)]
pub struct Held {
    file: LockFile,
}

/// Locks the file `path` itself exclusively, making it where it is not there.
pub fn exclusive(path: &Path, wait: Duration) -> Result<Held> {
    let mut file = LockFile::new(path.to_owned());
    file.lock(wait)?;
    Ok(Held { file })
}

impl Drop for Held {
    fn drop(&mut self) {
        self.file.unlock();
    }
}

/// The sidecar of a file.
#[must_use]
pub fn sidecar(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    PathBuf::from(name)
}

/// Who holds a lock on `path`, from `/proc/locks` (proc_locks(5)): `1: FLOCK ADVISORY WRITE PID MAJ:MIN:INODE 0 EOF`.
///
/// The kernel writes that file a page at a time and finds its place again by counting, so a look misses a line where
/// others let go of locks meanwhile: an empty look is believed only when some more were empty too.
#[must_use]
pub fn holders(path: &Path) -> Vec<u32> {
    const LOOKS: usize = 8;
    (0..LOOKS).map(|_| holders_seen(path)).find(|pids| !pids.is_empty()).unwrap_or_default()
}

fn holders_seen(path: &Path) -> Vec<u32> {
    let (Ok(meta), Ok(locks)) = (fs::metadata(path), fs::read_to_string("/proc/locks")) else { return Vec::new() };
    let id = FileId::of(&meta);
    let file = format!("{:02x}:{:02x}:{}", rustix::fs::major(id.dev), rustix::fs::minor(id.dev), id.ino);
    let mut pids: Vec<u32> = locks
        .lines()
        // A `->` marks one that waits.
        .filter(|line| !line.contains("->"))
        .filter_map(|line| {
            let mut words = line.split_whitespace().skip(4);
            let pid: u32 = words.next()?.parse().ok()?;
            (words.next()? == file && pid != 0).then_some(pid)
        })
        .collect();
    pids.sort_unstable();
    pids.dedup();
    pids
}
