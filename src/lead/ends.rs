//! Ends of lives: seen through a pidfd, carried through to the last process, then told.

use std::time::Duration;

use tokio::sync::mpsc;

use crate::decide::lead::{Event, exit_of, reason};
use crate::model::id::Life;
use crate::model::name::Name;
use crate::model::team::Exit;
use crate::os::clock;
use crate::os::life::{LifeMark, end_life, gone};
use crate::os::pidfd::Pidfd;
use crate::os::process::{self, ProcessId};
use crate::store::{MemberDir, document};

/// Lines of output that a failed start is explained with.
const LAST_LINES: usize = 8;
/// How much of the log is looked at for them, in bytes.
const LAST_BYTES: u64 = 4096;

/// What an end needs to know.
#[derive(Clone)]
pub(super) struct Ending {
    pub name: Name,
    pub life: Life,
    pub teammate: Option<ProcessId>,
    pub dir: MemberDir,
    pub told: mpsc::UnboundedSender<Event>,
}

/// Ends several lives. Those of which nothing is left, as after the death of a whole team, are found out together and told
/// together, so that what follows is done together too.
pub(super) fn end_all(endings: Vec<(Ending, Duration)>) {
    if endings.len() < 2 {
        return endings.into_iter().for_each(|(ending, grace)| ending.end(grace));
    }
    tokio::spawn(async move {
        let marks: Vec<LifeMark> = endings.iter().map(|(ending, _)| ending.mark()).collect();
        let gone = tokio::task::spawn_blocking(move || gone(&marks, &[std::process::id()])).await.unwrap_or_default();
        for (n, (ending, grace)) in endings.into_iter().enumerate() {
            match gone.get(n) {
                Some(true) => ending.tell(Vec::new()),
                _ => ending.end(grace),
            }
        }
    });
}

impl Ending {
    fn mark(&self) -> LifeMark {
        LifeMark { teammate: self.teammate, life: self.life, boot_id: process::boot_id() }
    }

    /// Ends everything of the life, from the teammate down, and tells.
    pub fn end(self, grace: Duration) {
        tokio::spawn(async move {
            let mark = self.mark();
            let report = tokio::task::spawn_blocking(move || end_life(&mark, &[std::process::id()], grace)).await;
            let left = report.map(|r| r.left.iter().map(|p| p.pid).collect()).unwrap_or_default();
            self.tell(left);
        });
    }

    /// Waits for the teammate's end, then ends what it left behind, and tells.
    pub fn watch(self) {
        tokio::spawn(async move {
            if let Some(id) = self.teammate
                && let Ok(pidfd) = Pidfd::open(id)
                && pidfd.wait().await.is_err()
            {
                // The runtime cannot watch it: ask from time to time.
                while !pidfd.exited() {
                    tokio::time::sleep(Duration::from_millis(200)).await;
                }
            }
            self.end(Duration::from_millis(500));
        });
    }

    fn tell(self, left: Vec<u32>) {
        let record: Option<Exit> = document::read_json(&self.dir.exit()).ok().flatten();
        let exit = record
            .filter(|exit| exit.life == Some(self.life))
            .unwrap_or_else(|| exit_of(self.life, reason::KILLED, clock::now()));
        let last_words = last_lines(&self.dir);
        let _ = self.told.send(Event::LifeEnded { name: self.name, life: self.life, exit, last_words, left });
    }
}

/// The last lines of a member's output, as plain text.
fn last_lines(dir: &MemberDir) -> String {
    use std::io::{Read, Seek, SeekFrom};
    let read = || -> std::io::Result<Vec<u8>> {
        let mut file = std::fs::File::open(dir.output_log())?;
        let size = file.metadata()?.len();
        file.seek(SeekFrom::Start(size.saturating_sub(LAST_BYTES)))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let text = read().map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    let lines: Vec<&str> = text.lines().map(str::trim_end).filter(|l| !l.is_empty()).collect();
    lines[lines.len().saturating_sub(LAST_LINES)..].join("\n")
}
