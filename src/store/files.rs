//! Files of mode 0600 in folders of mode 0700, whatever the umask says.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use super::error::{Result, StoreError};

/// Device and inode: which file it is, whatever its name is by now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileId {
    pub dev: u64,
    pub ino: u64,
}

impl FileId {
    pub fn of(meta: &fs::Metadata) -> Self {
        Self { dev: meta.dev(), ino: meta.ino() }
    }
}

/// The bits of a mode that say who may do what.
const ALL: u32 = 0o7777;

/// Makes one folder. Its parent must be there.
pub fn make_dir(path: &Path) -> Result<()> {
    let made = DirBuilder::new().mode(0o700).create(path);
    made.and_then(|()| match fs::metadata(path)?.permissions().mode() & ALL {
        0o700 => Ok(()),
        _ => fs::set_permissions(path, Permissions::from_mode(0o700)),
    })
    .map_err(|e| match e.kind() {
        io::ErrorKind::NotFound => StoreError::missing(path),
        io::ErrorKind::AlreadyExists => StoreError::Exists(path.to_owned()),
        _ => StoreError::io("create", path, e),
    })
}

/// Makes a folder and those above it, where they are not there yet.
pub fn make_dirs(path: &Path) -> Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    if let Some(parent) = path.parent() {
        make_dirs(parent)?;
    }
    match make_dir(path) {
        Err(StoreError::Exists(_)) if path.is_dir() => Ok(()),
        Err(StoreError::Exists(_)) => Err(StoreError::io("create", path, io::ErrorKind::NotADirectory.into())),
        done => done,
    }
}

/// Opens for reading and writing, never truncating; makes the file where it is not there.
pub fn open_or_create(path: &Path, append: bool) -> io::Result<(File, bool)> {
    let mut how = OpenOptions::new();
    how.read(true).mode(0o600);
    if append {
        how.append(true);
    } else {
        how.write(true);
    }
    loop {
        match how.open(path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            other => return other.map(|file| (file, false)),
        }
        match how.clone().create_new(true).open(path) {
            // Another process was quicker: take its file.
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            Err(e) => return Err(e),
            Ok(file) => {
                as_owners(&file)?;
                return Ok((file, true));
            }
        }
    }
}

/// Makes a new file that must not be there yet.
pub fn create_new(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(path)?;
    as_owners(&file)?;
    Ok(file)
}

/// For its owner to read and write, whatever the umask took. Only where it took something: what runs in a sandbox without
/// the right to write may change no file's mode, not even to what it is.
fn as_owners(file: &File) -> io::Result<()> {
    match file.metadata()?.permissions().mode() & ALL {
        0o600 => Ok(()),
        _ => file.set_permissions(Permissions::from_mode(0o600)),
    }
}

/// Brings a folder's entries to the disk.
pub fn sync_dir(path: &Path) -> Result<()> {
    File::open(path).and_then(|d| d.sync_all()).map_err(|e| StoreError::io("sync", path, e))
}
