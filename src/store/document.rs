//! Documents: whole JSON files that are read plainly and replaced whole.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::{Result, StoreError};
use super::files;

/// Whether a replaced document must survive a power cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sync {
    /// The file is synced before it takes its place, the folder after.
    Durable,
    /// Survives the death of every process.
    Fast,
}

/// Reads a document; `None` where there is none.
pub fn read_json<T: DeserializeOwned>(path: &Path) -> Result<Option<T>> {
    match fs::read(path) {
        Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(|e| StoreError::invalid(path, e)),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(StoreError::io("read", path, e)),
    }
}

/// Replaces a document: whoever reads sees the old one or the new one, whole.
pub fn replace_json<T: Serialize + ?Sized>(path: &Path, document: &T, sync: Sync) -> Result<()> {
    let mut bytes = serde_json::to_vec(document).map_err(|e| StoreError::invalid(path, e))?;
    bytes.push(b'\n');
    replace_bytes(path, &bytes, sync)
}

/// [`replace_json`] for what is not JSON.
pub fn replace_bytes(path: &Path, bytes: &[u8], sync: Sync) -> Result<()> {
    let temp = temp_beside(path);
    let written = write_new(&temp, bytes, sync)
        .and_then(|()| fs::rename(&temp, path).map_err(|e| StoreError::io("replace", path, e)));
    if let Err(error) = written {
        // What could not be written whole is of no use to anyone.
        let _ = fs::remove_file(&temp);
        return Err(error);
    }
    match (sync, path.parent()) {
        (Sync::Durable, Some(dir)) => files::sync_dir(dir),
        _ => Ok(()),
    }
}

fn write_new(temp: &Path, bytes: &[u8], sync: Sync) -> Result<()> {
    let mut file = files::create_new(temp).map_err(|e| StoreError::open(temp, e))?;
    file.write_all(bytes).map_err(|e| StoreError::io("write to", temp, e))?;
    if sync == Sync::Durable {
        file.sync_all().map_err(|e| StoreError::io("sync", temp, e))?;
    }
    Ok(())
}

/// A hidden name in the same folder that no other process or thread uses.
pub(super) fn temp_beside(path: &Path) -> PathBuf {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let salt = uuid::Uuid::new_v4().as_u128() as u32;
    path.with_file_name(format!(
        ".{name}.{}-{}-{salt:08x}.tmp",
        std::process::id(),
        NEXT.fetch_add(1, Ordering::Relaxed)
    ))
}
