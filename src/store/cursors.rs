//! `cursors.json`: both lanes' cursors in one small file that is replaced whole, and not synced.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::cursor::LaneCursor;
use super::document::{self, Sync};
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

/// Reads a member's cursors. Where there are none, or none that can be read, nothing was handed over yet: ids decide.
pub fn read(dir: &MemberDir) -> Result<Cursors> {
    match document::read_json(&dir.cursors()) {
        Ok(found) => Ok(found.unwrap_or_default()),
        Err(StoreError::Invalid { .. }) => Ok(Cursors::default()),
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
    last: Option<(Stamp, Cursors)>,
}

/// Which file it was when it was last read or written: each replacement is another inode.
type Stamp = (u64, i64, i64);

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
        let now = self.stamp();
        let mut all = match self.last.take() {
            Some((stamp, all)) if Some(stamp) == now => all,
            _ => read(&self.dir)?,
        };
        if all.v > VERSION {
            return Err(StoreError::Newer { path: self.path.clone(), found: all.v, known: VERSION });
        }
        *all.lane_mut(lane) = cursor;
        document::replace_json(&self.path, &all, Sync::Fast)?;
        self.last = self.stamp().map(|stamp| (stamp, all));
        Ok(())
    }

    fn stamp(&self) -> Option<Stamp> {
        fs::metadata(&self.path).ok().map(|m| (m.ino(), m.ctime(), m.ctime_nsec()))
    }
}
