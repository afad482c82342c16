//! What a worker shows in its pane. A thread of its own writes, so that a terminal that takes nothing
//! holds up the output of programs but never the mail.

use std::io::Write;

use tokio::sync::mpsc;

/// Chunks that may wait for the terminal.
const WAITING: usize = 256;

/// The pane's screen.
#[derive(Clone)]
pub(super) struct Screen {
    chunks: mpsc::Sender<Vec<u8>>,
}

impl Screen {
    pub fn start() -> std::io::Result<Self> {
        let (chunks, mut waiting) = mpsc::channel::<Vec<u8>>(WAITING);
        std::thread::Builder::new().name("screen".to_owned()).stack_size(64 * 1024).spawn(move || {
            while let Some(chunk) = waiting.blocking_recv() {
                let mut out = std::io::stdout().lock();
                if out.write_all(&chunk).and_then(|()| out.flush()).is_err() {
                    return;
                }
            }
        })?;
        Ok(Self { chunks })
    }

    /// A program's output, as it is. Waits while the terminal is behind.
    pub async fn output(&self, chunk: Vec<u8>) {
        // A screen that has gone away takes nothing more; the log has it all.
        let _ = self.chunks.send(chunk).await;
    }

    /// Text that may be left out when the terminal is far behind.
    pub fn offer(&self, text: Vec<u8>) {
        let _ = self.chunks.try_send(text);
    }

    /// A line of our own, in `color`. Dropped when the terminal is far behind.
    pub fn note(&self, color: &str, text: &str) {
        let code = match color {
            "red" => "31",
            "green" => "32",
            "yellow" => "33",
            "blue" => "34",
            "magenta" => "35",
            "cyan" => "36",
            _ => "1",
        };
        let text: String = text.chars().map(|c| if c.is_control() { '\u{b7}' } else { c }).collect();
        let _ = self.chunks.try_send(format!("\x1b[{code}m{text}\x1b[0m\r\n").into_bytes());
    }
}
