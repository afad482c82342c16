//! A conversation: its turns, the bytes of its requests, its tools, and the turn that goes through them.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::watch::{Step, Watcher};
use super::{StopReason, TurnError};
use crate::agent::AgentId;
use crate::agent::budget::Purse;
use crate::agent::identity::ForkBase;
use crate::agent::notification;
use crate::agent::provider::{Limiter, Provider};
use crate::agent::stream::Answer;
use crate::agent::tools::{Context, Possible, Registry, Tool};
use crate::agent::transcript::Transcript;
use crate::agent::wire::{Block, Head, RequestBody, Role, Turn, Usage};

/// What all loops of a session share.
#[derive(Clone)]
pub struct Shared {
    pub provider: Arc<dyn Provider>,
    pub limiter: Limiter,
    pub purse: Purse,
    /// Tries after the first, for failures that pass.
    pub retries: u32,
    /// Tokens that the model reads at most.
    pub window: u64,
    /// The part of the window at which a conversation is shortened.
    pub compact_at: f64,
}

/// What comes to an agent while its turn is running.
pub trait Inbox: Send + Sync {
    /// Takes what may enter now, between tools and the next request: each a message of its own.
    fn at_boundary(&self, agent: &AgentId) -> Vec<Turn>;
}

/// Nothing comes.
#[derive(Clone, Copy, Debug)]
pub struct NoInbox;

impl Inbox for NoInbox {
    fn at_boundary(&self, _agent: &AgentId) -> Vec<Turn> {
        Vec::new()
    }
}

/// What is true of the world around an agent right now: read anew after a compaction, and not remembered.
pub type Facts = Arc<dyn Fn() -> String + Send + Sync>;

/// Tools that come while the conversation is going on, as those of a server that was slow to start.
pub type LateTools = Arc<dyn Fn() -> Vec<Arc<dyn Tool>> + Send + Sync>;

/// What a conversation is made of.
pub struct Parts {
    pub agent: AgentId,
    /// `main`, `fork`, or the name of a definition.
    pub source: String,
    /// 0 for the main loop.
    pub depth: u32,
    /// Without tools: they are asked of the registry before each request.
    pub head: Head,
    pub registry: Registry,
    pub possible: Possible,
    pub cx: Context,
    pub shared: Shared,
    pub watcher: Arc<dyn Watcher>,
    pub inbox: Arc<dyn Inbox>,
    pub facts: Facts,
    pub late: Option<LateTools>,
    pub transcript: Option<Transcript>,
    /// Requests in one turn.
    pub max_turns: Option<u32>,
}

pub struct Conversation {
    pub(super) parts: Parts,
    pub(super) body: RequestBody,
    pub(super) turns: Vec<Turn>,
    pub(super) trace: Uuid,
    /// The head with its tools belongs to the parent's bytes and stays as it is.
    frozen: bool,
    pub(super) last_usage: Usage,
}

impl Conversation {
    /// An empty one.
    #[must_use]
    pub fn new(mut parts: Parts) -> Self {
        parts.head.tools = parts.registry.specs(&parts.possible);
        let body = RequestBody::new(&parts.head);
        Self { parts, body, turns: Vec::new(), trace: Uuid::new_v4(), frozen: false, last_usage: Usage::default() }
    }

    /// One that goes on from turns that were had before, as a transcript gives them.
    #[must_use]
    pub fn resumed(parts: Parts, turns: Vec<Turn>) -> Self {
        let mut me = Self::new(parts);
        me.turns = turns;
        me.render();
        me
    }

    /// One that goes on from another's bytes. The head in `parts` is replaced by that of `base`; `answers` is the message that answers the
    /// calls of `base`.
    #[must_use]
    pub fn forked(mut parts: Parts, base: &ForkBase) -> Self {
        parts.head = base.head.clone();
        let mut me = Self {
            body: base.body.clone(),
            turns: base.turns.clone(),
            trace: Uuid::new_v4(),
            frozen: true,
            last_usage: Usage::default(),
            parts,
        };
        me.push(base.calls.clone());
        me
    }

    #[must_use]
    pub fn agent(&self) -> &AgentId {
        &self.parts.agent
    }

    #[must_use]
    pub fn turns(&self) -> &[Turn] {
        &self.turns
    }

    pub fn parts_mut(&mut self) -> &mut Parts {
        &mut self.parts
    }

    #[must_use]
    pub fn parts(&self) -> &Parts {
        &self.parts
    }

    #[must_use]
    pub fn is_frozen(&self) -> bool {
        self.frozen
    }

    /// Tokens that the model read last.
    #[must_use]
    pub fn context_tokens(&self) -> u64 {
        self.last_usage.context()
    }

