//! One prompt, one answer.

use std::sync::Arc;

use serde::Serialize;

use crate::agent::budget::Spent;
use crate::agent::query::{StopReason, TurnError};
use crate::agent::session::Session;
use crate::agent::wire::Block;

/// What `-p --json` prints.
#[derive(Clone, Debug, Serialize)]
pub struct Answered {
    pub session: String,
    /// The last message.
    pub text: String,
    pub stop_reason: &'static str,
    /// Why it is no whole answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The answer in the form that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub structured: Option<serde_json::Value>,
    pub spent: Spent,
    #[serde(skip)]
    pub stop: StopReason,
}

/// Puts one prompt to a session and waits until nothing runs for it any more. Ctrl-C, TERM and HUP end the turn.
///
/// # Errors
/// When the provider fails for good.
pub async fn once(session: Arc<Session>, text: String) -> Result<Answered, TurnError> {
    let mut signals = Signals::listen();
    let turn = session.prompt(vec![Block::text(text)], true);
    let mut turn = std::pin::pin!(turn);
    let stop = tokio::select! {
        done = &mut turn => done?,
        () = signals.next() => {
            session.cancel();
            turn.await?
        }
    };
    session.close().await;
    Ok(Answered {
        session: session.id.clone(),
        text: session.last_text().await,
        stop_reason: word(&stop),
        why: stop.why(),
        structured: None,
        spent: session.purse.spent(),
        stop,
    })
}

fn word(stop: &StopReason) -> &'static str {
    match stop {
        StopReason::EndTurn | StopReason::ByTool => "end_turn",
        StopReason::MaxTokens => "max_tokens",
        StopReason::Refusal => "refusal",
        StopReason::Cancelled => "cancelled",
        StopReason::MaxTurns(_) => "max_turns",
        StopReason::Spent(_) => "budget",
    }
}

/// Signals that ask for an end. From the first look on they end nothing by themselves.
pub(super) struct Signals {
    all: Vec<tokio::signal::unix::Signal>,
}

impl Signals {
    pub(super) fn listen() -> Self {
        use tokio::signal::unix::{SignalKind, signal};
        let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
        Self { all: kinds.into_iter().filter_map(|kind| signal(kind).ok()).collect() }
    }

    /// Returns with the next one; never where they cannot be listened to.
    pub(super) async fn next(&mut self) {
        if self.all.is_empty() {
            std::future::pending::<()>().await;
        }
        let waits = self.all.iter_mut().map(|one| Box::pin(one.recv()));
        futures::future::select_all(waits).await;
    }
}
