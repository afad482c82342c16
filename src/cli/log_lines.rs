//! The last lines of an output log and what comes after them. The log moves to `<path>.1` when it is full.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Read at once, in bytes.
const CHUNK: u64 = 64 * 1024;

/// A reader of a log that keeps its place.
#[derive(Debug)]
pub struct LogTail {
    path: PathBuf,
    at: Option<(u64, File, u64)>,
}

impl LogTail {
    #[must_use]
    pub fn new(path: PathBuf) -> Self {
        Self { path, at: None }
    }

    /// The last `lines` lines of the log and the one before it; reading goes on after them.
    ///
    /// # Errors
    /// When a file is there and cannot be read. A log that is not there is empty.
    pub fn last(&mut self, lines: usize) -> io::Result<Vec<u8>> {
        let Some(file) = open(&self.path)? else { return Ok(Vec::new()) };
        let meta = file.metadata()?;
        let mut out = last_lines(&file, meta.len(), lines)?;
        let have = out.iter().filter(|b| **b == b'\n').count();
        if have < lines
            && let Some(older) = open(&before(&self.path))?
        {
            let size = older.metadata()?.len();
            let mut all = last_lines(&older, size, lines - have)?;
            all.append(&mut out);
            out = all;
        }
        self.at = Some((meta.ino(), file, meta.len()));
        Ok(out)
    }

    /// What was written since.
    ///
    /// # Errors
    /// As [`LogTail::last`].
    pub fn more(&mut self) -> io::Result<Vec<u8>> {
        let mut out = Vec::new();
        // Asked before reading: once the path names another file, the end read below is this one's end.
        let now = fs::metadata(&self.path).ok().map(|m| m.ino());
        if let Some((_, file, at)) = &mut self.at {
            file.seek(SeekFrom::Start(*at))?;
            *at += file.read_to_end(&mut out)? as u64;
        }
        if now.is_some()
            && now != self.at.as_ref().map(|(ino, ..)| *ino)
            && let Some(mut file) = open(&self.path)?
        {
            let ino = file.metadata()?.ino();
            let read = file.read_to_end(&mut out)? as u64;
            self.at = Some((ino, file, read));
        }
        Ok(out)
    }
}

fn open(path: &Path) -> io::Result<Option<File>> {
    match File::open(path) {
        Ok(file) => Ok(Some(file)),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e),
    }
}

fn before(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".1");
    PathBuf::from(name)
}

/// Reads back from the end until there are enough lines.
fn last_lines(mut file: &File, size: u64, lines: usize) -> io::Result<Vec<u8>> {
    let mut out: Vec<u8> = Vec::new();
    let mut low = size;
    loop {
        // The end of the last line is no line of its own.
        let ends = out.iter().rev().skip(1).enumerate().filter(|(_, b)| **b == b'\n');
        let mut ends = ends.map(|(back, _)| out.len() - 1 - back);
        let cut = if lines == 0 { Some(out.len()) } else { ends.nth(lines - 1) };
        if let Some(cut) = cut {
            return Ok(out.split_off(cut));
        }
        if low == 0 {
            return Ok(out);
        }
        let more = CHUNK.max(out.len() as u64).min(low);
        low -= more;
        file.seek(SeekFrom::Start(low))?;
        let mut longer = Vec::new();
        Read::by_ref(&mut file).take(more).read_to_end(&mut longer)?;
        longer.append(&mut out);
        out = longer;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(text: &str) -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("output.log");
        fs::write(&path, text).unwrap();
        (dir, path)
    }

    #[test]
    fn gives_the_last_lines_and_what_follows() {
        let (_dir, path) = log("1\n2\n3\nhalf");
        let mut tail = LogTail::new(path.clone());
        assert_eq!(tail.last(2).unwrap(), b"3\nhalf");
        assert_eq!(tail.more().unwrap(), b"");
        fs::OpenOptions::new()
            .append(true)
            .open(&path)
            .and_then(|mut f| io::Write::write_all(&mut f, b" done\n"))
            .unwrap();
        assert_eq!(tail.more().unwrap(), b" done\n");
    }

    #[test]
    fn counts_whole_lines_and_long_logs() {
        let text: String = (0..40_000).map(|n| format!("line {n}\n")).collect();
        let (_dir, path) = log(&text);
        let last = |n| String::from_utf8(LogTail::new(path.clone()).last(n).unwrap()).unwrap();
        assert_eq!(last(1), "line 39999\n");
        assert_eq!(last(0), "");
        assert_eq!(last(39_999).lines().next(), Some("line 1"));
        assert_eq!(last(usize::MAX), text);
    }

    #[test]
    fn goes_on_over_a_rotation() {
        let (_dir, path) = log("1\n");
        let mut tail = LogTail::new(path.clone());
        assert_eq!(tail.last(9).unwrap(), b"1\n");
        fs::OpenOptions::new().append(true).open(&path).and_then(|mut f| io::Write::write_all(&mut f, b"2\n")).unwrap();
        fs::rename(&path, before(&path)).unwrap();
        fs::write(&path, "3\n").unwrap();
        assert_eq!(tail.more().unwrap(), b"2\n3\n");
        assert_eq!(LogTail::new(path).last(2).unwrap(), b"2\n3\n");
    }
}
