//! Reading a journal without a lock: only up to the last `\n`, over bad lines, and on into the next segment.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::cursor::Seen;
use super::error::{Result, StoreError};
use super::files::FileId;
use super::intake::id_of;
use super::scan::{Segment, fill, first_record, open};
use super::{record, repair, segment};
use crate::model::id::SegmentId;
use crate::model::time::Timestamp;

/// How far a reader has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    /// The segment's id; `None` before the first record.
    pub segment: Option<SegmentId>,
    /// The next byte to read in that segment.
    pub offset: u64,
    /// The last record read, 0 before the first.
    pub seq: u64,
}

/// One record.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    pub seq: u64,
    pub ts: Timestamp,
    /// The line's first byte in its segment.
    pub start: u64,
    /// The byte after its `\n`.
    pub end: u64,
    pub segment: Option<SegmentId>,
    pub marker: Option<Marker>,
    /// The whole line without its `\n`.
    pub json: String,
}

/// A record that is the journal's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marker {
    Closed,
    Opened,
}

impl Line {
    /// The record without the journal's own fields (`seq`, `ts`, `segment`).
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        record::payload(&self.json)
    }
}

/// A line that is no record. It is counted, left in place, and shown by `doctor`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadLine {
    pub offset: u64,
    /// With its `\n`.
    pub len: u64,
    pub why: String,
}

/// What one look gave.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batch {
    pub lines: Vec<Line>,
    pub bad: Vec<BadLine>,
    /// The position did not fit the file (truncated, regrown, replaced): these lines come from the beginning of what
    /// is there, and ids decide which are new.
    pub refit: bool,
    /// `max_bytes` was reached: there may be more.
    pub more: bool,
}

/// A reader that keeps its place.
#[derive(Debug)]
pub struct Tail {
    path: PathBuf,
    from: From,
    at: Option<Segment>,
    seq: u64,
}

/// Where to begin once there is a file.
#[derive(Clone, Copy, Debug)]
enum From {
    Position(Position),
    /// The beginning of the newest segment that has a record.
    Newest,
}

