//! Taking lines out of one segment.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::error::{Result, StoreError};
use super::files::FileId;
use super::record;
use super::tail::{BadLine, Batch, Line, Marker};
use crate::model::id::SegmentId;

const CHUNK: usize = 16 * 1024;

/// An open segment, and how far it was read.
#[derive(Debug)]
pub(super) struct Segment {
    pub file: File,
    pub id: FileId,
    pub segment: Option<SegmentId>,
    pub offset: u64,
}

pub(super) fn open(path: &Path) -> Result<Option<Segment>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(StoreError::io("open", path, e)),
    };
    let failed = |e| StoreError::io("read", path, e);
    let id = FileId::of(&file.metadata().map_err(failed)?);
    let segment = first_record(&file).map_err(failed)?.and_then(|(_, segment)| segment);
    Ok(Some(Segment { file, id, segment, offset: 0 }))
}

/// `seq` and segment id of a segment's first record.
pub(super) fn first_record(file: &File) -> io::Result<Option<(u64, Option<SegmentId>)>> {
    let (mut offset, mut size) = (0, 512);
    loop {
        let buf = read_some(file, offset, size)?;
        let mut start = 0;
        for end in newlines(&buf) {
            if let Ok(head) = record::head(&buf[start..end]) {
                return Ok(Some((head.seq, head.segment)));
            }
            start = end + 1;
        }
        if buf.len() < size {
            return Ok(None);
        }
        offset += start as u64;
        if start == 0 {
            size *= 4;
            if size > record::MAX_BYTES * 4 {
                return Ok(None);
            }
        }
    }
}

fn newlines(buf: &[u8]) -> impl Iterator<Item = usize> + '_ {
    buf.iter().enumerate().filter(|(_, b)| **b == b'\n').map(|(i, _)| i)
}

/// Up to `size` bytes from `offset`; fewer only at the end of the file.
fn read_some(file: &File, offset: u64, size: usize) -> io::Result<Vec<u8>> {
    let mut buf = vec![0; size];
    let mut have = 0;
    while have < size {
        match file.read_at(&mut buf[have..], offset + have as u64) {
            Ok(0) => break,
            Ok(n) => have += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    buf.truncate(have);
    Ok(buf)
}

/// Takes whole lines until the end of the file (`true`) or until `max` bytes are taken (`false`).
///
/// No part of an unfinished line is kept from one read to the next: its writer may fail and cut it off again, and
/// another put its own line there.
pub(super) fn fill(at: &mut Segment, seq: &mut u64, batch: &mut Batch, max: usize) -> io::Result<bool> {
    let begin = at.offset;
    let mut chunk = CHUNK;
    loop {
        // One byte more in front: a position that is no line's beginning does not fit the file any more.
        let front = usize::from(at.offset > 0);
        let buf = read_some(&at.file, at.offset - front as u64, front + chunk)?;
        if front == 1 && buf.first() != Some(&b'\n') {
            batch.refit = true;
            at.offset = 0;
            at.segment = None;
            *seq = 0;
            return fill(at, seq, batch, max);
        }
        let at_end = buf.len() < front + chunk;
        let mut from = front;
        for end in newlines(&buf[front..]).map(|i| i + front) {
            if take(at, seq, batch, &buf[from..end])? == Taken::Changed {
                break;
            }
            from = end + 1;
            if at.offset - begin >= max as u64 {
                return Ok(at_end && from == buf.len());
            }
        }
        if from > front {
            chunk = CHUNK.max(chunk / 4);
        } else if at_end {
            return Ok(true);
        } else if buf[front] == b'{' && chunk <= record::MAX_BYTES {
            chunk *= 4;
            continue;
        } else {
            // Too long for a record, or none from its first byte on: its end is all that is looked for.
            let Some(len) = junk_len(&at.file, at.offset)? else { return Ok(true) };
            batch.bad.push(BadLine { offset: at.offset, len, why: "not a JSON object".into() });
            at.offset += len;
        }
        if at_end && from == buf.len() {
            return Ok(true);
        }
    }
}

#[derive(PartialEq)]
enum Taken {
    Yes,
    /// What was read is not what is there now: read it again.
    Changed,
}

fn take(at: &mut Segment, seq: &mut u64, batch: &mut Batch, bytes: &[u8]) -> io::Result<Taken> {
    let (start, end) = (at.offset, at.offset + bytes.len() as u64 + 1);
    match record::head(bytes) {
        Ok(head) => {
            at.segment = at.segment.or(head.segment);
            *seq = head.seq;
            let marker = match head.kind.as_deref() {
                Some(record::CLOSED) => Some(Marker::Closed),
                Some(record::OPENED) => Some(Marker::Opened),
                _ => None,
            };
            let json = String::from_utf8_lossy(bytes).into_owned();
            batch.lines.push(Line { seq: head.seq, ts: head.ts, start, end, segment: at.segment, marker, json });
        }
        Err(why) => {
            // A line read in two parts may be two writers' halves, where the first one's write failed in between.
            let again = read_some(&at.file, start, bytes.len() + 1)?;
            if again.strip_suffix(b"\n") != Some(bytes) {
                return Ok(Taken::Changed);
            }
            batch.bad.push(BadLine { offset: start, len: end - start, why });
        }
    }
    at.offset = end;
    Ok(Taken::Yes)
}

/// How long the line at `offset` is, with its `\n`; `None` where it has no end yet.
fn junk_len(file: &File, offset: u64) -> io::Result<Option<u64>> {
    let mut at = offset;
    loop {
        let buf = read_some(file, at, CHUNK * 4)?;
        if let Some(i) = buf.iter().position(|b| *b == b'\n') {
            return Ok(Some(at + i as u64 + 1 - offset));
        }
        if buf.len() < CHUNK * 4 {
            return Ok(None);
        }
        at += buf.len() as u64;
    }
}
