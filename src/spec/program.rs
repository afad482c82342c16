//! Programs that a spec names: made absolute where they are files, looked for where they are words.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Why a program cannot be run. Each reads after the program's name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum NoProgram {
    #[error("does not exist: {}", .0.display())]
    Missing(PathBuf),
    #[error("is a directory: {}", .0.display())]
    Directory(PathBuf),
    #[error("is not executable: {}", .0.display())]
    NotExecutable(PathBuf),
    #[error("is not found on PATH")]
    NotOnPath,
    #[error("is not UTF-8 when made absolute: {}", .0.display())]
    NotUtf8(PathBuf),
}

/// Where bare words are looked for: a `PATH`, whose relative entries start from `cwd`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SearchPath {
    pub path: OsString,
    pub cwd: PathBuf,
}

/// The program as it is to be run: a path made absolute from `root`, a bare word as it stands. It must be there
/// now, by one of `places` if it is a word.
pub(super) fn resolve(program: &str, root: &Path, places: &[SearchPath]) -> Result<String, NoProgram> {
    if !program.contains('/') {
        let found = places.iter().any(|p| on_path(program, p));
        return if found { Ok(program.to_owned()) } else { Err(NoProgram::NotOnPath) };
    }
    let joined = root.join(program);
    let full = std::path::absolute(&joined).unwrap_or(joined);
    match std::fs::metadata(&full) {
        Err(_) => Err(NoProgram::Missing(full)),
        Ok(meta) if meta.is_dir() => Err(NoProgram::Directory(full)),
        Ok(_) if !executable(&full) => Err(NoProgram::NotExecutable(full)),
        Ok(_) => full.to_str().map(str::to_owned).ok_or(NoProgram::NotUtf8(full)),
    }
}

/// The program as it is to be run from a command line in `here`; the error reads after the program's name.
///
/// # Errors
/// Nothing of that name is there, or nothing that can be run.
pub fn find(program: &str, here: &Path) -> Result<String, String> {
    let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into());
    resolve(program, here, &[SearchPath { path, cwd: here.to_owned() }]).map_err(|error| error.to_string())
}

fn on_path(word: &str, place: &SearchPath) -> bool {
    std::env::split_paths(&place.path).any(|dir| {
        let file = place.cwd.join(dir).join(OsStr::new(word));
        file.is_file() && executable(&file)
    })
}

fn executable(file: &Path) -> bool {
    rustix::fs::access(file, rustix::fs::Access::EXEC_OK).is_ok()
}
