//! Reading a journal from its end: what its last record is, and whether a writer died in the middle of a line.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use super::record;

const CHUNK: usize = 4096;

/// The lines of a file, last first.
pub struct Back<'f> {
    file: &'f File,
    /// Where `buf` begins in the file.
    low: u64,
    buf: Vec<u8>,
    /// Nothing before this is read.
    floor: u64,
}

/// One line without its `\n`, and where it begins and ends (with its `\n`) in the file.
pub struct BackLine {
    pub start: u64,
    pub end: u64,
    pub bytes: Vec<u8>,
}

impl<'f> Back<'f> {
    /// Reads back from `end` to the beginning of the file, or to `floor`, where the line that `floor` cuts comes cut.
    pub fn new(file: &'f File, end: u64, floor: u64) -> Self {
        Self { file, low: end, buf: Vec::new(), floor }
    }

    /// Whether the last byte is a `\n`. What is read for this is kept for [`Self::next`].
    pub fn ends_line(&mut self) -> io::Result<bool> {
        if self.buf.is_empty() && self.low > self.floor {
            self.fill()?;
        }
        Ok(self.buf.last() == Some(&b'\n'))
    }

    /// Reads the bytes before those at hand, as many as these are; how many they were.
    fn fill(&mut self) -> io::Result<usize> {
        let room = usize::try_from(self.low - self.floor).unwrap_or(usize::MAX);
        let more = self.buf.len().max(CHUNK).min(room);
        let mut longer = vec![0; more];
        self.file.read_exact_at(&mut longer, self.low - more as u64)?;
        self.low -= more as u64;
        longer.append(&mut self.buf);
        self.buf = longer;
        Ok(more)
    }

    /// The line before those already given.
    pub fn next(&mut self) -> io::Result<Option<BackLine>> {
        // Bytes of this line that were dropped because no record is that long.
        let mut dropped = 0;
        // Where the search for a `\n` has not been yet.
        let mut unseen = self.buf.len();
        loop {
            let whole = dropped == 0 && self.buf.last() == Some(&b'\n');
            let body = self.buf.len() - usize::from(whole);
            if let Some(at) = self.buf[..unseen.min(body)].iter().rposition(|b| *b == b'\n') {
                return Ok(Some(self.take(at + 1, body, dropped)));
            }
            if self.low <= self.floor {
                let some = !self.buf.is_empty() || dropped > 0;
                return Ok(some.then(|| self.take(0, body, dropped)));
            }
            if body > record::MAX_BYTES {
                dropped += self.buf.len() as u64;
                self.buf.clear();
            }
            unseen = self.fill()?;
        }
    }

    fn take(&mut self, from: usize, body: usize, dropped: u64) -> BackLine {
        let end = self.low + self.buf.len() as u64 + dropped;
        let bytes = if dropped > 0 { Vec::new() } else { self.buf[from..body].to_vec() };
        let start = self.low + from as u64;
        self.buf.truncate(from);
        BackLine { start, end, bytes }
    }
}

/// How a segment ends.
#[derive(Clone, Debug, Default)]
pub struct Ending {
    /// The last record, if the segment has one.
    pub last: Option<Last>,
    /// What a writer that died left without a `\n`.
    pub torn: Option<Torn>,
}

#[derive(Clone, Debug)]
pub struct Last {
    pub seq: u64,
    /// Where its line ends.
    pub end: u64,
    /// The reason, where the record closes the journal.
    pub closed: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Torn {
    /// A fragment: a `\n` makes it a bad line.
    Fragment,
    /// A whole record that lacks its `\n`: nobody was told of it, so it must not become one.
    WholeRecord,
}

impl Torn {
    /// What is written to end the fragment, so that it can never be taken for a record.
    pub fn ending(self) -> &'static [u8] {
        match self {
            Self::Fragment => b"\n",
            Self::WholeRecord => b"~\n",
        }
    }
}

/// Looks at the end of a segment of `size` bytes, stepping back over lines that are no records.
pub fn ending(file: &File, size: u64) -> io::Result<Ending> {
    let mut back = Back::new(file, size, 0);
    let mut found = Ending::default();
    if size == 0 {
        return Ok(found);
    }
    if !back.ends_line()?
        && let Some(fragment) = back.next()?
    {
        let whole = record::head(&fragment.bytes).is_ok();
        found.torn = Some(if whole { Torn::WholeRecord } else { Torn::Fragment });
    }
    while let Some(line) = back.next()? {
        if let Ok(head) = record::head(&line.bytes) {
            let closed = (head.kind.as_deref() == Some(record::CLOSED)).then(|| reason(&line.bytes));
            found.last = Some(Last { seq: head.seq, end: line.end, closed });
            break;
        }
    }
    Ok(found)
}

fn reason(line: &[u8]) -> String {
    #[derive(serde::Deserialize)]
    struct Closed {
        #[serde(default)]
        reason: String,
    }
    serde_json::from_slice(line).map_or_else(|_| String::new(), |c: Closed| c.reason)
}
