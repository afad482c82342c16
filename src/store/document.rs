//! Documents: whole JSON files that are read plainly and replaced whole.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{CWD, RenameFlags};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::{Result, StoreError};
use super::files;
use crate::os::fault;

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
    let rename = || fault::step("rename", path, || fs::rename(&temp, path));
    let written =
        write_new(&temp, path, bytes, sync).and_then(|()| rename().map_err(|e| StoreError::io("replace", path, e)));
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

/// Gives a document that is never written over, only replaced, a second name: one file for however many have the same.
pub fn share(from: &Path, to: &Path) -> Result<()> {
    match fs::hard_link(from, to) {
        Ok(()) => Ok(()),
        // A file system without such names, or with too many of one file.
        Err(_) => {
            let bytes = fs::read(from).map_err(|e| StoreError::io("read", from, e))?;
            replace_bytes(to, &bytes, Sync::Fast)
        }
    }
}

/// A document of at most this many bytes can be replaced by [`swap_json`]'s short way: one page, written in one piece.
const PAGE: usize = 4096;

/// [`replace_json`] without a sync, for a small document that is written for every message, under a lock of its own.
///
/// A rename over a file makes ext4 write the new one's data out at once (`auto_da_alloc`, ext4(5)): 70 µs and a disk
/// write each. So two files take turns: the one that lies hidden beside the document gets the new text, padded with
/// blanks to its own length, and they change names. Whoever opens the document finds it whole; only one who opened it,
/// slept through a whole replacement and reads while the next is being written can see both, so a reader of a broken
/// document looks again. Returns what the file holds.
pub(super) fn swap_json<T: Serialize + ?Sized>(path: &Path, document: &T) -> Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec(document).map_err(|e| StoreError::invalid(path, e))?;
    bytes.push(b'\n');
    let spare = spare_beside(path);
    if bytes.len() <= PAGE && swap(path, &spare, &mut bytes)? {
        return Ok(bytes);
    }
    // One that is too long to be written in one piece must not become the one that is written over.
    match fs::remove_file(&spare) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(StoreError::io("remove", &spare, e)),
        _ => {}
    }
    replace_bytes(path, &bytes, Sync::Fast)?;
    Ok(bytes)
}

/// `false` where the file system cannot change names, or the spare file is none that can be written over.
fn swap(path: &Path, spare: &Path, bytes: &mut Vec<u8>) -> Result<bool> {
    let (file, _) = files::open_or_create(spare, false).map_err(|e| StoreError::open(spare, e))?;
    let size = file.metadata().map_err(|e| StoreError::io("look at", spare, e))?.len();
    let Some(size) = usize::try_from(size).ok().filter(|size| *size <= PAGE) else { return Ok(false) };
    if bytes.len() < size {
        bytes.pop();
        bytes.resize(size - 1, b' ');
        bytes.push(b'\n');
    }
    fault::step("write", path, || file.write_all_at(bytes, 0)).map_err(|e| StoreError::io("write to", spare, e))?;
    match rustix::fs::renameat_with(CWD, spare, CWD, path, RenameFlags::EXCHANGE) {
        Ok(()) => Ok(true),
        // The first of its life.
        Err(rustix::io::Errno::NOENT) => {
            fs::rename(spare, path).map(|()| true).map_err(|e| StoreError::io("replace", path, e))
        }
        Err(_) => Ok(false),
    }
}

fn spare_beside(path: &Path) -> PathBuf {
    let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    path.with_file_name(format!(".{name}.spare"))
}

/// `path`: what the file is to become.
fn write_new(temp: &Path, path: &Path, bytes: &[u8], sync: Sync) -> Result<()> {
    let mut file = files::create_new(temp).map_err(|e| StoreError::open(temp, e))?;
    // What was not taken at once is offered again.
    let taken = match fault::write(&file, path, bytes) {
        Err(e) if e.kind() == io::ErrorKind::Interrupted => 0,
        taken => taken.map_err(|e| StoreError::io("write to", temp, e))?,
    };
    file.write_all(&bytes[taken..]).map_err(|e| StoreError::io("write to", temp, e))?;
    if sync == Sync::Durable {
        fault::step("sync", path, || file.sync_all()).map_err(|e| StoreError::io("sync", temp, e))?;
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
