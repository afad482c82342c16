//! Journals: append-only JSONL files under a sidecar lock. Mailboxes, board, ledger and event log are all this.

use std::collections::{HashMap, VecDeque};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, TryLockError, Weak};
use std::time::Duration;

use serde::Serialize;

pub use super::locked::{LockedJournal, TailInfo};

use super::error::{Result, StoreError};
use super::files::FileId;
use super::lock::{self, LockFile};
use super::{record, repair, segment};
use crate::model::time::Timestamp;

/// What a write must survive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// The death of every process.
    #[default]
    Fast,
    /// A power cut: synced before it is acknowledged.
    Durable,
}

/// Where a record came to lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Appended {
    pub seq: u64,
    pub ts: Timestamp,
    /// The line's first byte in its segment.
    pub start: u64,
    /// The byte after its `\n`.
    pub end: u64,
}

/// A handle for writing. Opening it touches nothing; handles of one path in one process share their open files.
#[derive(Clone, Debug)]
pub struct Journal {
    path: PathBuf,
    slot: Arc<Mutex<Slot>>,
    wait: Duration,
}

/// What one process keeps of all its journals.
#[derive(Default)]
struct Slots {
    known: HashMap<PathBuf, Weak<Mutex<Slot>>>,
    /// The last that were asked for, newest last. They stay open although nobody holds a handle: whoever writes to a
    /// mailbox writes to it again.
    recent: VecDeque<Arc<Mutex<Slot>>>,
}

/// How many journals stay open; each is two file handles.
const RECENT: usize = 8;

impl Slots {
    fn of(&mut self, path: &Path) -> Arc<Mutex<Slot>> {
        let slot = self.known.get(path).and_then(Weak::upgrade).unwrap_or_else(|| {
            self.known.retain(|_, slot| slot.strong_count() > 0);
            let slot = Arc::new(Mutex::new(Slot { lock: LockFile::new(lock::sidecar(path)), open: None }));
            self.known.insert(path.to_owned(), Arc::downgrade(&slot));
            slot
        });
        if self.recent.back().is_none_or(|last| !Arc::ptr_eq(last, &slot)) {
            self.recent.retain(|other| !Arc::ptr_eq(other, &slot));
            self.recent.push_back(Arc::clone(&slot));
            if self.recent.len() > RECENT {
                self.recent.pop_front();
            }
        }
        slot
    }
}

/// What one process keeps open of one journal.
#[derive(Debug)]
pub(super) struct Slot {
    pub lock: LockFile,
    pub open: Option<Open>,
}

/// The current segment, and how it ended when this process last looked.
#[derive(Debug)]
pub(super) struct Open {
    pub file: Arc<File>,
    pub id: FileId,
    pub size: u64,
    pub ending: repair::Ending,
}

