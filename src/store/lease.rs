//! Leases: a file lock held for a process's life. Alive means that its lease is held; the kernel drops it with the process.

use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::error::{Result, StoreError};
use super::{files, lock};
use crate::model::id::Life;
use crate::os::fault;
use crate::os::process::{self, ProcessId};

/// How long taking a lease is retried: the one before may be ending, or someone may be asking.
pub const RETRY: Duration = Duration::from_secs(2);

/// What stands in a lease, for people and for who must know which process to look at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeaseText {
    pub boot_id: String,
    pub pid: u32,
    /// Clock ticks since boot (field 22 of `/proc/PID/stat`).
    pub start_time: u64,
    pub life: Life,
    pub command: String,
}

impl LeaseText {
    /// The process that wrote it, if that was since this machine was started.
    #[must_use]
    pub fn process(&self) -> Option<ProcessId> {
        (self.boot_id == process::boot_id()).then_some(ProcessId { pid: self.pid, start_time: self.start_time })
    }
}

/// A held lease. Dropping it, or the end of the process, frees it.
#[derive(Debug)]
pub struct Lease {
    path: PathBuf,
    text: LeaseText,
    _file: File,
}

impl Lease {
    /// Takes the lease, trying for `retry`. Fails with [`StoreError::LeaseHeld`], which names the holder.
    pub fn take(path: &Path, text: &LeaseText, retry: Duration) -> Result<Self> {
        let (mut file, _) = files::open_or_create(path, false).map_err(|e| StoreError::open(path, e))?;
        let got = lock::retry(retry, || Ok(lock::try_exclusive(&file)?.then_some(())));
        if got.map_err(|e| StoreError::io("lock", path, e))?.is_none() {
            return Err(StoreError::LeaseHeld { path: path.to_owned(), holder: self::text(path).map(Box::new) });
        }
        let mut line = serde_json::to_vec(text).map_err(|e| StoreError::invalid(path, e))?;
        line.push(b'\n');
        file.set_len(0)
            .and_then(|()| file.seek(SeekFrom::Start(0)))
            .and_then(|_| fault::step("write", path, || file.write_all(&line)))
            .map_err(|e| StoreError::io("write to", path, e))?;
        Ok(Self { path: path.to_owned(), text: text.clone(), _file: file })
    }

    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    #[must_use]
    pub fn life(&self) -> Life {
        self.text.life
    }
}

/// Whether someone holds the lease: asked by a shared lock that is dropped at once (an exclusive one would make two
/// askers see each other). A lease that is not there is not held.
pub fn is_held(path: &Path) -> Result<bool> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(e) => return Err(StoreError::io("open", path, e)),
    };
    lock::try_shared(&file).map(|free| !free).map_err(|e| StoreError::io("lock", path, e))
}

/// Whether the lease is held by a process that goes on living. One that was just killed holds its lease until its last
/// thread is gone: that is waited for, a moment.
///
/// # Errors
/// When the lease cannot be looked at.
pub fn is_held_by_living(path: &Path) -> Result<bool> {
    const DYING: Duration = Duration::from_secs(1);
    let begun = Instant::now();
    while is_held(path)? {
        if !is_dying(path) || begun.elapsed() > DYING {
            return Ok(true);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    Ok(false)
}

/// Whether the process that a lease names is gone, or its main thread is: its other threads follow.
fn is_dying(path: &Path) -> bool {
    text(path).and_then(|text| text.process()).is_some_and(|holder| {
        process::stat(holder.pid).map_or(true, |stat| stat.id() != holder || matches!(stat.state, 'Z' | 'X' | 'x'))
    })
}

/// What stands in the lease, held or not; `None` where there is none or it is just being written.
#[must_use]
pub fn text(path: &Path) -> Option<LeaseText> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}
