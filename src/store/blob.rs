//! Blobs: large bodies, written once, named by their BLAKE3 hash.

use std::fs;
use std::io;
use std::path::PathBuf;

use super::document::{self, Sync};
use super::error::{Result, StoreError};
use super::team_dir::TeamDir;

/// Stores bytes and returns their name. The same bytes twice are one file.
pub fn put(team: &TeamDir, bytes: &[u8]) -> Result<String> {
    let hash = blake3::hash(bytes).to_hex().to_string();
    let path = team.blobs().join(&hash);
    // A file of that name but another length is the leaving of a full disk or a stranger: replaced.
    if fs::metadata(&path).is_ok_and(|m| m.len() == bytes.len() as u64) {
        return Ok(hash);
    }
    document::replace_bytes(&path, bytes, Sync::Durable)?;
    Ok(hash)
}

/// How many bytes all blobs of the team take.
pub fn total(team: &TeamDir) -> Result<u64> {
    let failed = |e| StoreError::io("list", &team.blobs(), e);
    let mut sum = 0;
    for entry in fs::read_dir(team.blobs()).map_err(failed)? {
        // One that is just being renamed is counted the next time.
        sum += entry.map_err(failed)?.metadata().map_or(0, |m| m.len());
    }
    Ok(sum)
}

/// The bytes of that name, checked against it; `None` where there is no such blob.
pub fn get(team: &TeamDir, hash: &str) -> Result<Option<Vec<u8>>> {
    let path = path(team, hash)?;
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(StoreError::io("read", &path, e)),
    };
    if blake3::hash(&bytes).to_hex().as_str() != hash {
        return Err(StoreError::invalid(&path, "does not hold what its name says"));
    }
    Ok(Some(bytes))
}

/// Where a blob lies. A name that is no hash is refused: it comes from a message.
pub fn path(team: &TeamDir, hash: &str) -> Result<PathBuf> {
    if hash.len() != 64 || !hash.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b)) {
        return Err(StoreError::invalid(&team.blobs(), format!("{hash:?} is not a BLAKE3 hash")));
    }
    Ok(team.blobs().join(hash))
}
