//! What can go wrong with tmux, and what a person can do about it.

use std::path::PathBuf;
use std::time::Duration;

/// Why a tmux call did not do its work. The texts read after "failed to …".
#[derive(Debug, thiserror::Error)]
pub enum TmuxError {
    #[error("tmux is not installed: no program `{program}` in PATH")]
    Missing { program: String },

    #[error("tmux {found} is too old, {need} or newer is needed")]
    TooOld { found: String, need: &'static str },

    #[error("no tmux server answers on {}", socket.display())]
    NoServer { socket: PathBuf },

    #[error("tmux {command}: {stderr} (status {status})")]
    Failed { command: String, stderr: String, status: String },

    #[error("tmux {command}: no answer within {} ms", limit.as_millis())]
    TimedOut { command: String, limit: Duration },

    #[error("tmux {command}: unexpected answer {output:?}")]
    Unparsable { command: String, output: String },

    #[error("no pane {pane} with the expected process")]
    NoPane { pane: String },

    #[error("the server on {} is process {found:?}, not {expected}", socket.display())]
    OtherServer { socket: PathBuf, expected: u32, found: Option<u32> },

    #[error("no folder {}", path.display())]
    NoFolder { path: PathBuf },

    #[error("a pane needs a program: the command is empty")]
    NoProgram,

    #[error("not inside a tmux: TMUX is {value:?}")]
    NotInside { value: String },

    #[error("{what} {}", path.display())]
    Io { what: &'static str, path: PathBuf, source: std::io::Error },
}

impl TmuxError {
    /// What a person can do about it, where there is something.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Missing { .. } => Some("install it (`apt install tmux`, `dnf install tmux`, `brew install tmux`)"),
            Self::TooOld { .. } => Some("install a newer tmux, or put one first in PATH"),
            Self::NoServer { .. } => Some("the team's tmux server has ended; `up --resume` starts it again"),
            Self::TimedOut { .. } => {
                Some("the team's tmux server is stopped or overloaded; `kill -CONT` it, or end it by its process id")
            }
            Self::NotInside { .. } => Some("attach from a terminal outside tmux, or check the TMUX variable"),
            Self::Failed { stderr, .. } if stderr.contains("File name too long") => Some(
                "the socket's path is too long for a Unix socket (107 bytes): set XDG_RUNTIME_DIR to a shorter folder",
            ),
            Self::Failed { stderr, .. } if stderr.contains("need UTF-8 locale") => {
                Some("install the C.UTF-8 locale: tmux needs one UTF-8 locale on the machine")
            }
            _ => None,
        }
    }

    /// Whether tmux said that a window is too small for one more pane.
    pub(super) fn is_no_space(&self) -> bool {
        matches!(self, Self::Failed { stderr, .. } if stderr.contains("no space for new pane"))
    }

    /// Whether tmux said that a target does not exist (any more).
    pub(super) fn is_gone(&self) -> bool {
        matches!(self, Self::Failed { stderr, .. } if stderr.contains("no such pane") || stderr.contains("can't find pane"))
    }
}
