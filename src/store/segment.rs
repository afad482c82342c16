//! The segments of a journal: `<file>.1`, `<file>.2`, … hold what was, `<file>` what is.

use std::fs;
use std::path::{Path, PathBuf};

use super::error::{Result, StoreError};

/// An older segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Older {
    pub number: u64,
    pub path: PathBuf,
}

/// The older segments, oldest first. None where the folder is not there.
pub fn older(path: &Path) -> Result<Vec<Older>> {
    let (Some(dir), Some(name)) = (path.parent(), path.file_name()) else { return Ok(Vec::new()) };
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(StoreError::io("list", dir, e)),
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|e| StoreError::io("list", dir, e))?;
        let file = entry.file_name();
        let Some(rest) = file.as_encoded_bytes().strip_prefix(name.as_encoded_bytes()) else { continue };
        let number = rest.strip_prefix(b".").filter(|d| d.iter().all(u8::is_ascii_digit));
        if let Some(number) = number.and_then(|d| std::str::from_utf8(d).ok()?.parse().ok()) {
            found.push(Older { number, path: entry.path() });
        }
    }
    found.sort_by_key(|s| s.number);
    Ok(found)
}

/// The path of an older segment.
#[must_use]
pub fn numbered(path: &Path, number: u64) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{number}"));
    PathBuf::from(name)
}

/// Where the current segment goes when the next one begins.
pub fn next_name(path: &Path) -> Result<PathBuf> {
    let last = older(path)?.last().map_or(0, |s| s.number);
    Ok(numbered(path, last + 1))
}