    /// The text of the last answer.
    #[must_use]
    pub fn last_text(&self) -> String {
        let mut texts: Vec<String> = Vec::new();
        for turn in self.turns.iter().rev() {
            match turn.role {
                Role::Assistant if !turn.text().trim().is_empty() => texts.push(turn.text()),
                Role::Assistant => {}
                Role::User if texts.is_empty() => {}
                Role::User => break,
            }
        }
        texts.reverse();
        texts.join("\n")
    }

    /// Adds a turn to the conversation, its bytes and its transcript.
    pub fn push(&mut self, turn: Turn) {
        self.body.push(&turn);
        if let Some(transcript) = &self.parts.transcript
            && let Err(error) = transcript.turn(&turn)
        {
            // The conversation is worth more than its record; who resumes it will miss this turn.
            self.see(Step::Notice(&format!("the transcript cannot be written: {error}")));
        }
        self.turns.push(turn);
    }

    /// A message from outside: what tells of an end is shown as such.
    fn enter(&mut self, turn: Turn) {
        if let Some((id, summary)) = notification::read(&turn.text()) {
            self.see(Step::Told { id: &id, summary: &summary });
        }
        self.push(turn);
    }

    pub(super) fn see(&self, step: Step<'_>) {
        self.parts.watcher.see(&self.parts.agent, step);
    }

    /// Makes the bytes anew from the turns.
    pub(super) fn render(&mut self) {
        self.body = RequestBody::new(&self.parts.head);
        for turn in &self.turns {
            self.body.push(turn);
        }
        self.frozen = false;
    }

    /// Tools come and go (a search has found some, a server died, a mode changed): the list is looked at before each request. A fork
    /// keeps its parent's.
    fn look_at_tools(&mut self) {
        if self.frozen {
            return;
        }
        for tool in self.parts.late.as_ref().map(|late| late()).unwrap_or_default() {
            self.parts.registry.add(tool);
        }
        self.parts.possible.planning = self.parts.cx.mode() == crate::agent::permission::Mode::Plan;
        let tools = self.parts.registry.specs(&self.parts.possible);
        if tools != self.parts.head.tools {
            self.parts.head.tools = tools;
            self.render();
        }
    }

    /// Takes one turn: `inputs` enter as messages of the user, then requests and tools follow each other until the model is done.
    ///
    /// # Errors
    /// When the provider fails for good. What was said until then stays in the conversation.
    pub async fn turn(&mut self, inputs: Vec<Turn>, cancel: CancellationToken) -> Result<StopReason, TurnError> {
        self.parts.cx.cancel = cancel.clone();
        for input in inputs {
            self.enter(input);
        }
        let mut requests = 0;
        loop {
            if cancel.is_cancelled() {
                return Ok(StopReason::Cancelled);
            }
            if let Some(why) = self.parts.shared.purse.is_empty() {
                return Ok(StopReason::Spent(why));
            }
            if let Some(most) = self.parts.max_turns.filter(|most| requests >= *most) {
                return Ok(StopReason::MaxTurns(most));
            }
            self.look_at_tools();
            if self.is_nearly_full() {
                self.compact(&cancel).await?;
            }
            requests += 1;
            let Some(answer) = self.ask(&cancel).await? else { return Ok(StopReason::Cancelled) };
            if let Some(stop) = self.take(answer, &cancel).await {
                return Ok(stop);
            }
        }
    }

    /// Puts an answer into the conversation and does its calls; says how the turn ended, if it did.
    async fn take(&mut self, answer: Answer, cancel: &CancellationToken) -> Option<StopReason> {
        let has_calls = answer.turn.calls().next().is_some();
        let paused = answer.stop == "pause_turn";
        let says_something = !answer.turn.content.iter().all(Block::is_thinking);
        // Before it is told that it was answered: only what is in the conversation can be answered to.
        if says_something {
            self.push(answer.turn.clone());
        }
        if has_calls {
            let ended = self.call_all(&answer, cancel).await;
            if cancel.is_cancelled() {
                return Some(StopReason::Cancelled);
            }
            if ended {
                return Some(StopReason::ByTool);
            }
        }
        let came = self.parts.inbox.at_boundary(&self.parts.agent);
        let something_came = !came.is_empty();
        for turn in came {
            self.enter(turn);
        }
        if has_calls || something_came || (paused && says_something) {
            return None;
        }
        Some(match answer.stop.as_str() {
            "max_tokens" | "model_context_window_exceeded" => StopReason::MaxTokens,
            "refusal" => StopReason::Refusal,
            _ => StopReason::EndTurn,
        })
    }
}
