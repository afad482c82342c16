//! Giving the disk space of what was read back, where a file must stay the one that it is. The only user of `fallocate`,
//! which is Linux's.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use rustix::fs::{FallocateFlags, fallocate};

use super::error::{Result, StoreError};
use super::files::FileId;
use super::tail::Tail;
use super::{record, repair};

/// Looked at for the end of a journal's first line.
const FIRST_LINE: usize = 512 * 1024;

/// Frees the disk space of everything that `tail` has read of its current segment since `from`, but for the first line, by
/// which the segment is known, and the last record, from which the next writer counts on. The file keeps its length and its
/// inode, so that no place in it changes and a sandbox that allows just this file goes on allowing it. To a reader a hole is
/// one line that is no record.
///
/// Returns from where to look the next time: 0 where nothing could be freed.
pub fn empty_read(tail: &Tail, from: u64) -> Result<u64> {
    let path = tail.path();
    let failed = |e| StoreError::io("make room in", path, e);
    let (Some(id), until) = (tail.file_id(), tail.position().offset) else { return Ok(0) };
    let file = fs::OpenOptions::new().read(true).write(true).open(path).map_err(failed)?;
    if FileId::of(&file.metadata().map_err(failed)?) != id {
        return Ok(0);
    }
    let from = if from == 0 { first_line(&file, path)?.unwrap_or(0) } else { from };
    // The byte before a line stays a line end: a reader's place begins a line.
    let before = |line: u64| line.saturating_sub(1);
    let (holes, emptied) = match last_record(&file, until, from, path)? {
        Some((start, end)) if end == until => ([(from, before(start)), (until, until)], before(start)),
        // What comes after it is no record, however much it is. The next hole begins behind it.
        Some((start, end)) => ([(from, before(start)), (end, before(until))], before(until)),
        // The last record lies before `from`, or there is none.
        None => ([(from, before(until)), (until, until)], before(until)),
    };
    for (from, end) in holes.into_iter().filter(|(from, end)| from < end) {
        match fallocate(&file, FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE, from, end - from) {
            Ok(()) => {}
            // A file system without holes: the next life begins a new file all the same.
            Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::NOSYS) => return Ok(0),
            Err(e) => return Err(failed(io::Error::from(e))),
        }
    }
    Ok(emptied.max(from))
}

/// Where the last record between `from` and `until` begins and ends.
fn last_record(file: &File, until: u64, from: u64, path: &Path) -> Result<Option<(u64, u64)>> {
    let mut back = repair::Back::new(file, until, from);
    while let Some(line) = back.next().map_err(|e| StoreError::io("read", path, e))? {
        if record::head(&line.bytes).is_ok() {
            return Ok(Some((line.start, line.end)));
        }
    }
    Ok(None)
}

/// Where the first line ends.
fn first_line(file: &File, path: &Path) -> Result<Option<u64>> {
    let mut start = vec![0; FIRST_LINE];
    let n = file.read_at(&mut start, 0).map_err(|e| StoreError::io("read", path, e))?;
    Ok(start[..n].iter().position(|b| *b == b'\n').map(|at| at as u64 + 1))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;
    use crate::store::{Durability, Journal, Position};

    #[test]
    fn what_was_read_takes_no_room_and_the_journal_goes_on() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("outbox.jsonl");
        let journal = Journal::open(&path);
        let long = serde_json::json!({"text": "x".repeat(100_000)});
        for _ in 0..50 {
            journal.append(&long, Durability::Fast).unwrap();
        }
        let mut tail = Tail::new(&path, Position::default());
        while tail.read(1 << 20).unwrap().more {}
        let before = fs::metadata(&path).unwrap();
        let emptied = empty_read(&tail, 0).unwrap();
        let after = fs::metadata(&path).unwrap();
        assert_eq!((before.len(), before.ino()), (after.len(), after.ino()));
        if emptied == 0 {
            return eprintln!("skipped: a file system without holes");
        }
        assert!(after.blocks() * 512 < 400_000, "{} blocks", after.blocks());
        // The same reader, one that begins now, and the next writer go on.
        assert_eq!(journal.append(&long, Durability::Fast).unwrap().seq, 51);
        let seqs = |tail: &mut Tail| -> Vec<u64> { tail.read(1 << 30).unwrap().lines.iter().map(|l| l.seq).collect() };
        assert_eq!(seqs(&mut tail), [51]);
        let mut anew = Tail::new(&path, Position::default());
        let batch = anew.read(1 << 30).unwrap();
        assert_eq!(batch.lines.iter().map(|l| l.seq).collect::<Vec<_>>(), [1, 50, 51]);
        assert_eq!(batch.bad.len(), 1);
        // Once more, from where it was emptied.
        for _ in 0..3 {
            journal.append(&long, Durability::Fast).unwrap();
        }
        assert_eq!(seqs(&mut tail), [52, 53, 54]);
        assert!(empty_read(&tail, emptied).unwrap() > emptied);
        assert_eq!(crate::store::journal::last_seq(&path).unwrap(), 54);
        assert_eq!(journal.append(&long, Durability::Fast).unwrap().seq, 55);
    }
    #[test]
    fn what_is_no_record_takes_no_room_either_and_the_last_record_stays() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("outbox.jsonl");
        let rubbish = |path: &Path| {
            let mut file = fs::OpenOptions::new().append(true).create(true).open(path).unwrap();
            let line = [b"x".repeat(999), b"\n".to_vec()].concat();
            std::io::Write::write_all(&mut file, &line.repeat(3000)).unwrap();
        };
        let record = serde_json::json!({"text": "kept"});
        let read = |tail: &mut Tail| while tail.read(1 << 20).unwrap().more {};
        let room = || fs::metadata(&path).unwrap().blocks() * 512;

        // Without any record, with one in the middle, and behind it.
        rubbish(&path);
        let mut tail = Tail::new(&path, Position::default());
        read(&mut tail);
        let emptied = empty_read(&tail, 0).unwrap();
        if emptied == 0 {
            return eprintln!("skipped: a file system without holes");
        }
        assert!(room() < 100_000, "{}", room());
        let journal = Journal::open(&path);
        assert_eq!(journal.append(&record, Durability::Fast).unwrap().seq, 1);
        rubbish(&path);
        read(&mut tail);
        let emptied = empty_read(&tail, emptied).unwrap();
        assert!(room() < 100_000, "{}", room());
        rubbish(&path);
        read(&mut tail);
        assert!(empty_read(&tail, emptied).unwrap() > emptied);
        assert!(room() < 100_000, "{}", room());
        assert_eq!(crate::store::journal::last_seq(&path).unwrap(), 1);
        assert_eq!(Journal::open(&path).append(&record, Durability::Fast).unwrap().seq, 2);
        let seqs: Vec<u64> = tail.read(1 << 20).unwrap().lines.iter().map(|l| l.seq).collect();
        assert_eq!(seqs, [2]);
    }
}
