//! A program's output on disk, within a limit.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// An append-only log that moves to `<path>.1` when it is full, so that both together hold at most twice the limit.
/// Writing never fails the caller: a log that cannot be written is no reason to stop a program.
#[derive(Debug)]
pub struct RotatingLog {
    path: PathBuf,
    limit: u64,
    file: Option<File>,
    size: u64,
    error: Option<io::Error>,
    had_error: bool,
}

impl RotatingLog {
    /// Opens the log for its owner only; what is in it stays. One that is not there is made with its first byte: many
    /// programs never print. The limit is in bytes.
    ///
    /// # Errors
    /// When the file cannot be opened; the path is named.
    pub fn open(path: impl Into<PathBuf>, limit_bytes: u64) -> io::Result<Self> {
        let path = path.into();
        let file = path.exists().then(|| open(&path)).transpose()?;
        let size = file.as_ref().map(File::metadata).transpose()?.map_or(0, |meta| meta.len());
        Ok(Self { path, limit: limit_bytes.max(1), file, size, error: None, had_error: false })
    }

    /// Appends a chunk: one write, or more when it crosses the limit.
    pub fn write(&mut self, mut chunk: &[u8]) {
        while !chunk.is_empty() {
            let room = self.limit.saturating_sub(self.size);
            // A chunk that would fit into a fresh log is not torn.
            if room == 0 || (chunk.len() as u64 > room && chunk.len() as u64 <= self.limit) {
                if let Err(error) = self.rotate() {
                    return self.remember(error);
                }
                continue;
            }
            let (now, later) = chunk.split_at(usize::try_from(room).map_or(chunk.len(), |room| room.min(chunk.len())));
            if let Err(error) = self.append(now) {
                return self.remember(error);
            }
            chunk = later;
        }
    }

    /// The first error there was, once.
    #[must_use]
    pub fn take_error(&mut self) -> Option<io::Error> {
        self.error.take()
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            // The first byte there is, or the last rotation failed half-way.
            None => self.file.insert(open(&self.path)?),
        };
        let mut rest = bytes;
        while !rest.is_empty() {
            match file.write(rest) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => {
                    self.size += written as u64;
                    rest = &rest[written..];
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn rotate(&mut self) -> io::Result<()> {
        let mut older = self.path.clone().into_os_string();
        older.push(".1");
        match fs::rename(&self.path, &older) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            // Somebody took the file away: there is nothing to keep.
            Ok(()) | Err(_) => {}
        }
        self.file = None;
        self.size = 0;
        self.file = Some(open(&self.path)?);
        Ok(())
    }

    fn remember(&mut self, error: io::Error) {
        if !self.had_error {
            self.had_error = true;
            self.error = Some(io::Error::new(error.kind(), format!("write {}: {error}", self.path.display())));
        }
    }
}

fn open(path: &Path) -> io::Result<File> {
    let name = |error: io::Error| io::Error::new(error.kind(), format!("open {}: {error}", path.display()));
    let file = OpenOptions::new().append(true).create(true).mode(0o600).open(path).map_err(name)?;
    // The mode above counts for a new file only.
    file.set_permissions(Permissions::from_mode(0o600)).map_err(name)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stays_within_twice_its_limit_and_keeps_the_newest() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("output.log");
        let mut log = RotatingLog::open(&path, 100).unwrap();
        for number in 0..1000 {
            log.write(format!("line {number}\n").as_bytes());
        }
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        log.write(&[b'x'; 1234]);
        log.write(b"end\n");
        let older = dir.path().join("output.log.1");
        for file in [&path, &older] {
            let data = fs::metadata(file).unwrap();
            assert!(data.len() <= 100, "{} bytes", data.len());
            assert_eq!(data.permissions().mode() & 0o777, 0o600);
        }
        assert!(fs::read(&path).unwrap().ends_with(b"end\n"));
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
        assert!(log.take_error().is_none());
    }

    #[test]
    fn lines_are_not_torn_by_a_rotation_and_an_old_log_is_kept() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("output.log");
        fs::write(&path, "before\n").unwrap();
        let mut log = RotatingLog::open(&path, 12).unwrap();
        log.write(b"12345\n");
        assert_eq!(fs::read(&path).unwrap(), b"12345\n");
        assert_eq!(fs::read(dir.path().join("output.log.1")).unwrap(), b"before\n");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn an_error_is_told_once_and_stops_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let mut log = RotatingLog::open(dir.path().join("output.log"), 1000).unwrap();
        // A file that is full always.
        log.file = Some(OpenOptions::new().write(true).open("/dev/full").unwrap());
        log.write(b"a");
        log.write(b"b");
        assert_eq!(log.take_error().unwrap().kind(), io::ErrorKind::StorageFull);
        log.write(b"c");
        assert!(log.take_error().is_none());
    }
}
