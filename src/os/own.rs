//! Where this binary is, for those that it starts.

use std::ffi::{OsStr, OsString};
use std::path::Path;

/// `PATH` with the running binary's folder first.
#[must_use]
pub fn path_with_own_folder(path: Option<&OsStr>) -> OsString {
    let own = std::env::current_exe().ok().and_then(|exe| exe.parent().map(Path::to_path_buf));
    let rest = path
        .map(|p| std::env::split_paths(p).collect())
        .unwrap_or_else(|| ["/usr/local/bin", "/usr/bin", "/bin"].iter().map(Into::into).collect::<Vec<_>>());
    let all = own.iter().cloned().chain(rest.into_iter().filter(|p| Some(p) != own.as_ref()));
    std::env::join_paths(all).unwrap_or_else(|_| path.map(OsStr::to_owned).unwrap_or_default())
}
