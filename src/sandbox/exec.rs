//! The shim: confines itself, then becomes the program.

use std::convert::Infallible;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use super::landlock::{self, LandlockError};
use super::{Mode, Policy, seccomp};

/// Why the program did not start.
#[derive(Debug, thiserror::Error)]
pub enum ConfineError {
    #[error("the command is empty")]
    Empty,
    #[error("{0}")]
    Unsupported(&'static str),
    #[error("{0}")]
    Files(#[from] LandlockError),
    #[error("{0}")]
    Calls(#[from] seccompiler::Error),
    #[error("start {program:?}: {source}")]
    Program { program: OsString, source: io::Error },
}

impl ConfineError {
    /// The exit code that shells have for it: 127 for a program that is not there, 126 for one that does not run.
    #[must_use]
    pub fn code(&self) -> u8 {
        match self {
            Self::Program { source, .. } if source.kind() == io::ErrorKind::NotFound => 127,
            _ => 126,
        }
    }

    /// What to do about it, where that can be said.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Unsupported(_) => {
                Some("`sandbox = \"off\"` or `sandbox_fallback = \"off\"` in the spec runs it unconfined")
            }
            _ => None,
        }
    }
}

/// Applies the policy to this process, which must have no other thread, and turns it into the program.
///
/// # Errors
/// Always an error where it returns: no Landlock, a writable path that is not there, a program that cannot be executed.
pub fn exec(argv: &[OsString], policy: &Policy) -> Result<Infallible, ConfineError> {
    let (program, arguments) = argv.split_first().ok_or(ConfineError::Empty)?;
    if policy.mode != Mode::Off {
        let support = landlock::support();
        if support.files {
            // Files first: the filters take away calls that this needs on some kernels.
            landlock::apply(policy, &terminals())?;
            seccomp::apply(policy)?;
        } else if !policy.fallback_off {
            return Err(ConfineError::Unsupported(support.words()));
        }
    }
    let source = Command::new(program).args(arguments).exec();
    Err(ConfineError::Program { program: OsStr::to_owned(program), source })
}

/// The terminals that this process was given.
fn terminals() -> Vec<PathBuf> {
    let name = |fd: &dyn AsFd| rustix::termios::ttyname(fd.as_fd(), Vec::new()).ok();
    let names = [name(&io::stdin()), name(&io::stdout()), name(&io::stderr())];
    let mut paths: Vec<PathBuf> =
        names.into_iter().flatten().map(|name| OsString::from_vec(name.into_bytes()).into()).collect();
    paths.dedup();
    paths
}
