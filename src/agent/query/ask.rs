//! One request until it is answered: waiting one's turn, streaming, and asking again what failed in passing.

use futures::StreamExt;
use tokio_util::sync::CancellationToken;

use super::TurnError;
use super::conversation::Conversation;
use super::watch::Step;
use crate::agent::provider::{Call, Events, Failure};
use crate::agent::stream::{Answer, Assembly, Piece};
use crate::agent::wire::Turn;

/// How often one turn may be shortened because the provider says that it is too long.
const MOST_COMPACTIONS: u32 = 3;

/// Why there is no answer.
enum Broken {
    Cancelled(Assembly),
    Failed(Failure),
}

impl Conversation {
    /// Asks the provider with the conversation as it is. `None` when it was cancelled.
    pub(super) async fn ask(&mut self, cancel: &CancellationToken) -> Result<Option<Answer>, TurnError> {
        let mut attempt = 0;
        let mut shortened = 0;
        loop {
            let call = self.call_of(&self.parts.source);
            match self.try_once(&call, true, cancel).await {
                Ok(answer) => {
                    self.answered(&answer);
                    return Ok(Some(answer));
                }
                Err(Broken::Cancelled(assembly)) => {
                    self.interrupted(&assembly);
                    return Ok(None);
                }
                Err(Broken::Failed(failure)) if failure.is_too_long() => {
                    shortened += 1;
                    if shortened > MOST_COMPACTIONS {
                        return Err(TurnError::TooLong);
                    }
                    self.compact(cancel).await?;
                }
                Err(Broken::Failed(failure)) => {
                    if !self.pause(&failure, attempt, cancel).await {
                        return if cancel.is_cancelled() { Ok(None) } else { Err(failure.into()) };
                    }
                    attempt += 1;
                }
            }
        }
    }

    /// The same for a request beside the conversation, which nobody watches.
    pub(super) async fn ask_aside(&self, call: &Call, cancel: &CancellationToken) -> Result<Option<Answer>, Failure> {
        let mut attempt = 0;
        loop {
            match self.try_once(call, false, cancel).await {
                Ok(answer) => {
                    self.parts.shared.purse.pay(&self.parts.head.model, answer.usage);
                    return Ok(Some(answer));
                }
                Err(Broken::Cancelled(_)) => return Ok(None),
                Err(Broken::Failed(failure)) => {
                    if !self.pause(&failure, attempt, cancel).await {
                        return if cancel.is_cancelled() { Ok(None) } else { Err(failure) };
                    }
                    attempt += 1;
                }
            }
        }
    }

    pub(super) fn call_of(&self, source: &str) -> Call {
        Call { body: self.body.bytes(), agent: self.parts.agent.clone(), source: source.to_owned() }
    }

    /// Waits before the next try; `false` where there is none, or the turn was cancelled meanwhile.
    async fn pause(&self, failure: &Failure, attempt: u32, cancel: &CancellationToken) -> bool {
        if !failure.is_passing() || attempt >= self.parts.shared.retries {
            return false;
        }
        let pause = self.parts.shared.limiter.pause_after(failure, attempt);
        self.see(Step::Again { why: &failure.to_string(), pause, attempt: attempt + 1 });
        tokio::select! {
            () = tokio::time::sleep(pause) => true,
            () = cancel.cancelled() => false,
        }
    }

    /// No call of a broken answer has run: calls are made from whole answers only. So asking again repeats nothing.
    async fn try_once(&self, call: &Call, show: bool, cancel: &CancellationToken) -> Result<Answer, Broken> {
        let mut assembly = Assembly::default();
        tokio::select! {
            biased;
            () = cancel.cancelled() => {}
            done = self.stream(call, show, &mut assembly) => {
                return match done {
                    Ok(()) => assembly.finish().map_err(Broken::Failed),
                    Err(failure) => Err(Broken::Failed(failure)),
                };
            }
        }
        Err(Broken::Cancelled(assembly))
    }

    async fn stream(&self, call: &Call, show: bool, assembly: &mut Assembly) -> Result<(), Failure> {
        let _slot = self.parts.shared.limiter.enter().await;
        let mut events: Events = self.parts.shared.provider.send(call).await?;
        while let Some(event) = events.next().await {
            match assembly.take(event?)? {
                Some(Piece::Text(text)) if show => self.see(Step::Text(&text)),
                Some(Piece::Thinking(text)) if show => self.see(Step::Thinking(&text)),
                _ => {}
            }
        }
        Ok(())
    }

    fn answered(&mut self, answer: &Answer) {
        self.last_usage = answer.usage;
        let purse = &self.parts.shared.purse;
        purse.pay(&self.parts.head.model, answer.usage);
        purse.called(answer.turn.calls().count());
        if let Some(transcript) = self.parts.transcript.as_ref().filter(|_| self.parts.depth == 0)
            && let Err(error) = transcript.spent(purse.spent())
        {
            tracing::warn!("the transcript cannot be written: {error}");
        }
        self.see(Step::Answered { usage: answer.usage, context: answer.usage.context() });
    }

    /// Keeps what a person has seen of an answer before it was cancelled.
    fn interrupted(&mut self, assembly: &Assembly) {
        let seen = assembly.so_far();
        if !seen.is_empty() {
            self.push(Turn::assistant(seen));
        }
    }
}
