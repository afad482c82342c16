//! State kept as a journal: the board and the ledger. Every record changes the state; a segment begins with a snapshot
//! of it, so that older segments are history only.

use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::Result;
use super::journal::{Durability, Journal, LockedJournal};
use super::tail::Tail;
use crate::model::time::Timestamp;
use crate::os::clock;

/// A segment longer than this, in bytes (its snapshot aside), is followed by a new one.
pub const SEGMENT_BYTES: u64 = 4 * 1024 * 1024;

/// Older segments that stay, for whoever still reads one and for people. Each begins with a snapshot, so the current
/// one alone holds the whole state.
const KEPT: usize = 2;

const READ_BYTES: usize = 1024 * 1024;

/// State that records change.
pub trait Folded: Default {
    type Record: Serialize + DeserializeOwned;

    /// Takes in one record. A snapshot replaces all that was.
    fn apply(&mut self, record: Self::Record, seq: u64, ts: Timestamp);

    /// The record from which the whole state can be had again.
    fn snapshot(&self) -> Self::Record;
}

#[derive(Debug)]
pub struct StateLog<F> {
    journal: Journal,
    tail: Tail,
    state: F,
    limit: u64,
    /// Where the snapshot of the current segment ends.
    base: u64,
    unread: u64,
}

impl<F: Folded> StateLog<F> {
    /// Opening touches nothing.
    #[must_use]
    pub fn open(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        Self {
            journal: Journal::open(&path),
            tail: Tail::newest(path),
            state: F::default(),
            limit: SEGMENT_BYTES,
            base: 0,
            unread: 0,
        }
    }

    /// Begins a new segment past `limit` bytes.
    #[must_use]
    pub fn with_limit(mut self, limit: u64) -> Self {
        self.limit = limit;
        self
    }

    #[must_use]
    pub fn path(&self) -> &Path {
        self.journal.path()
    }

    /// The last record folded in.
    #[must_use]
    pub fn seq(&self) -> u64 {
        self.tail.position().seq
    }

    /// Lines that were no records, or records that this version does not know.
    #[must_use]
    pub fn unread(&self) -> u64 {
        self.unread
    }

    /// The state as of the last look.
    #[must_use]
    pub fn state(&self) -> &F {
        &self.state
    }

    /// The state, for what its owner keeps beside what is folded; the records alone say what it is.
    pub fn state_mut(&mut self) -> &mut F {
        &mut self.state
    }

    /// The state as of now. Takes no lock and reads only what is new.
    pub fn view(&mut self) -> Result<&F> {
        self.catch_up()?;
        Ok(&self.state)
    }

    fn catch_up(&mut self) -> Result<()> {
        loop {
            let batch = self.tail.read(READ_BYTES)?;
            if batch.refit {
                // Not the file that was folded: begin anew with what is there.
                self.state = F::default();
                self.tail = Tail::newest(self.journal.path());
                self.unread = 0;
                continue;
            }
            self.unread += batch.bad.len() as u64;
            for line in batch.lines {
                if line.start == 0 {
                    self.base = line.end;
                }
                if line.marker.is_some() {
                    continue;
                }
                match line.parse() {
                    Ok(record) => self.state.apply(record, line.seq, line.ts),
                    Err(_) => self.unread += 1,
                }
            }
            if !batch.more {
                return Ok(());
            }
        }
    }

    /// Decides under the lock, against the state as it is: what `decide` returns is appended in one write, folded in
    /// and made to last. Where it refuses, nothing is written.
    pub fn update<R, E>(
        &mut self,
        decide: impl FnOnce(&F, Timestamp) -> Result<(R, Vec<F::Record>), E>,
    ) -> Result<Result<R, E>> {
        let journal = self.journal.clone();
        let mut locked = journal.lock()?;
        self.catch_up()?;
        let now = clock::now();
        let (answer, records) = match decide(&self.state, now) {
            Ok(decided) => decided,
            Err(refusal) => return Ok(Err(refusal)),
        };
        if !records.is_empty() {
            self.begin_segment(&mut locked)?;
            locked.append_all(&records, now)?;
            self.catch_up()?;
        }
        locked.finish(Durability::Durable)?;
        Ok(Ok(answer))
    }

    /// Rotates past the limit; and where a rotation was cut off by a crash, writes the snapshot it still owes.
    fn begin_segment(&mut self, locked: &mut LockedJournal<'_>) -> Result<()> {
        if locked.size().saturating_sub(self.base) > self.limit {
            if locked.rotate_with(self.limit, &self.state.snapshot())? {
                // What cannot be removed now is tried again with the next segment.
                let _ = locked.keep_older(KEPT);
            }
        } else if locked.begins_segment() && locked.tail()?.seq > 0 {
            locked.append(&self.state.snapshot())?;
        }
        Ok(())
    }

    /// Closes the journal for good (or until it is opened again).
    pub fn close(&mut self, reason: &str) -> Result<()> {
        let journal = self.journal.clone();
        let mut locked = journal.lock()?;
        locked.close(reason)?;
        locked.finish(Durability::Durable)
    }
}
