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
    /// What every mode may write besides: a folder for temporary files, caches.
    pub always: Vec<PathBuf>,
    pub network: bool,
    pub unix_sockets: bool,
}

impl Confine for Sandboxed {
    fn confines(&self, mode: Mode) -> bool {
        mode != Mode::Bypass && sandbox::support().files
    }

    fn wrap(&self, argv: Vec<OsString>, mode: Mode, writable: &[&Path]) -> Result<Vec<OsString>, String> {
        // Where the kernel has none, the gate has asked for each command instead.
        if !self.confines(mode) {
            return Ok(argv);
        }
        let mut folders: Vec<PathBuf> = self.always.clone();
        if !mode.is_read_only() {
            folders.extend(writable.iter().map(|folder| folder.to_path_buf()));
        }
        let policy = Policy {
            mode: if mode.is_read_only() { sandbox::Mode::ReadOnly } else { sandbox::Mode::WorkspaceWrite },
            writable: folders.into_iter().filter(|folder| folder.exists()).collect(),
            unix_sockets: self.unix_sockets,
            network: self.network,
            fallback_off: false,
        };
        sandbox::wrap(argv, &policy).map_err(|e| e.to_string())
    }
}
