//! A journal while its lock is held: the only thing that writes one.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::{Arc, MutexGuard};

use serde::Serialize;

use super::error::{Result, StoreError};
use super::journal::{Appended, Durability, Open, Slot, last_record};
use super::repair::{self, Last};
use super::{files, record, segment};
use crate::model::id::MessageId;
use crate::model::time::Timestamp;
use crate::os::{clock, fault};

/// How far back an id is looked for, in bytes.
pub const ID_WINDOW: u64 = 4 * 1024 * 1024;

/// The end of a journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TailInfo {
    /// The last `seq`, 0 where there is none.
    pub seq: u64,
    /// The reason, where the journal is closed.
    pub closed: Option<String>,
    /// Bytes of the current segment.
    pub size: u64,
}

/// The lock is let go when this is dropped. [`Self::finish`] is how what was written is made to last.
#[derive(Debug)]
pub struct LockedJournal<'a> {
    path: &'a Path,
    slot: MutexGuard<'a, Slot>,
    /// The last record of the older segments, where the current one has none: looked up once.
    before: Option<Option<Last>>,
    /// Files written to, and whether their names are new.
    written: Vec<Arc<File>>,
    new_names: bool,
}

impl<'a> LockedJournal<'a> {
    pub(super) fn new(path: &'a Path, slot: MutexGuard<'a, Slot>) -> Self {
        Self { path, slot, before: None, written: Vec::new(), new_names: false }
    }

    /// What the journal ends with.
    pub fn tail(&mut self) -> Result<TailInfo> {
        let size = self.size();
        Ok(match self.last()? {
            Some(last) => TailInfo { seq: last.seq, closed: last.closed, size },
            None => TailInfo { seq: 0, closed: None, size },
        })
    }

