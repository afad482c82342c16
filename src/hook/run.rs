//! Running a hook: input in, errors out, ended wholly when it is over.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tempfile::TempDir;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};

use super::call::Call;
use crate::model::hook::Said;
use crate::os::clock;
use crate::os::spawn::{Program, spawn_apart};
use crate::os::tree::{Tree, TreeGuard};
use crate::sandbox::{self, Mode};

/// Marks what one run of a hook starts; `CREWMUX_LIFE` is that of the member it is about.
const RUN_VARIABLE: &str = "CREWMUX_HOOK_RUN";
/// How often an interrupt is looked for.
const HEED: Duration = Duration::from_millis(50);
/// The exit code of an objection.
const VETO: i32 = 2;
/// Signals by which others end a program: HUP, INT, KILL, TERM.
const FROM_OUTSIDE: [i32; 4] = [1, 2, 9, 15];
/// How much of its errors is kept, in bytes: they become mail that somebody reads.
const MOST_SAID: usize = 16 * 1024;
/// Between TERM and KILL for what is left of it.
const GRACE: Duration = Duration::from_secs(1);
/// How long its errors are read on after its end, when something that it left still holds the pipe.
const DRAIN: Duration = Duration::from_millis(500);

impl Call {
    /// Runs the hook. Nothing of it runs on afterwards, also if this is dropped meanwhile.
    pub async fn run(self) -> Said {
        let limit = self.limit;
        let input = format!("{}\n", self.input);
        // Its temporary files go with it.
        let (program, mark, _tmp) = match self.program() {
            Ok(made) => made,
            Err(error) => return Said::Failed(error.to_string()),
        };
        let started = match spawn_apart(&program, true) {
            Ok(started) => started,
            Err(error) => return Said::Failed(error.to_string()),
        };
        let mut tree = TreeGuard::new(Tree { root: Some(started.id), mark });
        let (mut child, kept) = (started.child, started.kept);
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let mut said = Vec::new();
        let ended = tokio::time::timeout(limit, async {
            let talk = async {
                tokio::join!(give(stdin, input), drop_all(stdout), keep(stderr, &mut said));
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
        if let Some(tree) = tree.take() {
            let _ = tokio::task::spawn_blocking(move || tree.end(GRACE)).await;
        }
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
        let asked_to_end =
            status.as_ref().is_ok_and(|s| s.signal().is_some_and(|signal| FROM_OUTSIDE.contains(&signal)));
        match status.map(|s| s.code()) {
            Ok(Some(0)) => Said::Passed,
            Ok(Some(VETO)) if words.is_empty() => Said::Vetoed("it gave no reason".to_owned()),
            Ok(Some(VETO)) => Said::Vetoed(words),
            Ok(Some(code)) => Said::Failed(with(format!("it ended with code {code}"), &words)),
            Ok(None) if asked_to_end => Said::CutOff(with("it was ended by a signal".to_owned(), &words)),
            Ok(None) => Said::Failed(with("it crashed".to_owned(), &words)),
            Err(error) => Said::Failed(format!("its end was not seen: {error}")),
        }
    }

    /// The command as it is started, its mark, and the folder that goes when it has ended.
    fn program(self) -> io::Result<(Program, (String, String), Option<TempDir>)> {
        let Self { argv, cwd, mut env, mut policy, tmp_in, .. } = self;
        let mark = (RUN_VARIABLE.to_owned(), clock::new_life().to_string());
        env.push((mark.0.as_str().into(), mark.1.as_str().into()));
        let mut tmp = None;
        if policy.mode != Mode::Off {
            std::fs::create_dir_all(&tmp_in)?;
            let dir = tempfile::Builder::new().prefix("hook-").tempdir_in(&tmp_in)?;
            env.extend(["TMPDIR", "TMP", "TEMP"].map(|name| (name.into(), dir.path().into())));
            policy.writable.push(dir.path().to_owned());
            tmp = Some(dir);
        }
        let argv = sandbox::wrap(argv, &policy)?;
        Ok((Program { argv, cwd, env }, mark, tmp))
    }

    /// [`Call::run`] for a caller that may be in the middle of anything: on a thread and a runtime of its own. `None` once
    /// `interrupted` is set: the hook is ended then.
    #[must_use]
    pub fn run_blocking(self, interrupted: Option<&AtomicBool>) -> Option<Said> {
        let failed = |error: String| Some(Said::Failed(error));
        let heed = async {
            while !interrupted.is_some_and(|flag| flag.load(Ordering::Relaxed)) {
                tokio::time::sleep(HEED).await;
            }
        };
        std::thread::scope(|scope| {
            let runs = scope.spawn(|| match tokio::runtime::Builder::new_current_thread().enable_all().build() {
                Ok(runtime) => runtime.block_on(async {
                    tokio::select! {
                        said = self.run() => Some(said),
                        () = heed => None,
                    }
                }),
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
