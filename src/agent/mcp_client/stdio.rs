//! A server that is a program of ours: started, listened to on its errors, and ended with all that it started.

use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::process::{ChildStdin, ChildStdout, Command};

use crate::agent::tools::locked;
use crate::os::reap::{Kept, spawn_kept};
use crate::os::tree::{Tree, TreeGuard};

/// Marks what a server starts.
const MARK: &str = "CREWMUX_MCP_SERVER";
/// Bytes of its last words that are kept.
const LAST_WORDS: usize = 2_000;
/// How long it has to leave once its input is closed.
const GRACE: Duration = Duration::from_millis(500);

pub(super) struct Program {
    tree: TreeGuard,
    words: Arc<Mutex<String>>,
    listening: tokio::task::JoinHandle<()>,
    child: tokio::process::Child,
    _kept: Kept,
}

impl Program {
    /// Starts it in `cwd`.
    pub(super) fn start(
        (command, args): (&str, &[String]),
        env: &[(String, String)],
        cwd: &Path,
    ) -> std::io::Result<(Self, ChildStdout, ChildStdin)> {
        let mark = (MARK.to_owned(), uuid::Uuid::new_v4().to_string());
        let mut to_start = Command::new(command);
        to_start.args(args).current_dir(cwd).envs(env.iter().map(|(name, value)| (name, value))).env(MARK, &mark.1);
        // A group of its own: a Ctrl-C in our terminal is not meant for it.
        to_start.process_group(0).kill_on_drop(true);
        to_start.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let (mut child, kept) = spawn_kept(&mut to_start)?;
        let missing = || std::io::Error::other("it has no standard streams");
        let (out, input) = (child.stdout.take().ok_or_else(missing)?, child.stdin.take().ok_or_else(missing)?);
        let words = Arc::<Mutex<String>>::default();
        let mut errors = child.stderr.take().ok_or_else(missing)?;
        let heard = Arc::clone(&words);
        let listening = tokio::spawn(async move {
            let mut buffer = [0; 4096];
            while let Ok(bytes @ 1..) = errors.read(&mut buffer).await {
                let mut words = locked(&heard);
                words.push_str(&String::from_utf8_lossy(&buffer[..bytes]));
                *words = crate::agent::tools::last_part(&words, LAST_WORDS).to_owned();
            }
        });
        let tree = TreeGuard::new(Tree { root: Some(kept.id()), mark });
        Ok((Self { tree, words, listening, child, _kept: kept }, out, input))
    }

    /// Ends it and what it started; what it said on its errors last, in one line. Its input is closed by then, which is how
    /// it is told.
    pub(super) async fn end(mut self) -> String {
        let _ = tokio::time::timeout(GRACE, self.child.wait()).await;
        let tree = self.tree.take();
        let _ = tokio::task::spawn_blocking(move || tree.map(|tree| tree.end(Duration::ZERO))).await;
        let _ = tokio::time::timeout(GRACE, self.child.wait()).await;
        let _ = tokio::time::timeout(GRACE, self.listening).await;
        let words = locked(&self.words);
        let last: Vec<&str> = words.lines().rev().filter(|line| !line.trim().is_empty()).take(3).collect();
        last.into_iter().rev().collect::<Vec<_>>().join(" / ")
    }
}