    /// Bytes of the current segment.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.slot.open.as_ref().map_or(0, |o| o.size)
    }

    /// Whether the next record is the first of its segment.
    #[must_use]
    pub fn begins_segment(&self) -> bool {
        self.slot.open.as_ref().is_none_or(|o| o.ending.last.is_none())
    }

    fn last(&mut self) -> Result<Option<Last>> {
        if let Some(last) = self.slot.open.as_ref().and_then(|o| o.ending.last.as_ref()) {
            return Ok(Some(last.clone()));
        }
        if self.before.is_none() {
            self.before = Some(last_record(self.path)?);
        }
        Ok(self.before.clone().flatten())
    }

    /// Appends one record.
    pub fn append(&mut self, payload: &(impl Serialize + ?Sized)) -> Result<Appended> {
        let body = record::body(payload, self.path)?;
        self.append_body(&body)
    }

    /// Appends records in one write: all of them or, where the disk refuses, none.
    pub fn append_all<T: Serialize>(&mut self, payloads: &[T], ts: Timestamp) -> Result<Vec<Appended>> {
        let bodies = payloads.iter().map(|p| record::body(p, self.path)).collect::<Result<Vec<_>>>()?;
        self.write(&bodies.iter().map(Vec::as_slice).collect::<Vec<_>>(), ts, false)
    }

    pub(super) fn append_body(&mut self, body: &[u8]) -> Result<Appended> {
        Ok(self.write(&[body], clock::now(), false)?[0])
    }

    fn write(&mut self, bodies: &[&[u8]], ts: Timestamp, opens: bool) -> Result<Vec<Appended>> {
        let last = self.last()?;
        if let Some(reason) = last.as_ref().and_then(|l| l.closed.clone())
            && !opens
        {
            return Err(StoreError::Closed { path: self.path.to_owned(), reason });
        }
        let first = last.map_or(0, |l| l.seq) + 1;
        let begins = self.begins_segment();
        let path = self.path;
        self.end_torn_tail()?;
        let open = self.open_segment()?;

        let mut bytes = Vec::with_capacity(bodies.iter().map(|b| b.len() + 128).sum());
        let mut appended = Vec::with_capacity(bodies.len());
        for (seq, body) in (first..).zip(bodies) {
            let start = open.size + bytes.len() as u64;
            let segment = (begins && seq == first).then(clock::new_segment_id);
            record::line(&mut bytes, seq, ts, segment, body);
            appended.push(Appended { seq, ts, start, end: open.size + bytes.len() as u64 });
        }
        if let Err(error) = write_whole(path, open, &bytes) {
            self.look_again();
            return Err(error);
        }
        if let Some(last) = appended.last() {
            open.ending.last = Some(Last { seq: last.seq, end: last.end, closed: None });
            let file = Arc::clone(&open.file);
            self.note_written(file);
        }
        Ok(appended)
    }

    /// After a failed write: takes the file as it is found, not as it is remembered.
    fn look_again(&mut self) {
        let Some(open) = &mut self.slot.open else { return };
        if let Some((size, ending)) =
            open.file.metadata().ok().and_then(|m| Some((m.len(), repair::ending(&open.file, m.len()).ok()?)))
        {
            open.size = size;
            open.ending = ending;
        }
    }

    fn note_written(&mut self, file: Arc<File>) {
        if !self.written.iter().any(|f| Arc::ptr_eq(f, &file)) {
            self.written.push(file);
        }
    }

    /// Ends what a writer that died left in the middle of a line: readers skip and count it.
    fn end_torn_tail(&mut self) -> Result<()> {
        let Some(open) = &mut self.slot.open else { return Ok(()) };
        let Some(torn) = open.ending.torn else { return Ok(()) };
        write_whole(self.path, open, torn.ending())?;
        open.ending.torn = None;
        Ok(())
    }

    fn open_segment(&mut self) -> Result<&mut Open> {
        match self.slot.open {
            Some(ref mut open) => Ok(open),
            ref mut none => {
                let (file, made) =
                    files::open_or_create(self.path, true).map_err(|e| StoreError::open(self.path, e))?;
                self.new_names |= made;
                Ok(none.insert(Open::of(self.path, file)?))
            }
        }
    }

    /// The `seq` of the last record with this id, within the last 4 MiB.
    pub fn find_id(&mut self, id: &MessageId) -> Result<Option<u64>> {
        let mut left = ID_WINDOW;
        if let Some(open) = &self.slot.open {
            if let Some(seq) = find_in(&open.file, open.size, left, id).map_err(|e| self.failed("read", e))? {
                return Ok(Some(seq));
            }
            left = left.saturating_sub(open.size);
        }
        for older in segment::older(self.path)?.iter().rev() {
            if left == 0 {
                break;
            }
            let (file, size) = File::open(&older.path)
                .and_then(|f| f.metadata().map(|m| (f, m.len())))
                .map_err(|e| StoreError::io("open", &older.path, e))?;
            if let Some(seq) = find_in(&file, size, left, id).map_err(|e| self.failed("read", e))? {
                return Ok(Some(seq));
            }
            left = left.saturating_sub(size);
        }
        Ok(None)
    }

    /// Closes the journal: every append after this is refused. Closing twice is closing once.
    pub fn close(&mut self, reason: &str) -> Result<()> {
        #[derive(Serialize)]
        struct Closed<'a> {
            r#type: &'static str,
            reason: &'a str,
        }
        if self.tail()?.closed.is_some() {
            return Ok(());
        }
        self.append(&Closed { r#type: record::CLOSED, reason })?;
        if let Some(last) = self.slot.open.as_mut().and_then(|o| o.ending.last.as_mut()) {
            last.closed = Some(reason.to_owned());
        }
        Ok(())
    }

    /// Opens a closed journal again.
    pub fn reopen(&mut self, reason: &str) -> Result<()> {
        #[derive(Serialize)]
        struct Opened<'a> {
            r#type: &'static str,
            reason: &'a str,
        }
        if self.tail()?.closed.is_none() {
            return Ok(());
        }
        let body = record::body(&Opened { r#type: record::OPENED, reason }, self.path)?;
        self.write(&[&body], clock::now(), true)?;
        Ok(())
    }

    /// Begins a new segment where the current one is longer than `limit` bytes. A closed journal stays as it is.
    pub fn rotate_if(&mut self, limit: u64) -> Result<bool> {
        if self.size() <= limit || self.begins_segment() || self.tail()?.closed.is_some() {
            return Ok(false);
        }
        self.end_torn_tail()?;
        self.before = Some(self.last()?);
        let old = segment::next_name(self.path)?;
        fault::step("rename", self.path, || fs::rename(self.path, &old)).map_err(|e| self.failed("rotate", e))?;
        self.slot.open = None;
        self.new_names = true;
        Ok(true)
    }

    /// [`Self::rotate_if`] for a journal whose segments begin with a snapshot.
    pub fn rotate_with(&mut self, limit: u64, snapshot: &(impl Serialize + ?Sized)) -> Result<bool> {
        // Serialized first: a snapshot that cannot be written is no reason to begin a segment.
        let body = record::body(snapshot, self.path)?;
        let rotated = self.rotate_if(limit)?;
        if rotated {
            self.append_body(&body)?;
        }
        Ok(rotated)
    }

    /// Removes older segments, all but the newest `keep`: they are history that nothing is read from any more. One
    /// always stays, so that numbers are not used twice. Returns how many went.
    pub fn keep_older(&mut self, keep: usize) -> Result<usize> {
        let older = segment::older(self.path)?;
        let too_many = older.len().saturating_sub(keep.max(1));
        for old in &older[..too_many] {
            fs::remove_file(&old.path).map_err(|e| StoreError::io("remove", &old.path, e))?;
        }
        Ok(too_many)
    }

    /// Ends a line that its dead writer left half-written, as the next append would. Whether there was one.
    pub fn mend(&mut self) -> Result<bool> {
        let torn = self.slot.open.as_ref().is_some_and(|open| open.ending.torn.is_some());
        self.end_torn_tail()?;
        Ok(torn)
    }

    /// Lets go of the lock and then, where asked for, brings what was written to the disk: never the other way round.
    pub fn finish(mut self, durability: Durability) -> Result<()> {
        let (path, new_names) = (self.path, self.new_names);
        let written = std::mem::take(&mut self.written);
        drop(self);
        if durability == Durability::Fast {
            return Ok(());
        }
        for file in written {
            fault::step("sync", path, || file.sync_data()).map_err(|e| StoreError::io("sync", path, e))?;
        }
        match path.parent() {
            Some(dir) if new_names => files::sync_dir(dir),
            _ => Ok(()),
        }
    }

    fn failed(&self, what: &'static str, error: io::Error) -> StoreError {
        StoreError::io(what, self.path, error)
    }
}

impl Drop for LockedJournal<'_> {
    fn drop(&mut self) {
        self.slot.lock.unlock();
    }
}