impl Journal {
    #[must_use]
    pub fn open(path: impl Into<PathBuf>) -> Self {
        static SLOTS: OnceLock<Mutex<Slots>> = OnceLock::new();
        let path = path.into();
        let slot = SLOTS.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner).of(&path);
        Self { path, slot, wait: lock::WAIT }
    }

    /// The same, waiting for the lock at most this long.
    #[must_use]
    pub fn with_wait(mut self, wait: Duration) -> Self {
        self.wait = wait;
        self
    }

    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends one record: an object, after whose opening brace `seq` and `ts` are put.
    pub fn append(&self, payload: &(impl Serialize + ?Sized), durability: Durability) -> Result<Appended> {
        let body = record::body(payload, &self.path)?;
        let mut locked = self.lock()?;
        let appended = locked.append_body(&body)?;
        locked.finish(durability)?;
        Ok(appended)
    }

    /// [`Self::append`] to a journal whose past may go: past `limit` bytes a new segment begins, and of the older ones
    /// the newest `keep` stay.
    pub fn append_within(&self, payload: &(impl Serialize + ?Sized), limit: u64, keep: usize) -> Result<Appended> {
        let body = record::body(payload, &self.path)?;
        let mut locked = self.lock()?;
        if locked.rotate_if(limit)? {
            // What cannot be removed now is tried again with the next segment.
            let _ = locked.keep_older(keep);
        }
        let appended = locked.append_body(&body)?;
        locked.finish(Durability::Fast)?;
        Ok(appended)
    }

    /// Locks the journal. Whatever is to be decided from its end is decided while this is held.
    pub fn lock(&self) -> Result<LockedJournal<'_>> {
        let mut slot = self.own_turn()?;
        loop {
            slot.lock.lock(self.wait)?;
            match look(&self.path, &mut slot) {
                Ok(true) => return Ok(LockedJournal::new(&self.path, slot)),
                // The folder was moved away: what is locked is the old one's.
                Ok(false) => slot.lock.forget(),
                Err(error) => {
                    slot.lock.unlock();
                    return Err(error);
                }
            }
        }
    }

    /// This process's threads come one after the other.
    fn own_turn(&self) -> Result<MutexGuard<'_, Slot>> {
        let turn = lock::retry(self.wait, || match self.slot.try_lock() {
            Ok(guard) => Ok(Some(guard)),
            // What a panicked thread left is looked at anew below, as any other process's leavings are.
            Err(TryLockError::Poisoned(guard)) => Ok(Some(guard.into_inner())),
            Err(TryLockError::WouldBlock) => Ok(None),
        });
        turn.map_err(|e| StoreError::io("lock", &self.path, e))?.ok_or_else(|| StoreError::Locked {
            path: lock::sidecar(&self.path),
            waited: self.wait,
            holders: vec![std::process::id()],
        })
    }
}

/// Makes `slot.open` fit the file. `false` where the lock held is not the one that lies beside the file now.
fn look(path: &Path, slot: &mut Slot) -> Result<bool> {
    let there = match fs::metadata(path) {
        Ok(meta) => Some((FileId::of(&meta), meta.len())),
        Err(e) if e.kind() == io::ErrorKind::NotFound => None,
        Err(e) => return Err(StoreError::io("look at", path, e)),
    };
    if let (Some(open), Some((id, size))) = (&mut slot.open, there)
        && open.id == id
    {
        // The file is the one that was opened under this very lock.
        if open.size != size {
            open.ending = repair::ending(&open.file, size).map_err(|e| StoreError::io("read", path, e))?;
            open.size = size;
        }
        return Ok(true);
    }
    slot.open = None;
    if !slot.lock.is_current() {
        return Ok(false);
    }
    if there.is_some() {
        let file = fs::OpenOptions::new().read(true).append(true).open(path);
        let file = file.map_err(|e| StoreError::io("open", path, e))?;
        slot.open = Some(Open::of(path, file)?);
    }
    Ok(true)
}

impl Open {
    pub fn of(path: &Path, file: File) -> Result<Self> {
        let failed = |e| StoreError::io("read", path, e);
        let meta = file.metadata().map_err(failed)?;
        let ending = repair::ending(&file, meta.len()).map_err(failed)?;
        Ok(Self { file: Arc::new(file), id: FileId::of(&meta), size: meta.len(), ending })
    }
}

/// The last record of the newest segment that has one. Takes no lock.
pub(super) fn last_record(path: &Path) -> Result<Option<repair::Last>> {
    if let Some(last) = last_of_segment(path)? {
        return Ok(Some(last));
    }
    // Listed after the current segment was found to have none: what was just rotated away is among these.
    for older in segment::older(path)?.iter().rev() {
        if let Some(last) = last_of_segment(&older.path)? {
            return Ok(Some(last));
        }
    }
    Ok(None)
}

fn last_of_segment(path: &Path) -> Result<Option<repair::Last>> {
    match File::open(path) {
        Ok(file) => Ok(Open::of(path, file)?.ending.last),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(StoreError::io("open", path, e)),
    }
}

/// The highest `seq` written, 0 where nothing was. Takes no lock and reads the tail alone.
pub fn last_seq(path: &Path) -> Result<u64> {
    Ok(last_record(path)?.map_or(0, |last| last.seq))
}

/// Makes an empty journal, so that whoever watches the file finds it.
pub fn touch(path: &Path) -> Result<()> {
    super::files::open_or_create(path, true).map(drop).map_err(|e| StoreError::open(path, e))
}
