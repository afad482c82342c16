//! Files as tools read and write them.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::time::SystemTime;

use super::context::{Context, locked};
use super::path::{Resolved, resolve};
use super::{Outcome, Subject};

/// Mode of a file that was not there before; the umask takes from it.
const NEW_FILE: u32 = 0o666;

/// What a permission rule sees of a path: relative to where the agent works, if it lies in there.
pub(super) fn subject(path: Option<&str>, cx: &Context) -> Subject {
    let path = path.unwrap_or(".");
    let here = cx.here();
    match resolve(path, &here) {
        Ok(Resolved { real, outside }) => {
            let root = here.cwd.canonicalize().unwrap_or(here.cwd);
            let text = real.strip_prefix(root).unwrap_or(&real);
            let text = if text.as_os_str().is_empty() { "." } else { &text.to_string_lossy() };
            Subject { text: text.to_owned(), outside }
        }
        // It cannot be done either; until then it counts as something that must be asked.
        Err(_) => Subject { text: path.to_owned(), outside: true },
    }
}

/// Where the path of a call leads.
pub(super) fn locate(path: &str, cx: &Context) -> Result<Resolved, Outcome> {
    resolve(path, &cx.here()).map_err(|e| Outcome::error(format!("The path {path:?} cannot be followed: {e}.")))
}

/// Opens a plain file. A pipe or a device would be waited for, or never end.
pub(super) fn open(path: &Path) -> io::Result<(File, fs::Metadata)> {
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
    let data = file.metadata()?;
    if data.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if !data.is_file() {
        return Err(io::Error::other("it is a pipe, socket or device and no plain file"));
    }
    Ok((file, data))
}

/// A file read whole.
pub(super) struct Whole {
    pub bytes: Vec<u8>,
    pub modified: Option<SystemTime>,
}

/// Reads all of a file of at most `most` bytes.
pub(super) fn read(path: &Path, most: u64) -> io::Result<Whole> {
    let (file, data) = open(path)?;
    let mut bytes = Vec::with_capacity(usize::try_from(data.len().min(most)).unwrap_or_default());
    // One more than allowed: it may grow meanwhile.
    file.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it is longer than {most} bytes")));
    }
    Ok(Whole { bytes, modified: data.modified().ok() })
}

/// Why a file cannot be read, for the model.
pub(super) fn unreadable(path: &str, error: &io::Error) -> Outcome {
    let help = match error.kind() {
        io::ErrorKind::NotFound => " Look for it with Glob.",
        io::ErrorKind::IsADirectory => " List what is in it with Glob.",
        io::ErrorKind::FileTooLarge => " Look for what you need in it with Grep, or read a part by offset and limit.",
        _ => "",
    };
    Outcome::error(format!("{path} cannot be read: {}.{help}", plain(error)))
}

/// Without the number that the system's texts end with.
pub(super) fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}

/// Replaces a file as a whole, or makes it and the folders above it: a reader sees the old one or the new one. An existing
/// file keeps its permissions.
pub(super) fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().ok_or_else(|| io::Error::other("it has no folder"))?;
    fs::create_dir_all(folder)?;
    let before = match fs::symlink_metadata(path) {
        Ok(data) if data.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
        Ok(data) if !data.is_file() => return Err(io::Error::other("it is no plain file")),
        Ok(data) => Some(data),
        Err(e) if e.kind() == io::ErrorKind::NotFound => None,
        Err(e) => return Err(e),
    };
    // What may not be written may not be replaced either, though the folder would allow it.
    if before.is_some() {
        OpenOptions::new().write(true).open(path)?;
    }
    let mode = before.as_ref().map_or(NEW_FILE, |data| data.mode() & 0o7777);
    let mut new = tempfile::Builder::new().prefix(".crewmux-").make_in(folder, |at| {
        OpenOptions::new().write(true).create_new(true).mode(if before.is_some() { 0o600 } else { NEW_FILE }).open(at)
    })?;
    new.write_all(bytes)?;
    if before.is_some() {
        new.as_file().set_permissions(fs::Permissions::from_mode(mode))?;
    }
    new.persist(path).map_err(|e| e.error)?;
    Ok(())
}

/// The text of a file that is about to be changed: it must have been seen as it is now.
pub(super) fn current_text(path: &str, at: &Resolved, cx: &Context) -> Result<String, Outcome> {
    let whole = read(&at.real, cx.limits.file_bytes).map_err(|e| unreadable(path, &e))?;
    check_seen(path, at, &whole.bytes, cx)?;
    String::from_utf8(whole.bytes)
        .map_err(|_| Outcome::error(format!("{path} is not UTF-8 text. Nothing was changed; change it by a command.")))
}

pub(super) fn check_seen(path: &str, at: &Resolved, bytes: &[u8], cx: &Context) -> Result<(), Outcome> {
    match locked(&cx.files).is_current(&at.real, bytes) {
        Some(true) => Ok(()),
        Some(false) => Err(Outcome::error(format!(
            "{path} has changed since you read it. Nothing was written. Read it again and then decide."
        ))),
        None => Err(Outcome::error(format!("You have not read {path} yet. Nothing was written. Read it first."))),
    }
}

/// Writes what a tool made of a file, and remembers it as seen.
pub(super) fn store(path: &str, at: &Resolved, text: &str, cx: &Context) -> Result<(), Outcome> {
    write(&at.real, text.as_bytes())
        .map_err(|e| Outcome::error(format!("{path} cannot be written: {}. It is as it was.", plain(&e))))?;
    let modified = fs::metadata(&at.real).and_then(|data| data.modified()).ok();
    locked(&cx.files).saw(&at.real, text.as_bytes(), modified);
    Ok(())
}

/// Does what blocks away from the loop.
pub(super) async fn blocking(work: impl FnOnce() -> Outcome + Send + 'static) -> Outcome {
    match tokio::task::spawn_blocking(work).await {
        Ok(outcome) => outcome,
        Err(_) => Outcome::error("The tool failed in a way that should not happen; its log has more."),
    }
}

/// Lines with their numbers, the first of them `from`; each cut to `bytes`.
pub(super) fn numbered<'a>(lines: impl Iterator<Item = &'a str>, from: usize, bytes: usize) -> String {
    let mut out = String::new();
    for (at, line) in lines.enumerate() {
        let shown = super::cut::head(line, bytes);
        out.push_str(&format!("{:>6}\t{shown}", from + at));
        if shown.len() < line.len() {
            out.push_str(&format!(" [{} bytes more]", line.len() - shown.len()));
        }
        out.push('\n');
    }
    out
}
