//! Running a command: a session of its own, its output within limits, and its whole tree ended with it.

use std::ffi::OsString;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;

use super::context::Context;
use crate::os::process::ProcessId;
use crate::os::spawn::{PipeChild, Program, spawn_with_pipes};
use crate::os::tree::{Tree, TreeGuard};

/// Marks what a command starts, so that it is found wherever it goes.
const MARK: &str = "CREWMUX_SHELL";
/// The agent's own keys: whatever a command prints can end up anywhere.
const SECRETS: [&str; 3] = ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CREWMUX_MODEL_KEY"];
/// Programs that would wait for a person at a terminal.
const QUIET: [(&str, &str); 6] = [
    ("TERM", "dumb"),
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("GIT_EDITOR", "true"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("NO_COLOR", "1"),
];
/// How long the rest of the output is read when the command itself has ended.
const LAST_WORDS: Duration = Duration::from_millis(100);
/// Bytes of a foreground command's output that are kept in a file at most.
const MOST_KEPT: u64 = 64 << 20;
/// How long a command has to leave by itself when it is ended.
const GRACE: Duration = Duration::from_millis(500);

/// A command that runs.
pub(super) struct Shell {
    child: PipeChild,
    tree: TreeGuard,
}

/// How it ended.
#[derive(Debug)]
pub(super) enum Ended {
    Exited(ExitStatus),
    TimedOut,
    Cancelled,
}

impl Shell {
    /// Starts `command` where the agent stands, in the sandbox of its mode.
    pub(super) fn start(command: &str, cx: &Context) -> Result<Self, String> {
        Self::program(vec![shell(), "-c".into(), command.into()], cx)
    }

    /// The same with a program.
    pub(super) fn program(argv: Vec<OsString>, cx: &Context) -> Result<Self, String> {
        let here = cx.here();
        let folders: Vec<&Path> = std::iter::once(&here.cwd).chain(&here.also).map(PathBuf::as_path).collect();
        let argv = cx.confine.wrap(argv, here.mode, &folders)?;
        let mark = (MARK.to_owned(), uuid::Uuid::new_v4().to_string());
        let mut env: Vec<(OsString, OsString)> = std::env::vars_os()
            .filter(|(name, _)| !SECRETS.iter().chain(&[MARK]).any(|other| name == other))
            .filter(|(name, _)| !QUIET.iter().any(|(other, _)| name == other))
            .collect();
        env.extend(QUIET.map(|(name, value)| (name.into(), value.into())));
        if let Some(tmp) = cx.confine.tmp() {
            env.retain(|(name, _)| name != "TMPDIR");
            env.push(("TMPDIR".into(), tmp.into()));
        }
        env.push((MARK.into(), mark.1.clone().into()));
        let child = spawn_with_pipes(&Program { argv, cwd: here.cwd, env }).map_err(|e| e.to_string())?;
        let tree = TreeGuard::new(Tree { root: Some(child.id), mark });
        Ok(Self { child, tree })
    }

    /// Follows it to its end; `take` gets every piece of its output. Nothing of it runs any more afterwards: how it
    /// ended, what it had left running, and what could not be ended.
    pub(super) async fn follow(
        mut self,
        timeout: Option<Duration>,
        stop: impl Future<Output = ()>,
        mut take: impl FnMut(&[u8]),
    ) -> (Ended, usize, Vec<ProcessId>) {
        let ended = {
            let late = async {
                match timeout {
                    Some(limit) => tokio::time::sleep(limit).await,
                    None => std::future::pending().await,
                }
            };
            tokio::pin!(late, stop);
            let mut buffer = vec![0; 32 << 10];
            let mut open = true;
            loop {
                tokio::select! {
                    biased;
                    () = &mut stop => break Ended::Cancelled,
                    () = &mut late => break Ended::TimedOut,
                    read = self.child.output.read(&mut buffer), if open => match read {
                        Ok(0) | Err(_) => open = false,
                        Ok(bytes) => take(&buffer[..bytes]),
                    },
                    status = self.child.child.wait() => match status {
                        Ok(status) => break Ended::Exited(status),
                        Err(_) => break Ended::Cancelled,
                    },
                }
            }
        };
        let grace = if matches!(ended, Ended::Exited(_)) { Duration::ZERO } else { GRACE };
        let tree = self.tree.take();
        if matches!(ended, Ended::Exited(_)) {
            drain(&mut self.child.output, &mut take).await;
        }
        let (others, left) = tokio::task::spawn_blocking(move || tree.map(|tree| tree.end(grace)))
            .await
            .ok()
            .flatten()
            .unwrap_or_default();
        if !matches!(ended, Ended::Exited(_)) {
            drain(&mut self.child.output, &mut take).await;
            let _ = tokio::time::timeout(GRACE, self.child.child.wait()).await;
        }
        (ended, others, left)
    }
}

/// What lies in the pipe; a process that was left behind may keep it open, and is not waited for.
async fn drain(output: &mut pipe::Receiver, take: &mut impl FnMut(&[u8])) {
    let mut buffer = vec![0; 32 << 10];
    while let Ok(Ok(bytes @ 1..)) = tokio::time::timeout(LAST_WORDS, output.read(&mut buffer)).await {
        take(&buffer[..bytes]);
    }
}

/// Bash where there is one: models write for it.
fn shell() -> OsString {
    ["/bin/bash", "/usr/bin/bash"].into_iter().find(|path| Path::new(path).exists()).unwrap_or("/bin/sh").into()
}

/// A command's output: its beginning and its end in memory, all of it in a file when it gets long.
pub(super) struct Output {
    first: Vec<u8>,
    last: std::collections::VecDeque<u8>,
    half: usize,
    total: u64,
    path: Option<PathBuf>,
    file: Option<File>,
}

impl Output {
    pub(super) fn new(bytes: usize, path: Option<PathBuf>) -> Self {
        Self { first: Vec::new(), last: std::collections::VecDeque::new(), half: bytes / 2, total: 0, path, file: None }
    }

    pub(super) fn take(&mut self, chunk: &[u8]) {
        let was_short = self.is_short();
        let room = self.half.saturating_sub(self.first.len()).min(chunk.len());
        let (head, tail) = chunk.split_at(room);
        self.first.extend(head);
        self.last.extend(tail);
        self.total += chunk.len() as u64;
        if was_short && !self.is_short() {
            self.file = self.path.as_deref().and_then(|path| File::create_new(path).ok());
            if let Some(file) = &mut self.file {
                let _ = file.write_all(&self.first);
                let (a, b) = self.last.as_slices();
                let _ = file.write_all(a).and_then(|()| file.write_all(b));
            }
        } else if let (Some(file), true) = (&mut self.file, self.total <= MOST_KEPT) {
            let _ = file.write_all(chunk);
        }
        let over = self.last.len().saturating_sub(self.half);
        self.last.drain(..over);
    }

    fn is_short(&self) -> bool {
        self.total <= (self.half * 2) as u64
    }

    /// What the model gets to see.
    pub(super) fn text(&mut self) -> String {
        let first = String::from_utf8_lossy(&self.first).into_owned();
        let last = String::from_utf8_lossy(self.last.make_contiguous()).into_owned();
        if self.is_short() {
            return first + &last;
        }
        let left_out = self.total - (self.first.len() + self.last.len()) as u64;
        let rest = match (&self.file, &self.path) {
            (Some(_), Some(path)) => format!("; all of it is in {}", path.display()),
            _ => String::new(),
        };
        format!("{first}\n\n[{left_out} bytes left out here{rest}]\n\n{last}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_output_keeps_both_ends_and_lies_in_a_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("out");
        let mut output = Output::new(100, Some(path.clone()));
        for n in 0..1000 {
            output.take(format!("{n}\n").as_bytes());
        }
        let text = output.text();
        assert!(text.starts_with("0\n1\n") && text.ends_with("998\n999\n"), "{text}");
        assert!(text.contains("3790 bytes left out") && text.contains(path.to_str().unwrap()), "{text}");
        let whole: String = (0..1000).map(|n| format!("{n}\n")).collect();
        assert_eq!(std::fs::read_to_string(path).unwrap(), whole);
        let mut short = Output::new(100, None);
        short.take(&[b'x'; 100]);
        assert_eq!(short.text(), "x".repeat(100));
    }
}
