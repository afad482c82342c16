//! Between the teammate's own terminal and its program's pseudo-terminal.
//!
//! [`Relay::run`] is one future that owns both directions; the rest of the process speaks to it through a
//! [`RelayHandle`]. Each direction holds one piece at a time and takes the next when that is written: a flood of output
//! waits in the program, and input for a program that does not read waits in the terminal.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

use super::outer::{OuterInput, OuterOutput};
use super::paste::{BracketedPaste, paste_bytes};
use super::terminal::{Master, open_slave, set_winsize, suspend_char_active, winsize};

/// A program that takes a burst for a paste would take an Enter that comes with it for a part of the text.
const ENTER_GAP: Duration = Duration::from_millis(100);
/// Output taken at once, in bytes: a pseudo-terminal gives at most 4 KiB a read.
const CHUNK: usize = 64 * 1024;
/// After its end, a program's output counts as complete when nothing came for this long.
const QUIET: Duration = Duration::from_millis(100);
/// The longest that the end of the relay waits: for what the program left behind and writes on, and for a terminal
/// that takes no output.
const LAST_OUTPUT: Duration = Duration::from_secs(2);

enum Command {
    Paste { text: Vec<u8>, done: oneshot::Sender<()> },
    Keys { bytes: Vec<u8>, done: oneshot::Sender<()> },
}

/// Speaks to a running [`Relay`].
#[derive(Clone, Debug)]
pub struct RelayHandle {
    commands: mpsc::Sender<Command>,
    bracketed: Arc<AtomicBool>,
    finish: CancellationToken,
}

impl RelayHandle {
    /// Pastes text, marked as a paste if the program wants that, and presses Enter. Control characters other than line
    /// end and tab are left out. Returns when the program's terminal has taken it all, which is never for a program
    /// that does not read: give it a limit. A cancelled paste may still be written.
    ///
    /// # Errors
    /// `BrokenPipe` when the relay has ended.
    pub async fn paste(&self, text: &[u8]) -> io::Result<()> {
        let text = text.to_vec();
        self.send(|done| Command::Paste { text, done }).await
    }

    /// Types bytes as they are.
    ///
    /// # Errors
    /// `BrokenPipe` when the relay has ended.
    pub async fn keys(&self, bytes: &[u8]) -> io::Result<()> {
        let bytes = bytes.to_vec();
        self.send(|done| Command::Keys { bytes, done }).await
    }

    /// Whether the program asked for pastes to be marked.
    #[must_use]
    pub fn bracketed_paste(&self) -> bool {
        self.bracketed.load(Ordering::Relaxed)
    }

    /// The program has ended: the relay takes what output is left, for 2 s at most, and returns.
    pub fn finish(&self) {
        self.finish.cancel();
    }

    async fn send(&self, command: impl FnOnce(oneshot::Sender<()>) -> Command) -> io::Result<()> {
        let ended = || io::Error::new(io::ErrorKind::BrokenPipe, "the program's terminal is closed");
        let (done, written) = oneshot::channel();
        self.commands.send(command(done)).await.map_err(|_| ended())?;
        written.await.map_err(|_| ended())
    }
}

/// One write into the program's terminal, never joined with the next.
struct Piece {
    bytes: Vec<u8>,
    written: usize,
    /// How long after the piece before it.
    gap: Duration,
    done: Option<oneshot::Sender<()>>,
}

/// What waits to be written into the program's terminal.
#[derive(Default)]
struct Typing {
    pieces: VecDeque<Piece>,
    not_before: Option<Instant>,
}

impl Typing {
    fn push(&mut self, bytes: Vec<u8>, gap: Duration, done: Option<oneshot::Sender<()>>) {
        self.pieces.push_back(Piece { bytes, written: 0, gap, done });
    }

    async fn write(&mut self, master: &Master) -> io::Result<()> {
        let Some(piece) = self.pieces.front_mut() else { return std::future::pending().await };
        if let Some(time) = self.not_before {
            sleep_until(time).await;
            self.not_before = None;
        }
        if piece.written < piece.bytes.len() {
            piece.written += master.write(&piece.bytes[piece.written..]).await?;
        }
        if piece.written == piece.bytes.len() {
            if let Some(done) = self.pieces.pop_front().and_then(|piece| piece.done) {
                // Nobody may be waiting for it any more.
                let _ = done.send(());
            }
            self.not_before =
                self.pieces.front().filter(|next| !next.gap.is_zero()).map(|next| Instant::now() + next.gap);
        }
        Ok(())
    }
}

/// The relay itself. See [`Relay::run`].
#[derive(Debug)]
pub struct Relay {
    master: Master,
    /// The program's end too. A program may close its terminal and run on, or open it again: were our end hung up by
    /// that, and closed, the program would be ended by SIGHUP.
    _slave: OwnedFd,
    input: OuterInput,
    output: OuterOutput,
    resized: Signal,
    commands: mpsc::Receiver<Command>,
    mode: BracketedPaste,
    bracketed: Arc<AtomicBool>,
    finish: CancellationToken,
}

