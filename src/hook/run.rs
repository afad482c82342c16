//! Running a hook: input in, errors out, ended wholly when it is over.

use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};

use super::call::Call;
use crate::model::hook::Said;
use crate::os::clock;
use crate::os::life::{RUN_VARIABLE, end_run};
use crate::os::spawn::{Program, spawn_apart};

/// The exit code of an objection.
const VETO: i32 = 2;
/// How much of its errors is kept, in bytes: they become mail that somebody reads.
const MOST_SAID: usize = 16 * 1024;
/// Between TERM and KILL for what is left of it.
const GRACE: Duration = Duration::from_secs(1);
/// How long its errors are read on after its end, when something that it left still holds the pipe.
const DRAIN: Duration = Duration::from_millis(500);

impl Call {
    /// Runs the hook. Nothing of it runs on afterwards.
    pub async fn run(self) -> Said {
        let Self { argv, cwd, mut env, input, limit, .. } = self;
        // Its processes are known by this; `CREWMUX_LIFE` is that of the member it is about.
        let run = clock::new_life();
        env.push((RUN_VARIABLE.into(), run.to_string().into()));
        let started = match spawn_apart(&Program { argv, cwd, env }, true) {
            Ok(started) => started,
            Err(error) => return Said::Failed(error.to_string()),
        };
        let (mut child, id, kept) = (started.child, started.id, started.kept);
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let mut said = Vec::new();
        let ended = tokio::time::timeout(limit, async {
            let talk = async {
                tokio::join!(give(stdin, format!("{input}\n")), drop_all(stdout), keep(stderr, &mut said));
            };
            tokio::pin!(talk);
            let status = tokio::select! {
                () = &mut talk => child.wait().await,
                status = child.wait() => {
                    let _ = tokio::time::timeout(DRAIN, &mut talk).await;
                    status
                }
            };
            status
        })
        .await;
        // Also what it started and left behind.
        let _ = tokio::task::spawn_blocking(move || end_run(id, run, &[std::process::id()], GRACE)).await;
        let status = match ended {
            Ok(status) => status,
            Err(_) => {
                let _ = child.wait().await;
                drop(kept);
                return Said::Failed(format!("it did not end within {limit:?}"));
            }
        };
        drop(kept);
        let words = String::from_utf8_lossy(&said).trim().to_owned();
        match status.map(|s| s.code()) {
            Ok(Some(0)) => Said::Passed,
            Ok(Some(VETO)) if words.is_empty() => Said::Vetoed("it gave no reason".to_owned()),
            Ok(Some(VETO)) => Said::Vetoed(words),
            Ok(Some(code)) => Said::Failed(with(format!("it ended with code {code}"), &words)),
            Ok(None) => Said::Failed(with("it was ended by a signal".to_owned(), &words)),
            Err(error) => Said::Failed(format!("its end was not seen: {error}")),
        }
    }

    /// [`Call::run`] for a caller that may be in the middle of anything: on a thread and a runtime of its own.
    #[must_use]
    pub fn run_blocking(self) -> Said {
        let failed = |error: String| Said::Failed(error);
        std::thread::scope(|scope| {
            let runs = scope.spawn(|| match tokio::runtime::Builder::new_current_thread().enable_all().build() {
                Ok(runtime) => runtime.block_on(self.run()),
                Err(error) => failed(error.to_string()),
            });
            runs.join().unwrap_or_else(|_| failed("it was cut off".to_owned()))
        })
    }
}

fn with(how: String, words: &str) -> String {
    if words.is_empty() { how } else { format!("{how}: {words}") }
}

/// One that does not read its input is free to do so.
async fn give(stdin: Option<ChildStdin>, input: String) {
    if let Some(mut stdin) = stdin {
        let _ = stdin.write_all(input.as_bytes()).await;
    }
}

async fn drop_all(stdout: Option<ChildStdout>) {
    if let Some(stdout) = stdout {
        read(stdout, &mut Vec::new(), 0).await;
    }
}

async fn keep(stderr: Option<ChildStderr>, into: &mut Vec<u8>) {
    if let Some(stderr) = stderr {
        read(stderr, into, MOST_SAID).await;
    }
}

/// Reads to the end, so that a talkative program is not held up; keeps the first `most` bytes.
async fn read(mut pipe: impl AsyncRead + Unpin, into: &mut Vec<u8>, most: usize) {
    let mut buffer = vec![0; 16 * 1024];
    while let Ok(n @ 1..) = pipe.read(&mut buffer).await {
        let room = most.saturating_sub(into.len());
        into.extend_from_slice(&buffer[..n.min(room)]);
    }
}
