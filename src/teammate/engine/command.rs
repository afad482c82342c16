//! Any program, on a terminal of its own inside the pane.
//!
//! The program leads a session on a pseudo-terminal that the teammate relays to the pane. So its output is
//! kept without a second process, a paste reaches it whatever mode the pane is in, and Ctrl-Z cannot stop
//! it: its process group is orphaned, and the kernel does not stop such a group from the terminal.

use std::os::fd::AsFd;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::process::{Child, ChildStdin};
use tokio::sync::mpsc;

use super::{EngineEvent, Events, LOG_BYTES};
use crate::decide::teammate::Ended;
use crate::model::id::MessageId;
use crate::model::spec::Deliver;
use crate::os::log_file::RotatingLog;
use crate::os::reap::Kept;
use crate::os::relay::{Relay, RelayHandle};
use crate::os::spawn::{Program, PtyStdin, spawn_on_pty};
use crate::os::terminal::{RawMode, winsize};

/// A program that was not given a terminal size by its pane.
const SIZE: (u16, u16) = (80, 24);
/// A program that reads nothing for this long does not get a paste.
const PASTE_LIMIT: Duration = Duration::from_secs(30);

/// A program that fails within this time did not start. Even where the spec asks for no time to settle, an exec that
/// succeeded says little: a moment's look tells a typing error from a running program.
const LOOK: Duration = Duration::from_millis(30);

/// A running program.
pub struct Command {
    deliver: Deliver,
    stdin: Option<mpsc::UnboundedSender<Letter>>,
    relay: RelayHandle,
    events: Events,
    _raw: Option<RawMode>,
}

/// Bytes for the program and the messages they are.
struct Letter {
    ids: Vec<MessageId>,
    bytes: Vec<u8>,
}

impl Command {
    /// Starts the program. It tells of itself through `events`.
    ///
    /// # Errors
    /// When the program cannot be executed; the text names it.
    pub fn start(
        program: &Program,
        deliver: Deliver,
        settle: Duration,
        log: PathBuf,
        events: Events,
    ) -> std::io::Result<Self> {
        let (input, output) = (std::io::stdin(), std::io::stdout());
        let mut size = winsize(output.as_fd()).unwrap_or(rustix::termios::Winsize {
            ws_col: SIZE.0,
            ws_row: SIZE.1,
            ws_xpixel: 0,
            ws_ypixel: 0,
        });
        if size.ws_col == 0 {
            (size.ws_col, size.ws_row) = SIZE;
        }
        let stdin = if deliver == Deliver::Stdin { PtyStdin::Pipe } else { PtyStdin::Terminal };
        let mut log = RotatingLog::open(log, LOG_BYTES)?;
        let child = spawn_on_pty(program, stdin, size)?;
        let raw = RawMode::enter(input.as_fd())?;
        let (relay, handle) = Relay::new(child.master, input.as_fd(), output.as_fd())?;
        let told = events.clone();
        let relay = tokio::spawn(relay.run(
            move |chunk| log.write(chunk),
            move || {
                let _ = told.send(EngineEvent::SuspendRefused);
            },
        ));
        tokio::spawn(watch_end(child.child, child.kept, handle.clone(), relay, settle, events.clone()));
        let stdin = child.stdin.map(|stdin| write_letters(stdin, events.clone()));
        Ok(Self { deliver, stdin, relay: handle, events, _raw: raw })
    }

    /// Gives the program messages, in the way it takes them. `Delivered` or `NotDelivered` follows.
    pub fn deliver(&self, ids: Vec<MessageId>, bytes: Vec<u8>) {
        match self.deliver {
            Deliver::Stdin => {
                let letter = Letter { ids, bytes };
                if let Some(Err(lost)) = self.stdin.as_ref().map(|stdin| stdin.send(letter)) {
                    let _ = self.events.send(EngineEvent::NotDelivered(lost.0.ids));
                }
            }
            Deliver::Paste => {
                let (relay, events) = (self.relay.clone(), self.events.clone());
                tokio::spawn(async move {
                    let pasted = tokio::time::timeout(PASTE_LIMIT, relay.paste(&bytes)).await;
                    let _ = events.send(match pasted {
                        Ok(Ok(())) => EngineEvent::Delivered(ids),
                        _ => EngineEvent::NotDelivered(ids),
                    });
                });
            }
            // The program reads its mailbox by itself.
            Deliver::Mailbox => {}
        }
    }
}

/// Tells that the program has settled, and that it has ended once its last output is through.
async fn watch_end(
    mut child: Child,
    kept: Kept,
    handle: RelayHandle,
    relay: tokio::task::JoinHandle<std::io::Result<()>>,
    settle: Duration,
    events: Events,
) {
    let ended = match tokio::time::timeout(settle.max(LOOK), child.wait()).await {
        Ok(ended) => {
            // One that had little to do and did it well has started, unless it was to live on.
            if settle.is_zero() && ended.as_ref().is_ok_and(ExitStatus::success) {
                let _ = events.send(EngineEvent::Settled);
            }
            ended
        }
        Err(_) => {
            let _ = events.send(EngineEvent::Settled);
            child.wait().await
        }
    };
    drop(kept);
    handle.finish();
    let _ = relay.await;
    let _ = events.send(EngineEvent::Ended(ended_of(ended.ok())));
}

/// The exit status as it stands in an exit record.
pub(super) fn ended_of(status: Option<ExitStatus>) -> Ended {
    use std::os::unix::process::ExitStatusExt;
    status.map_or(Ended::default(), |s| Ended { code: s.code(), signal: s.signal() })
}

/// Writes letters to the program's standard input one after the other, so that a program that does not
/// read holds up only its own mail.
fn write_letters(mut stdin: ChildStdin, events: Events) -> mpsc::UnboundedSender<Letter> {
    let (letters, mut waiting) = mpsc::unbounded_channel::<Letter>();
    tokio::spawn(async move {
        while let Some(letter) = waiting.recv().await {
            let written = async {
                stdin.write_all(&letter.bytes).await?;
                stdin.flush().await
            };
            let _ = events.send(match written.await {
                Ok(()) => EngineEvent::Delivered(letter.ids),
                Err(_) => EngineEvent::NotDelivered(letter.ids),
            });
        }
    });
    letters
}