impl Relay {
    /// Joins our end of the program's terminal to `input` and `output`, our own terminal as a rule. Put that into raw
    /// mode first ([`super::terminal::RawMode`]). What is no terminal is read and written as it is.
    ///
    /// # Errors
    /// Outside a runtime, or when `master` cannot be watched.
    pub fn new(master: OwnedFd, input: impl AsFd, output: impl AsFd) -> io::Result<(Self, RelayHandle)> {
        let (sender, commands) = mpsc::channel(1);
        let bracketed = Arc::new(AtomicBool::new(false));
        let finish = CancellationToken::new();
        let handle = RelayHandle { commands: sender, bracketed: Arc::clone(&bracketed), finish: finish.clone() };
        let slave = open_slave(&master)?;
        let relay = Self {
            _slave: slave,
            master: Master::new(master)?,
            input: OuterInput::open(input.as_fd()),
            output: OuterOutput::open(output.as_fd()),
            resized: signal(SignalKind::window_change())?,
            commands,
            mode: BracketedPaste::default(),
            bracketed,
            finish,
        };
        Ok((relay, handle))
    }

    /// Relays until [`RelayHandle::finish`] is called, which is for whoever waits for the program's end. `sink` gets all
    /// output, `on_suspend` is called when people press the key that would stop the program. Both are called between
    /// two steps and must not block. Run it in a task of its own or beside other work in a `select!`.
    ///
    /// # Errors
    /// When the program's terminal fails. A failing terminal of our own only ends showing and typing.
    pub async fn run(mut self, mut sink: impl FnMut(&[u8]), mut on_suspend: impl FnMut()) -> io::Result<()> {
        let mut chunk = vec![0; CHUNK];
        let mut typed = [0; 4096];
        let mut typing = Typing::default();
        // What of `chunk` is still to be shown.
        let mut show = 0..0;
        let finish = self.finish.clone();
        self.follow_size();
        loop {
            let showing = !show.is_empty();
            let idle = typing.pieces.is_empty();
            tokio::select! {
                ready = self.master.readable(), if !showing => {
                    ready?;
                    show = match self.fill(&mut chunk)? {
                        Some(0) => return Ok(()),
                        Some(length) => 0..length,
                        None => continue,
                    };
                    self.seen(&chunk[show.clone()], &mut sink);
                    // All through a flood the next read is ready at once: let the others have their turn.
                    tokio::task::yield_now().await;
                }
                written = self.output.write(&chunk[show.clone()]), if showing => match written {
                    Ok(length) => show.start += length,
                    Err(_) => self.output = OuterOutput::Gone,
                },
                read = self.input.read(&mut typed), if idle && self.input.is_open() => match read {
                    Ok(length) if length > 0 => {
                        let bytes = &typed[..length];
                        if suspend_char_active(&self.master).is_some_and(|key| bytes.contains(&key)) {
                            on_suspend();
                        }
                        typing.push(bytes.to_vec(), Duration::ZERO, None);
                    }
                    _ => self.input.close(),
                },
                written = typing.write(&self.master), if !idle => if written.is_err() {
                    // The terminal was taken from the program, which the next read finds too; who waits is told.
                    typing = Typing::default();
                },
                Some(command) = self.commands.recv(), if idle => match command {
                    Command::Keys { bytes, done } => typing.push(bytes, Duration::ZERO, Some(done)),
                    Command::Paste { text, done } => {
                        typing.push(paste_bytes(&text, self.mode.is_on()), Duration::ZERO, None);
                        typing.push(b"\r".to_vec(), ENTER_GAP, Some(done));
                    }
                },
                Some(()) = self.resized.recv() => self.follow_size(),
                () = finish.cancelled() => break,
            }
        }
        let last = chunk[show].to_vec();
        // When the time is over the rest is lost to the terminal, and to the log what the program left behind writes.
        let _ = timeout(LAST_OUTPUT, self.take_last(last, chunk, &mut sink)).await;
        Ok(())
    }

    /// Takes what there is, up to the whole chunk, so that a flood needs few writes. 0 at the end; `None` when there is
    /// nothing now.
    fn fill(&self, chunk: &mut [u8]) -> io::Result<Option<usize>> {
        let mut length = 0;
        while length < chunk.len() {
            match self.master.try_read(&mut chunk[length..]) {
                // After some output, the next read finds the end again.
                Ok(0) => return Ok(Some(length)),
                Ok(more) => length += more,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok((length > 0).then_some(length)),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Some(length))
    }

    fn seen(&mut self, output: &[u8], sink: &mut impl FnMut(&[u8])) {
        self.mode.feed(output);
        self.bracketed.store(self.mode.is_on(), Ordering::Relaxed);
        sink(output);
    }

    /// The program's terminal gets the size of ours; one that knows no size changes nothing.
    fn follow_size(&self) {
        if let Some(size) = self.output.fd().and_then(winsize) {
            // A terminal that has just been closed shows itself in the next read.
            let _ = set_winsize(&self.master, size);
        }
    }

    async fn take_last(&mut self, unshown: Vec<u8>, mut chunk: Vec<u8>, sink: &mut impl FnMut(&[u8])) {
        self.show_all(&unshown).await;
        while let Ok(Ok(length)) = timeout(QUIET, self.master.read(&mut chunk)).await {
            if length == 0 {
                return;
            }
            self.seen(&chunk[..length], sink);
            self.show_all(&chunk[..length]).await;
        }
    }

    async fn show_all(&mut self, mut output: &[u8]) {
        while !output.is_empty() {
            match self.output.write(output).await {
                Ok(length) => output = &output[length..],
                Err(_) => self.output = OuterOutput::Gone,
            }
        }
    }
}
