//! The calls of one answer: those that disturb nobody run beside each other, the others one after another, in their order.

use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::conversation::Conversation;
use super::watch::Step;
use crate::agent::filter::{AGENT, AGENT_ALIAS, SEND_MESSAGE};
use crate::agent::identity::{self, ForkBase, Identity};
use crate::agent::stream::Answer;
use crate::agent::tools::{Kind, Outcome};
use crate::agent::wire::{Block, Turn};

/// The tool that starts children, by both of its names: its calls run beside each other.
const STARTS_CHILDREN: [&str; 2] = [AGENT, AGENT_ALIAS];
/// They need what a fork goes on from.
const NEEDS_BASE: [&str; 3] = [AGENT, AGENT_ALIAS, SEND_MESSAGE];
/// How long a cancelled call may take to end before it is left alone.
const CANCEL_GRACE: Duration = Duration::from_secs(10);

struct OneCall {
    id: String,
    name: String,
    input: Value,
    /// The arguments cannot be used, and why.
    bad: Option<String>,
    parallel: bool,
}

impl Conversation {
    /// Does all calls of an answer and adds the message with their results. `true` where one of them ends the turn.
    pub(super) async fn call_all(&mut self, answer: &Answer, cancel: &CancellationToken) -> bool {
        let calls: Vec<OneCall> = answer
            .turn
            .calls()
            .map(|(id, name, input)| OneCall {
                id: id.to_owned(),
                name: name.to_owned(),
                input: input.clone(),
                bad: answer.bad_inputs.iter().find(|(of, _)| of == id).map(|(_, why)| why.clone()),
                parallel: self.is_parallel(name),
            })
            .collect();
        let who = Arc::new(self.identity(&answer.turn, &calls));
        let mut outcomes: Vec<Outcome> = Vec::with_capacity(calls.len());
        while outcomes.len() < calls.len() {
            let rest = &calls[outcomes.len()..];
            let together = rest.iter().take_while(|call| call.parallel).count().max(1);
            let running = rest[..together].iter().map(|call| self.call_one(call, &who, cancel));
            outcomes.extend(join_all(running).await);
        }
        let ends = outcomes.iter().any(|outcome| outcome.ends_turn);
        let blocks: Vec<Block> =
            outcomes.into_iter().zip(&calls).map(|(outcome, call)| outcome.into_block(&call.id)).collect();
        self.push(Turn::user(blocks));
        ends
    }

    fn is_parallel(&self, name: &str) -> bool {
        let kind = self.parts.registry.get(name).map_or(Kind::Other, |tool| tool.kind());
        kind.is_parallel() || STARTS_CHILDREN.contains(&name)
    }

    async fn call_one(&self, call: &OneCall, who: &Arc<Identity>, cancel: &CancellationToken) -> Outcome {
        if cancel.is_cancelled() {
            return Outcome::cancelled();
        }
        let cx = self.parts.cx.for_call(&call.id);
        let tool = self.parts.registry.get(&call.name);
        let kind = tool.map_or(Kind::Other, |tool| tool.kind());
        let subject = tool.map(|tool| tool.subject(&call.input, &cx).text).unwrap_or_default();
        self.see(Step::Call { id: &call.id, name: &call.name, kind, subject: &subject, input: &call.input });
        let outcome = match &call.bad {
            Some(why) => Outcome::error(format!("{} was not called: {why}.", call.name)),
            None => {
                let work = self.parts.registry.call(&call.name, call.input.clone(), &cx);
                bounded(identity::scope(Arc::clone(who), work), cancel).await
            }
        };
        let outcome = told_something(outcome);
        self.see(Step::CallEnded { id: &call.id, name: &call.name, outcome: &outcome });
        outcome
    }

    fn identity(&self, turn: &Turn, calls: &[OneCall]) -> Identity {
        let starts = calls.iter().any(|call| NEEDS_BASE.contains(&call.name.as_str()));
        let base = starts.then(|| {
            // `turn` is the last one of the conversation; what was sent ends before it.
            let mut sent = self.body.clone();
            sent.pop();
            Arc::new(ForkBase {
                head: self.parts.head.clone(),
                body: sent.frozen(),
                turns: self.turns[..self.turns.len() - 1].to_vec(),
                calls: turn.clone(),
            })
        });
        Identity {
            agent: self.parts.agent.clone(),
            trace: self.trace,
            depth: self.parts.depth,
            source: self.parts.source.clone(),
            base,
        }
    }
}

/// Waits for a call; once it is cancelled for a moment only, since a turn that cannot be ended is worse than a call
/// that ends unseen.
async fn bounded(work: impl Future<Output = Outcome>, cancel: &CancellationToken) -> Outcome {
    let mut work = std::pin::pin!(work);
    tokio::select! {
        outcome = &mut work => return outcome,
        () = cancel.cancelled() => {}
    }
    tokio::time::timeout(CANCEL_GRACE, work).await.unwrap_or_else(|_| Outcome::cancelled())
}

/// A provider takes no result without content, and a model makes nothing of one.
fn told_something(mut outcome: Outcome) -> Outcome {
    outcome.content.retain(|part| part.as_text().is_none_or(|text| !text.trim().is_empty()));
    if outcome.content.is_empty() {
        outcome.content.push(crate::agent::wire::ResultPart::text("(no output)"));
    }
    outcome
}
