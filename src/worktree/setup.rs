//! A fresh tree's `setup`: run once in it, its output kept.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::io::AsyncReadExt;

use crate::model::id::Life;
use crate::os::life::{LifeMark, end_life};
use crate::os::log_file::RotatingLog;
use crate::os::process;
use crate::os::spawn::{Program, spawn_with_pipes};

/// Most bytes of its output that are kept; the last are the ones.
const LOG_BYTES: u64 = 4 * 1024 * 1024;
/// Between TERM and KILL for what it leaves running.
const GRACE: Duration = Duration::from_secs(2);
/// How long output is read on after it has ended, when something that it left still holds the pipe.
const DRAIN: Duration = Duration::from_millis(500);
/// How much of the output a failure is explained with: lines, and bytes looked at.
const LAST_LINES: usize = 8;
const LAST_BYTES: usize = 4096;

/// What to run.
pub struct Setup {
    pub argv: Vec<OsString>,
    pub cwd: PathBuf,
    /// All of it, with the life in it that it belongs to.
    pub env: Vec<(OsString, OsString)>,
    pub life: Life,
    pub log: PathBuf,
    pub limit: Duration,
}

/// Runs it to its end, and ends what it left running.
///
/// # Errors
/// How it failed, with the last lines of its output.
pub async fn set_up(setup: Setup) -> Result<(), String> {
    let Setup { argv, cwd, env, life, log, limit } = setup;
    let mut kept = RotatingLog::open(&log, LOG_BYTES).map_err(|e| format!("cannot write {}: {e}", log.display()))?;
    let mut child = spawn_with_pipes(&Program { argv, cwd, env }).map_err(|e| format!("`setup`: {e}"))?;
    let mark = LifeMark { teammate: Some(child.id), life, boot_id: process::boot_id() };
    let mut tail = Vec::new();
    let ended = tokio::time::timeout(limit, async {
        let mut buffer = vec![0; 64 * 1024];
        loop {
            tokio::select! {
                read = child.output.read(&mut buffer) => match read {
                    Ok(0) | Err(_) => break child.child.wait().await,
                    Ok(n) => keep(&buffer[..n], &mut kept, &mut tail),
                },
                status = child.child.wait() => {
                    let rest = async {
                        while let Ok(n @ 1..) = child.output.read(&mut buffer).await {
                            keep(&buffer[..n], &mut kept, &mut tail);
                        }
                    };
                    let _ = tokio::time::timeout(DRAIN, rest).await;
                    break status;
                }
            }
        }
    })
    .await;
    // Its group may be busy writing into the tree that is about to be given away, or removed.
    let _ = tokio::task::spawn_blocking(move || end_life(&mark, &[std::process::id()], GRACE)).await;
    let how = match ended {
        Ok(Ok(status)) if status.success() => return Ok(()),
        Ok(Ok(status)) => match status.code() {
            Some(code) => format!("`setup` ended with code {code}"),
            None => format!("`setup` was ended: {status}"),
        },
        Ok(Err(error)) => format!("`setup` cannot be waited for: {error}"),
        Err(_) => {
            let _ = child.child.wait().await;
            format!("`setup` did not end within {limit:?}")
        }
    };
    Err(with_last_lines(&how, &tail, &log))
}

fn keep(chunk: &[u8], log: &mut RotatingLog, tail: &mut Vec<u8>) {
    log.write(chunk);
    tail.extend_from_slice(chunk);
    if tail.len() > 8 * LAST_BYTES {
        tail.drain(..tail.len() - LAST_BYTES);
    }
}

fn with_last_lines(how: &str, tail: &[u8], log: &Path) -> String {
    let text = String::from_utf8_lossy(&tail[tail.len().saturating_sub(LAST_BYTES)..]).into_owned();
    let lines: Vec<&str> = text.lines().map(str::trim_end).filter(|l| !l.is_empty()).collect();
    let mut said = format!("{how}; its output lies in {}", log.display());
    for line in &lines[lines.len().saturating_sub(LAST_LINES)..] {
        said.push('\n');
        said.push_str(line);
    }
    said
}
