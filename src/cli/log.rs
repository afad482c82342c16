//! Where the long-lived processes write what should not have happened: a file beside the team's others.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use tracing_subscriber::fmt::MakeWriter;

/// Sends warnings and errors to `path`. The file is made with the first of them.
pub fn to_file(path: &Path) {
    let lazy = Lazy { path: path.to_owned(), file: Mutex::new(None) };
    // Only the first call of a process counts.
    let _ =
        tracing_subscriber::fmt().with_max_level(tracing::Level::WARN).with_ansi(false).with_writer(lazy).try_init();
}

struct Lazy {
    path: PathBuf,
    file: Mutex<Option<File>>,
}

struct Line<'a>(&'a Lazy);

impl<'a> MakeWriter<'a> for Lazy {
    type Writer = Line<'a>;
    fn make_writer(&'a self) -> Line<'a> {
        Line(self)
    }
}

impl std::io::Write for Line<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let mut file = self.0.file.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if file.is_none() {
            *file = Some(OpenOptions::new().create(true).append(true).mode(0o600).open(&self.0.path)?);
        }
        file.as_mut().map_or(Ok(bytes.len()), |f| f.write(bytes))
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
