//! `cursors.json`: both lanes' cursors in one small file that is replaced whole, and not synced.

use std::fs;
use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::cursor::LaneCursor;
use super::document;
use super::error::{Result, StoreError};
use super::lock::{self, LockFile};
use super::member_dir::MemberDir;
use crate::model::message::Lane;

/// Version of `cursors.json` this build writes.
const VERSION: u64 = 1;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cursors {
    pub v: u64,
    #[serde(default)]
    pub inbox: LaneCursor,
    #[serde(default)]
    pub control: LaneCursor,
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl Default for Cursors {
    fn default() -> Self {
        Self { v: VERSION, inbox: LaneCursor::default(), control: LaneCursor::default(), extra: Map::new() }
    }
}

impl Cursors {
    #[must_use]
    pub fn lane(&self, lane: Lane) -> &LaneCursor {
        match lane {
            Lane::Inbox => &self.inbox,
            Lane::Control => &self.control,
        }
    }

    fn lane_mut(&mut self, lane: Lane) -> &mut LaneCursor {
        match lane {
            Lane::Inbox => &mut self.inbox,
            Lane::Control => &mut self.control,
        }
    }
}

/// How often a reader looks again at a file that it cannot read: see [`document::swap_json`].
const LOOKS: usize = 3;

/// Reads a member's cursors. Where there are none, or none that can be read, nothing was handed over yet: ids decide.
pub fn read(dir: &MemberDir) -> Result<Cursors> {
    for _ in 0..LOOKS {
        if let Some(found) = look(dir)? {
            return Ok(found);
        }
    }
    // A reader that is put to sleep again and again finds it being written each time; under the lock nobody writes.
    let mut lock = LockFile::new(lock::sidecar(&dir.cursors()));
    match lock.lock(lock::WAIT) {
        Ok(()) => {
            let found = look(dir);
            lock.unlock();
            Ok(found?.unwrap_or_default())
        }
        // Who may not write there may read all the same.
        Err(_) => Ok(look(dir)?.unwrap_or_default()),
    }
}

/// `None`: it cannot be read, be it that somebody is writing it at this moment.
fn look(dir: &MemberDir) -> Result<Option<Cursors>> {
    match document::read_json(&dir.cursors()) {
        Ok(found) => Ok(Some(found.unwrap_or_default())),
        Err(StoreError::Invalid { .. }) => Ok(None),
        Err(e) => Err(e),
    }
}

/// The file in the hands of one who writes one lane of it. The other lane may be another's (of the lead's mailbox the
/// lead takes control mail and a person the rest), so writing is reading, changing and replacing under a lock.
#[derive(Debug)]
pub struct CursorFile {
    dir: MemberDir,
    path: PathBuf,
    lock: LockFile,
    /// What the file held when it was last read or written, as bytes and as what they say.
    last: Option<(Vec<u8>, Cursors)>,
}

impl CursorFile {
    #[must_use]
    pub fn open(dir: &MemberDir) -> Self {
        let path = dir.cursors();
        Self { dir: dir.clone(), lock: LockFile::new(lock::sidecar(&path)), path, last: None }
    }

    /// Replaces one lane's cursor.
    pub fn write(&mut self, lane: Lane, cursor: LaneCursor) -> Result<()> {
        self.lock.lock(lock::WAIT)?;
        let written = self.replace(lane, cursor);
        self.lock.unlock();
        written
    }

    fn replace(&mut self, lane: Lane, cursor: LaneCursor) -> Result<()> {
        let now = match fs::read(&self.path) {
            Ok(bytes) => bytes,
            Err(e) if e.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(e) => return Err(StoreError::io("read", &self.path, e)),
        };
        let mut all = match self.last.take() {
            Some((known, all)) if known == now => all,
            _ => look(&self.dir)?.unwrap_or_default(),
        };
        if all.v > VERSION {
            return Err(StoreError::Newer { path: self.path.clone(), found: all.v, known: VERSION });
        }
        *all.lane_mut(lane) = cursor;
        let written = document::swap_json(&self.path, &all)?;
        self.last = Some((written, all));
        Ok(())
    }
}
