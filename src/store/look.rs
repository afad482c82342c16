//! Looking at folders, where the kernel does not tell: whether a name, a size or a time is another than before.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Folders, and how each looked last.
#[derive(Debug, Default)]
pub(super) struct Look {
    dirs: Vec<(PathBuf, u64)>,
}

impl Look {
    pub fn is_empty(&self) -> bool {
        self.dirs.is_empty()
    }

    pub fn add(&mut self, dir: PathBuf) {
        if self.dirs.iter().all(|(known, _)| *known != dir) {
            let seen = seen(&dir);
            self.dirs.push((dir, seen));
        }
    }

    pub fn remove(&mut self, dir: &Path) {
        self.dirs.retain(|(known, _)| known != dir);
    }

    /// Looks at every folder; whether one changed since the last look.
    pub fn changed(&mut self) -> bool {
        let mut changed = false;
        for (dir, before) in &mut self.dirs {
            let now = seen(dir);
            changed |= now != *before;
            *before = now;
        }
        changed
    }
}

/// A number that stands for how a folder looks.
fn seen(dir: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(dir) else { return 0 };
    // Entries come in no order, so their numbers are added up.
    entries.flatten().fold(1, |sum, entry| {
        let mut hasher = DefaultHasher::new();
        entry.file_name().hash(&mut hasher);
        if let Ok(meta) = entry.metadata() {
            (meta.ino(), meta.len(), meta.mtime(), meta.mtime_nsec()).hash(&mut hasher);
        }
        sum.wrapping_add(hasher.finish())
    })
}
