//! Writes down what a model answered, so that it can be played again without one.

use std::path::PathBuf;
use std::sync::Mutex;

use futures::StreamExt;
use serde_json::{Value, json};

use super::cassette::last_words;
use super::{BoxFuture, Call, Events, Failure, Provider};
use crate::agent::stream::Assembly;

/// Characters of the last message by which a recorded answer is found again.
const KEY_CHARS: usize = 120;

/// A provider whose whole answers are appended to a cassette. What was cut off is not recorded: it was asked again.
pub struct Recorder {
    inner: Box<dyn Provider>,
    tape: std::sync::Arc<Tape>,
}

struct Tape {
    path: PathBuf,
    /// One line at a time.
    turn: Mutex<()>,
}

impl Recorder {
    #[must_use]
    pub fn new(inner: Box<dyn Provider>, path: PathBuf) -> Self {
        Self { inner, tape: std::sync::Arc::new(Tape { path, turn: Mutex::new(()) }) }
    }
}

impl Provider for Recorder {
    fn send<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<Events, Failure>> {
        Box::pin(async move {
            let events = self.inner.send(call).await?;
            let tape = std::sync::Arc::clone(&self.tape);
            let when = json!({ "source": call.source, "last": key_of(&call.body) });
            let state = (events, Some(Assembly::default()), tape, when);
            let stream = futures::stream::unfold(state, |(mut events, mut seen, tape, when)| async move {
                let event = events.next().await;
                match &event {
                    Some(Ok(event)) => {
                        if let Some(assembly) = &mut seen
                            && assembly.take(event.clone()).is_err()
                        {
                            seen = None;
                        }
                    }
                    Some(Err(_)) => seen = None,
                    None => {
                        if let Some(answer) = seen.take().and_then(|assembly| assembly.finish().ok())
                            && let Err(error) = tape.write(&when, &answer)
                        {
                            tracing::warn!("cannot record to {}: {error}", tape.path.display());
                        }
                    }
                }
                event.map(|event| (event, (events, seen, tape, when)))
            });
            Ok(Box::pin(stream) as Events)
        })
    }
}

impl Tape {
    fn write(&self, when: &Value, answer: &crate::agent::stream::Answer) -> std::io::Result<()> {
        use std::io::Write;
        let reply = json!({ "content": answer.turn.content, "stop_reason": answer.stop, "usage": answer.usage });
        let mut line = json!({ "v": 1, "when": when, "reply": reply }).to_string();
        line.push('\n');
        let _turn = self.turn.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(&self.path)?;
        file.write_all(line.as_bytes())
    }
}

/// The beginning of the last message's last text.
fn key_of(body: &[u8]) -> String {
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    last_words(&body).lines().next().unwrap_or_default().chars().take(KEY_CHARS).collect()
}
