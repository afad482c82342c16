//! Commands in the sandbox room's sandbox.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::services::Confine;
use crate::agent::permission::Mode;
use crate::sandbox::{self, Policy};

/// Confines every command by what the agent's mode allows: nothing is written in the modes that only look, and only the
/// agent's own folders in the others; `bypass` confines nothing.
#[derive(Clone, Debug, Default)]
pub struct Sandboxed {
    /// The agent's own folder for temporary files: commands get it as `TMPDIR`, and may write it in every mode.
    pub tmp: Option<PathBuf>,
    /// What every mode may write besides, such as caches.
    pub always: Vec<PathBuf>,
    /// What the modes that write may write besides the agent's folders: what a commit in a work tree needs.
    pub commits: Vec<PathBuf>,
    pub network: bool,
    pub unix_sockets: bool,
}

impl Confine for Sandboxed {
    fn confines(&self, mode: Mode) -> bool {
        mode != Mode::Bypass && sandbox::support().files
    }

    fn tmp(&self) -> Option<&Path> {
        self.tmp.as_deref()
    }

    fn wrap(&self, argv: Vec<OsString>, mode: Mode, writable: &[&Path]) -> Result<Vec<OsString>, String> {
        // Where the kernel has none, the gate has asked for each command instead.
        if !self.confines(mode) {
            return Ok(argv);
        }
        let mut folders: Vec<PathBuf> = self.always.iter().chain(&self.tmp).cloned().collect();
        if !mode.is_read_only() {
            folders.extend(writable.iter().map(|folder| folder.to_path_buf()).chain(self.commits.iter().cloned()));
        }
        let policy = Policy {
            mode: if mode.is_read_only() { sandbox::Mode::ReadOnly } else { sandbox::Mode::WorkspaceWrite },
            writable: folders.into_iter().filter(|folder| folder.exists()).collect(),
            unix_sockets: self.unix_sockets,
            network: self.network,
            fallback_off: false,
            times: false,
        };
        sandbox::wrap(argv, &policy).map_err(|e| e.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_mode_has_its_folders() {
        let dir = tempfile::tempdir().unwrap();
        let (work, tmp) = (dir.path().join("work"), dir.path().join("tmp"));
        std::fs::create_dir(&work).unwrap();
        std::fs::create_dir(&tmp).unwrap();
        let objects = dir.path().join("objects");
        std::fs::create_dir(&objects).unwrap();
        let sandbox = Sandboxed {
            tmp: Some(tmp.clone()),
            always: vec![dir.path().join("gone")],
            commits: vec![objects.clone()],
            ..Sandboxed::default()
        };
        if !sandbox::support().files {
            eprintln!("skipped: this kernel has no Landlock");
            return;
        }
        let command: Vec<OsString> = vec!["true".into()];
        let at = |mode| {
            let argv = sandbox.wrap(command.clone(), mode, &[&work]).unwrap();
            let has = |path: &Path| argv.iter().any(|arg| arg == path);
            assert_eq!(has(&objects), has(&work), "commits go with the work");
            (argv.iter().any(|arg| arg == "read-only"), has(&work), has(&tmp), argv.last() == command.last())
        };
        for mode in [Mode::ReadOnly, Mode::Plan] {
            assert_eq!(at(mode), (true, false, true, true), "{mode:?}");
        }
        for mode in [Mode::Default, Mode::AcceptEdits, Mode::Bubble] {
            assert_eq!(at(mode), (false, true, true, true), "{mode:?}");
        }
        assert_eq!(sandbox.wrap(command.clone(), Mode::Bypass, &[&work]).unwrap(), command);
    }
}