/// One write of all bytes. What the disk takes only in part is cut off again, so that the journal ends as before.
fn write_whole(path: &Path, open: &mut Open, bytes: &[u8]) -> Result<()> {
    let failed = |error| StoreError::io("write to", path, error);
    let outcome = loop {
        match fault::write(&open.file, path, bytes) {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Ok(n) if n < bytes.len() => {
                let text = format!("only {n} of {} bytes were taken; is the disk full?", bytes.len());
                break Err(io::Error::new(io::ErrorKind::WriteZero, text));
            }
            other => break other.map(|_| ()),
        }
    };
    if let Err(error) = outcome {
        // Where even this fails, the next writer finds a torn tail and ends it.
        let _ = open.file.set_len(open.size);
        return Err(failed(error));
    }
    open.size += bytes.len() as u64;
    Ok(())
}

/// Looks for a record of that id in the last `window` bytes.
fn find_in(file: &File, size: u64, window: u64, id: &MessageId) -> io::Result<Option<u64>> {
    #[derive(serde::Deserialize)]
    struct WithId {
        seq: u64,
        #[serde(default)]
        id: Option<MessageId>,
    }
    let from = size.saturating_sub(window);
    let mut bytes = vec![0; usize::try_from(size - from).unwrap_or(0)];
    file.read_exact_at(&mut bytes, from)?;
    let text = id.to_string();
    let found = bytes.split(|b| *b == b'\n').rev().find_map(|line| {
        if !contains(line, text.as_bytes()) {
            return None;
        }
        // The id of another message can stand in a body: only the record's own counts.
        let record: WithId = serde_json::from_slice(line).ok()?;
        (record.id == Some(*id)).then_some(record.seq)
    });
    Ok(found)
}

fn contains(line: &[u8], text: &[u8]) -> bool {
    match std::str::from_utf8(line) {
        Ok(line) => std::str::from_utf8(text).is_ok_and(|text| line.contains(text)),
        Err(_) => false,
    }
}
