//! One tmux process: started, fed, limited in time, its exit status looked at.

use super::commands::Cmd;
use super::error::TmuxError;
use super::text::separator_literal;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::Command;

/// tmux sends a whole command sequence in one message of at most 16,384 bytes (MAX_IMSGSIZE) and says "command too long"
/// past it (measured with 3.3a: 16,250 pass, 16,350 do not). Longer chains become several processes.
const CHAIN_BYTES: usize = 14_000;

/// What a chain of commands said, and whether it ended well. On an error `stdout` holds what the commands before it printed.
#[derive(Debug)]
pub(super) struct Said {
    pub stdout: Vec<u8>,
    pub error: Option<TmuxError>,
}

impl Said {
    /// The whole output, if every command did its work.
    pub fn ok(self) -> Result<String, TmuxError> {
        match self.error {
            Some(error) => Err(error),
            None => Ok(String::from_utf8_lossy(&self.stdout).into_owned()),
        }
    }
}

/// How to reach one server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Runner {
    pub program: OsString,
    pub socket: PathBuf,
    pub limit: Duration,
}

impl Runner {
    /// What comes before the commands: UTF-8 whatever the locale says (else tmux turns tabs and letters into `_`),
    /// the server's socket, and no configuration file of anybody.
    pub fn prefix(&self) -> Vec<OsString> {
        let mut argv: Vec<OsString> = vec!["-u".into(), "-S".into(), self.socket.clone().into()];
        argv.extend(["-f", "/dev/null"].map(OsString::from));
        argv
    }

    /// Runs the commands in order, in as few processes as their length allows, and stops at the first that fails.
    pub async fn run(&self, commands: &[Cmd], stdin: Option<&[u8]>) -> Said {
        let mut said = Said { stdout: Vec::new(), error: None };
        for chunk in chunks(commands) {
            let mut argv = self.prefix();
            argv.extend(chain(chunk));
            // A big chain is work, not silence: 64 panes take a quarter of a second on an idle machine.
            let limit = self.limit + Duration::from_millis(20) * u32::try_from(chunk.len()).unwrap_or(u32::MAX);
            let part = run(&self.program, argv, stdin, limit, &names(chunk), &self.socket).await;
            said.stdout.extend(part.stdout);
            if part.error.is_some() {
                said.error = part.error;
                break;
            }
        }
        said
    }
}

/// The arguments of a command sequence, each escaped where tmux would read a separator.
pub(super) fn chain(commands: &[Cmd]) -> Vec<OsString> {
    let mut argv = Vec::new();
    for (n, command) in commands.iter().enumerate() {
        if n > 0 {
            argv.push(";".into());
        }
        argv.extend(command.0.iter().map(|arg| separator_literal(arg)));
    }
    argv
}

fn chunks(commands: &[Cmd]) -> Vec<&[Cmd]> {
    let mut list = Vec::new();
    let (mut start, mut bytes) = (0, 0);
    for (n, command) in commands.iter().enumerate() {
        // Each argument travels with its NUL; the separator is one more argument; `\;` one more byte.
        let size: usize = command.0.iter().map(|arg| arg.len() + 2).sum::<usize>() + 2;
        if n > start && bytes + size > CHAIN_BYTES {
            list.push(&commands[start..n]);
            (start, bytes) = (n, 0);
        }
        bytes += size;
    }
    if start < commands.len() {
        list.push(&commands[start..]);
    }
    list
}

/// `new-window` or `split-window … select-layout (126 commands)`: never arguments, which may be long or private.
fn names(commands: &[Cmd]) -> String {
    let name = |c: &Cmd| c.0.first().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    match commands {
        [] => String::new(),
        [one] => name(one),
        [first, .., last] => format!("{} … {} ({} commands)", name(first), name(last), commands.len()),
    }
}

/// One process. Killed when it takes longer than `limit`.
pub(super) async fn run(
    program: &OsString,
    argv: Vec<OsString>,
    stdin: Option<&[u8]>,
    limit: Duration,
    named: &str,
    socket: &Path,
) -> Said {
    let mut command = Command::new(program);
    command
        .args(argv)
        // Inside another tmux these would name the person's server.
        .env_remove("TMUX")
        .env_remove("TMUX_PANE")
        // A server outlives who starts it: that it was started inside another team is nothing to its panes.
        .envs(foreign_marks())
        .stdin(if stdin.is_some() { Stdio::piped() } else { Stdio::null() })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        // Ctrl-C in the launcher's terminal must not cut a chain in two.
        .process_group(0)
        .kill_on_drop(true);
    let failed = |error| Said { stdout: Vec::new(), error: Some(error) };
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            return failed(TmuxError::Missing { program: program.to_string_lossy().into_owned() });
        }
        Err(source) => return failed(TmuxError::Io { what: "start", path: program.into(), source }),
    };
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let (input, output, errors) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let work = async {
        let feed = async {
            if let (Some(mut pipe), Some(bytes)) = (input, stdin) {
                // A tmux that ends early tells why by its status and stderr; the broken pipe adds nothing.
                let _ = pipe.write_all(bytes).await;
            }
        };
        let read = async {
            if let Some(mut pipe) = output {
                let _ = pipe.read_to_end(&mut stdout).await;
            }
        };
        let complain = async {
            if let Some(mut pipe) = errors {
                let _ = pipe.read_to_end(&mut stderr).await;
            }
        };
        tokio::join!(feed, read, complain);
        child.wait().await
    };
    let ended = tokio::time::timeout(limit, work).await;
    let error = match ended {
        Err(_) => {
            // Already gone is as good as killed.
            let _ = child.kill().await;
            Some(TmuxError::TimedOut { command: named.to_owned(), limit })
        }
        Ok(Err(source)) => Some(TmuxError::Io { what: "wait for", path: program.into(), source }),
        Ok(Ok(status)) if status.success() => None,
        Ok(Ok(status)) => Some(classify(&String::from_utf8_lossy(&stderr), status, named, socket)),
    };
    Said { stdout, error }
}

fn classify(stderr: &str, status: std::process::ExitStatus, named: &str, socket: &Path) -> TmuxError {
    let stderr = stderr.trim();
    let unreachable = stderr.starts_with("no server running on")
        || stderr.starts_with("lost server")
        || stderr.starts_with("server exited")
        || (stderr.starts_with("error connecting to")
            && (stderr.contains("No such file or directory") || stderr.contains("Connection refused")));
    if unreachable {
        return TmuxError::NoServer { socket: socket.to_owned() };
    }
    let status = match status.code() {
        Some(code) => code.to_string(),
        None => status.to_string(),
    };
    TmuxError::Failed { command: named.to_owned(), stderr: stderr.to_owned(), status }
}

/// The variables that say to which life a process belongs, blanked; the mark itself says "to none of yours", so that
/// the end of the member that started a server does not take it for something of its own.
fn foreign_marks() -> impl Iterator<Item = (OsString, OsString)> {
    let ours = |name: &OsString| name.to_string_lossy().starts_with("CREWMUX_");
    let blank = std::env::vars_os().map(|(name, _)| name).filter(ours).map(|name| (name, OsString::new()));
    blank.chain(std::iter::once(("CREWMUX_LIFE".into(), "tmux-server".into())))
}
