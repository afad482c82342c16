//! A policy, and the command line that carries it to the shim.

use std::ffi::OsString;
use std::path::PathBuf;

use super::Mode;
use crate::os::process::own_binary;

/// The verb that confines itself and becomes the program.
pub const VERB: &str = "sandbox-exec";

/// What one program may do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    pub mode: Mode,
    /// Folders (with all below them) and files that it may write. They must be there when the program starts. The
    /// null devices and its own terminal need not be named.
    pub writable: Vec<PathBuf>,
    /// Whether it may make Unix sockets.
    pub unix_sockets: bool,
    /// Whether it may make network sockets.
    pub network: bool,
    /// Run it unconfined where the kernel has no Landlock, instead of refusing.
    pub fallback_off: bool,
    /// Whether it may set the times of files also in `read-only`: some programs keep a lock fresh that way.
    pub times: bool,
}

impl Policy {
    /// A policy that confines nothing.
    #[must_use]
    pub fn off() -> Self {
        Self { unix_sockets: true, network: true, ..Self::default() }
    }

    /// The shim's options.
    fn flags(&self) -> Vec<OsString> {
        let mut out: Vec<OsString> = vec!["--mode".into(), self.mode.as_str().into()];
        for path in &self.writable {
            out.push("--writable".into());
            out.push(path.into());
        }
        for (set, flag) in [
            (self.unix_sockets, "--unix-sockets"),
            (self.network, "--network"),
            (self.fallback_off, "--fallback-off"),
            (self.times, "--times"),
        ] {
            if set {
                out.push(flag.into());
            }
        }
        out
    }
}

/// The command line that runs `argv` under `policy`. What is not to be confined, and an empty command, stays as it is.
///
/// # Errors
/// When the running binary cannot be found.
pub fn wrap(argv: Vec<OsString>, policy: &Policy) -> std::io::Result<Vec<OsString>> {
    if policy.mode == Mode::Off || argv.is_empty() {
        return Ok(argv);
    }
    let mut out: Vec<OsString> = vec![own_binary()?.into(), VERB.into()];
    out.extend(policy.flags());
    out.push("--".into());
    out.extend(argv);
    Ok(out)
}
