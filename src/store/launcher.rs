//! The launcher's environment, as `state/env` holds it.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;

/// Reads it: `NAME=value` pairs, each ended by a NUL.
///
/// # Errors
/// When the file cannot be read.
pub fn launcher_env(path: &Path) -> io::Result<Vec<(OsString, OsString)>> {
    Ok(unpack(&std::fs::read(path)?))
}

fn unpack(bytes: &[u8]) -> Vec<(OsString, OsString)> {
    let pair = |entry: &[u8]| {
        let at = entry.iter().position(|b| *b == b'=')?;
        Some((OsString::from_vec(entry[..at].to_vec()), OsString::from_vec(entry[at + 1..].to_vec())))
    };
    bytes.split(|b| *b == 0).filter_map(pair).collect()
}
