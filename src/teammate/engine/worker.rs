//! Our task runner: one task at a time, its program in a session of its own, its output to pane and log.

use std::path::PathBuf;
use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::command::ended_of;
use super::{EngineEvent, Events, LOG_BYTES, TaskEnd};
use crate::decide::teammate::Ended;
use crate::model::id::TaskId;
use crate::os::life::{LifeMark, end_life};
use crate::os::log_file::RotatingLog;
use crate::os::spawn::{PipeChild, Program, spawn_with_pipes};
use crate::teammate::screen::Screen;

/// How much of a task's output its result keeps, in bytes.
const TAIL_BYTES: usize = 4096;
/// Between TERM and KILL of a task that is ended.
const GRACE: Duration = Duration::from_secs(2);
/// How long output is read on after the program has ended, when something else still holds the pipe.
const DRAIN: Duration = Duration::from_millis(500);

/// The worker's running task, if any.
pub struct Worker {
    events: Events,
    screen: Screen,
    log: PathBuf,
    mark: LifeMark,
    cut: Option<oneshot::Sender<String>>,
}

/// One task to run.
pub struct Job {
    pub id: TaskId,
    pub epoch: u64,
    pub program: Program,
    pub timeout: Option<Duration>,
}

impl Worker {
    #[must_use]
    pub(in crate::teammate) fn new(events: Events, screen: Screen, log: PathBuf, mark: LifeMark) -> Self {
        Self { events, screen, log, mark, cut: None }
    }

    /// Starts a task; `TaskEnded` follows.
    pub fn start(&mut self, job: Job) {
        let (cut, cut_off) = oneshot::channel();
        self.cut = Some(cut);
        let run = Run { screen: self.screen.clone(), log: self.log.clone(), mark: self.mark.clone(), tail: Vec::new() };
        let events = self.events.clone();
        tokio::spawn(async move {
            let end = run.run(job, cut_off).await;
            let _ = events.send(EngineEvent::TaskEnded(Box::new(end)));
        });
    }

    /// Ends the running task. False when there is none.
    pub fn interrupt(&mut self, why: &str) -> bool {
        self.cut.take().is_some_and(|cut| cut.send(why.to_owned()).is_ok())
    }
}

struct Run {
    screen: Screen,
    log: PathBuf,
    mark: LifeMark,
    tail: Vec<u8>,
}

impl Run {
    async fn run(mut self, job: Job, mut cut_off: oneshot::Receiver<String>) -> TaskEnd {
        let start = Instant::now();
        let log = RotatingLog::open(&self.log, LOG_BYTES);
        let (ended, cut) = match (spawn_with_pipes(&job.program), log) {
            (Ok(child), Ok(mut log)) => {
                let limit = job.timeout.map(|t| start + t);
                self.follow(child, &mut log, limit, &mut cut_off).await
            }
            (Err(error), _) | (_, Err(error)) => (Ended::default(), Some(error.to_string())),
        };
        // Nothing of a task outlives it.
        let mark = self.mark.clone();
        let _ = tokio::task::spawn_blocking(move || end_life(&mark, &[std::process::id()], GRACE)).await;
        TaskEnd {
            id: job.id,
            epoch: job.epoch,
            ended,
            tail: tail_text(&self.tail),
            duration_ms: u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX),
            cut,
        }
    }

    /// Copies the output until the program has ended; ends it at its limit or when it is cut off.
    async fn follow(
        &mut self,
        mut child: PipeChild,
        log: &mut RotatingLog,
        limit: Option<Instant>,
        cut_off: &mut oneshot::Receiver<String>,
    ) -> (Ended, Option<String>) {
        let far = Instant::now() + Duration::from_secs(365 * 24 * 3600);
        let (mut status, mut cut) = (None, None);
        let (mut open, mut drain) = (true, far);
        let mut buffer = vec![0; 64 * 1024];
        let mut listening = true;
        while status.is_none() || (open && Instant::now() < drain) {
            tokio::select! {
                read = child.output.read(&mut buffer), if open => match read {
                    Ok(0) | Err(_) => open = false,
                    Ok(n) => self.output(&buffer[..n], log).await,
                },
                ended = child.child.wait(), if status.is_none() => {
                    status = Some(ended.ok());
                    drain = Instant::now() + DRAIN;
                }
                why = &mut *cut_off, if listening && cut.is_none() => {
                    listening = false;
                    if let Ok(why) = why {
                        cut = Some(why);
                        self.end();
                    }
                }
                () = tokio::time::sleep_until(limit.unwrap_or(far)), if limit.is_some() && cut.is_none() => {
                    cut = Some("it ran past its time limit".to_owned());
                    self.end();
                }
                () = tokio::time::sleep_until(drain), if status.is_some() => {}
            }
        }
        (ended_of(status.flatten()), cut)
    }

    fn end(&self) {
        let mark = self.mark.clone();
        tokio::task::spawn_blocking(move || end_life(&mark, &[std::process::id()], GRACE));
    }

    async fn output(&mut self, chunk: &[u8], log: &mut RotatingLog) {
        log.write(chunk);
        self.tail.extend_from_slice(chunk);
        if self.tail.len() > 8 * TAIL_BYTES {
            self.tail.drain(..self.tail.len() - TAIL_BYTES);
        }
        self.screen.output(chunk.to_vec()).await;
    }
}

/// The last lines, as text.
fn tail_text(bytes: &[u8]) -> String {
    let from = bytes.len().saturating_sub(TAIL_BYTES);
    let mut rest = &bytes[from..];
    if from > 0 {
        // Begin with a whole line where there is one.
        if let Some(at) = rest.iter().position(|b| *b == b'\n') {
            rest = &rest[at + 1..];
        }
    }
    String::from_utf8_lossy(rest).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_begins_with_a_whole_line() {
        let mut long = vec![b'x'; TAIL_BYTES];
        long.extend_from_slice(b"\nlast \xff line\n\n");
        assert_eq!(tail_text(&long), "last \u{fffd} line");
        assert_eq!(tail_text(b"one\n"), "one");
    }
}