impl Tail {
    /// Reads on from a position; `Position::default()` is the beginning of the oldest segment there is.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>, position: Position) -> Self {
        Self { path: path.into(), from: From::Position(position), at: None, seq: position.seq }
    }

    /// Reads from the beginning of the newest segment, which for a state journal is its snapshot.
    #[must_use]
    pub fn newest(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), from: From::Newest, at: None, seq: 0 }
    }

    /// Reads what comes after the last record that is there now.
    pub fn end(path: impl Into<PathBuf>) -> Result<Self> {
        let mut tail = Self::newest(path);
        if let Some(at) = tail.locate(&mut Batch::default())? {
            let failed = |e| StoreError::io("read", &tail.path, e);
            let size = at.file.metadata().map_err(failed)?.len();
            let last = repair::ending(&at.file, size).map_err(failed)?.last;
            let (offset, seq) = last.map_or((0, 0), |l| (l.end, l.seq));
            tail.seq = seq;
            tail.at = Some(Segment { offset, ..at });
        }
        Ok(tail)
    }

    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    #[must_use]
    pub fn position(&self) -> Position {
        match (&self.at, self.from) {
            (Some(at), _) => Position { segment: at.segment, offset: at.offset, seq: self.seq },
            (None, From::Position(position)) => position,
            (None, From::Newest) => Position::default(),
        }
    }

    /// The file that is being read.
    pub(super) fn file_id(&self) -> Option<FileId> {
        self.at.as_ref().map(|at| at.id)
    }

    /// Reads on, about `max_bytes` of it (always at least one line, where there is one). A journal that is not there
    /// has nothing to read.
    pub fn read(&mut self, max_bytes: usize) -> Result<Batch> {
        let mut batch = Batch::default();
        let mut taken = 0;
        loop {
            if self.at.is_none() {
                self.at = self.locate(&mut batch)?;
            }
            let Some(at) = &mut self.at else { break };
            // Asked before reading: what a newer segment has superseded is final, so the end read below is its end.
            let superseded = match fs::metadata(&self.path) {
                Ok(meta) => FileId::of(&meta) != at.id,
                Err(e) if e.kind() == io::ErrorKind::NotFound => false,
                Err(e) => return Err(StoreError::io("look at", &self.path, e)),
            };
            let before = at.offset;
            let done = fill(at, &mut self.seq, &mut batch, max_bytes.saturating_sub(taken))
                .map_err(|e| StoreError::io("read", &self.path, e))?;
            taken += usize::try_from(at.offset.saturating_sub(before)).unwrap_or(usize::MAX);
            if !done {
                batch.more = true;
                break;
            }
            if !superseded {
                break;
            }
            if taken >= max_bytes {
                batch.more = true;
                break;
            }
            if !self.step()? {
                break;
            }
        }
        Ok(batch)
    }

    /// How many bytes lie before this reader.
    pub(super) fn bytes_left(&mut self) -> Result<u64> {
        let Some(at) = self.locate(&mut Batch::default())? else { return Ok(0) };
        let failed = |e| StoreError::io("look at", &self.path, e);
        let mut left = at.file.metadata().map_err(failed)?.len().saturating_sub(at.offset);
        // Newer segments, the current one last.
        let (older, current) = settled(&self.path)?;
        let paths = older.iter().map(|s| s.path.as_path()).chain(current.is_some().then_some(self.path.as_path()));
        let mut newer = false;
        for meta in paths.filter_map(|path| fs::metadata(path).ok()) {
            left += if newer { meta.len() } else { 0 };
            newer |= FileId::of(&meta) == at.id;
        }
        Ok(left)
    }

    /// `seq` and time of the last record of one segment.
    pub(super) fn last_of(segment: &Path) -> Result<Option<(u64, Timestamp)>> {
        let Some(at) = open(segment)? else { return Ok(None) };
        let failed = |e| StoreError::io("read", segment, e);
        let size = at.file.metadata().map_err(failed)?.len();
        let mut back = repair::Back::new(&at.file, size, 0);
        while let Some(line) = back.next().map_err(failed)? {
            if let Ok(head) = record::head(&line.bytes) {
                return Ok(Some((head.seq, head.ts)));
            }
        }
        Ok(None)
    }

    /// Records before this reader's position, oldest first: at most `records` of them from at most `bytes`. `None` where
    /// the position does not fit the file.
    pub(super) fn behind(&mut self, records: usize, bytes: u64) -> Result<Option<Vec<Seen>>> {
        let mut probe = Batch::default();
        let Some(at) = self.locate(&mut probe)? else { return Ok(Some(Vec::new())) };
        if probe.refit {
            return Ok(None);
        }
        let failed = |e| StoreError::io("read", &self.path, e);
        let mut found = Vec::new();
        let mut left = bytes;
        let older = segment::older(&self.path)?;
        let mine = older.iter().rposition(|s| fs::metadata(&s.path).is_ok_and(|m| FileId::of(&m) == at.id));
        let mut before = older[..mine.unwrap_or(older.len())].iter().rev();
        let mut segment = Some(at);
        while let Some(at) = segment {
            let floor = at.offset.saturating_sub(left);
            let mut back = repair::Back::new(&at.file, at.offset, floor);
            while let Some(line) = back.next().map_err(failed)? {
                if found.len() == records {
                    break;
                }
                let Ok(head) = record::head(&line.bytes) else { continue };
                let id = std::str::from_utf8(&line.bytes).ok().and_then(id_of);
                found.push(Seen {
                    seq: head.seq,
                    id,
                    ts: head.ts,
                    segment: at.segment,
                    start: line.start,
                    end: line.end,
                });
            }
            left -= at.offset - floor;
            if left == 0 || found.len() == records {
                break;
            }
            segment = match before.next().map(|s| open(&s.path)).transpose()?.flatten() {
                Some(mut older) => {
                    older.offset = older.file.metadata().map_err(failed)?.len();
                    Some(older)
                }
                None => None,
            };
        }
        found.reverse();
        Ok(Some(found))
    }

    /// The record at a known place, if it is still there.
    pub(super) fn line_at(&self, segment: Option<SegmentId>, start: u64, end: u64) -> Result<Option<Line>> {
        let mut paths = vec![self.path.clone()];
        paths.extend(segment::older(&self.path)?.into_iter().rev().map(|s| s.path));
        for path in paths {
            let Some(mut at) = open(&path)? else { continue };
            if at.segment != segment {
                continue;
            }
            at.offset = start;
            let size = usize::try_from(end.saturating_sub(start)).unwrap_or(0);
            let mut batch = Batch::default();
            fill(&mut at, &mut 0, &mut batch, size).map_err(|e| StoreError::io("read", &path, e))?;
            return Ok(batch.lines.into_iter().find(|l| (l.start, l.end) == (start, end)));
        }
        Ok(None)
    }

    /// Goes on to the segment after the one that was read to its end; `false` where it has nothing to read yet.
    fn step(&mut self) -> Result<bool> {
        let Some(at) = self.at.take() else { return Ok(false) };
        let (older, current) = settled(&self.path)?;
        let mine = older.iter().rposition(|s| fs::metadata(&s.path).is_ok_and(|m| FileId::of(&m) == at.id));
        let Some(mine) = mine else {
            // The segment itself is gone: the position finds what follows it.
            self.from = From::Position(Position { segment: at.segment, offset: at.offset, seq: self.seq });
            return Ok(true);
        };
        // A segment that has no record yet gives no place to stand on; until it has, the end of this one does.
        let mut next = None;
        for older in &older[mine + 1..] {
            next = open(&older.path)?.filter(|s| s.segment.is_some());
            if next.is_some() {
                break;
            }
        }
        next = next.or(current.filter(|s| s.segment.is_some()));
        let moved = next.is_some();
        self.at = next.or(Some(at));
        Ok(moved)
    }

    fn locate(&self, batch: &mut Batch) -> Result<Option<Segment>> {
        let (older, current) = settled(&self.path)?;
        let mut segments = Vec::new();
        for older in &older {
            segments.extend(open(&older.path)?);
        }
        segments.extend(current);
        let failed = |e| StoreError::io("read", &self.path, e);
        let want = match self.from {
            From::Newest => {
                let newest = segments.iter().rposition(|s| s.segment.is_some()).unwrap_or(0);
                return Ok(segments.into_iter().nth(newest));
            }
            From::Position(want) => want,
        };
        let Some(id) = want.segment else { return Ok(segments.into_iter().next()) };
        if let Some(mut found) = segments.iter().rposition(|s| s.segment == Some(id)).map(|i| segments.swap_remove(i)) {
            if fits(&found.file, want).map_err(failed)? {
                found.offset = want.offset;
            } else {
                batch.refit = true;
            }
            return Ok(Some(found));
        }
        // The segment was pruned, or the file is another one.
        let Some(oldest) = segments.into_iter().next() else { return Ok(None) };
        let first = first_record(&oldest.file).map_err(failed)?.map(|(seq, _)| seq);
        batch.refit = first.is_some_and(|first| first != want.seq + 1);
        Ok(Some(oldest))
    }
}

/// The older segments and the current one, of one moment: a rotation in between would hide a segment.
fn settled(path: &Path) -> Result<(Vec<segment::Older>, Option<Segment>)> {
    loop {
        let older = segment::older(path)?;
        let current = open(path)?;
        if segment::older(path)? == older {
            return Ok((older, current));
        }
    }
}

fn fits(file: &File, want: Position) -> io::Result<bool> {
    if want.offset > file.metadata()?.len() {
        return Ok(false);
    }
    let before = repair::ending(file, want.offset)?;
    Ok(before.torn.is_none() && before.last.is_none_or(|l| l.seq == want.seq))
}
