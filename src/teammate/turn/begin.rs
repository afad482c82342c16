//! What becomes a prompt: the brief, a task, and the mail that waits.

use super::brief::{NOTE, brief};
use super::state::{Held, Turn};
use crate::act::{Done, Verb, Who, act};
use crate::decide::authority::Authority;
use crate::decide::board::Caller;
use crate::decide::teammate::Event;
use crate::model::id::TaskId;
use crate::model::message::Body;
use crate::model::task::Task;
use crate::store::StoreError;
use crate::store::intake::Waiting;
use crate::teammate::engine::Engine;
use crate::teammate::mail;
use crate::teammate::run::Process;
use crate::teammate::verbs;
use crate::view::letter;
use tokio::time::Instant;

impl Process {
    /// Gives the agent what waits, if it is between turns; a `now` ends its turn first.
    pub(in crate::teammate) fn prompt_agent(&mut self) -> Result<(), StoreError> {
        let Engine::Acp(agent) = &mut self.engine else { return Ok(()) };
        if agent.session_id.is_none() || agent.acp.is_none() {
            return Ok(());
        }
        if agent.turn.is_some() {
            let urgent = self.inbox.urgent()?;
            if let Some(from) = urgent {
                self.cancel_turn(&format!("a message from {from}"));
            }
            return Ok(());
        }
        if agent.retry_at.is_some_and(|at| at > Instant::now()) {
            return Ok(());
        }
        agent.retry_at = None;
        let (first, held, broken) = (agent.brief_due, agent.held.take(), std::mem::take(&mut agent.broken));
        self.inbox.give_back(&broken)?;
        let batch = self.inbox.take_batch()?;
        let task = held.or_else(|| self.claim_for(&batch));
        let instructions = self.context.spec.prompt.clone().filter(|_| first);
        if batch.is_empty() && task.is_none() && instructions.is_none() {
            return Ok(());
        }
        self.close_late();
        let text = self.prompt_text(first, instructions.as_deref(), task.as_ref(), &batch);
        self.begin_turn(Turn::new(batch.iter().map(|w| w.id).collect(), task, first), &batch, text);
        Ok(())
    }

    fn begin_turn(&mut self, turn: Turn, batch: &[Waiting], text: String) {
        let Engine::Acp(agent) = &mut self.engine else { return };
        for waiting in batch {
            let from = &waiting.message.from.name;
            let shown = mail::text(&self.context, waiting);
            agent.feed.note(&format!("[{from}] {}", super::plain::one_line(&shown, 300)));
        }
        if let Some(task) = &turn.task {
            agent.feed.note(&format!("\u{25b8} task {}: {}", task.id, task.subject));
        }
        agent.brief_due = false;
        agent.turns += 1;
        agent.cancelled_at = None;
        agent.activity = turn.task.as_ref().map(|t| t.subject.clone());
        agent.turn = Some(turn);
        if let Some(acp) = &agent.acp {
            acp.prompt(text);
        }
        self.step(Event::TurnBegan);
    }

    fn prompt_text(
        &mut self,
        first: bool,
        instructions: Option<&str>,
        task: Option<&Held>,
        batch: &[Waiting],
    ) -> String {
        let mut parts = Vec::new();
        if first {
            let me = self.context.place.member.clone();
            let team = self.context.desk.team();
            let (roster, leads) = team.map_or_else(
                |_| (Vec::new(), false),
                |t| (t.members.iter().map(|m| m.name.to_string()).collect(), t.is_led_by(&me)),
            );
            parts.push(brief(&self.context, &roster, leads));
        }
        parts.extend(instructions.map(str::to_owned));
        if let Some(task) = task {
            parts.extend(letter::task(&task.id.to_string(), &task.subject, &task.description).ok());
        }
        if !batch.is_empty() {
            parts.push(NOTE.to_owned());
        }
        for waiting in batch {
            let text = letter::meaning(&waiting.message).unwrap_or_else(|| mail::text(&self.context, waiting));
            parts.extend(letter::letter(&waiting.message, &text, waiting.redelivered).ok());
        }
        parts.join("\n\n")
    }

    /// The task that this turn is for: one that the mail assigns, else one that waits for this member by name.
    fn claim_for(&mut self, batch: &[Waiting]) -> Option<Held> {
        let assigned = batch.iter().find_map(|w| match w.message.typed() {
            Some(Body::TaskAssigned { task_id, .. }) => Some(task_id),
            _ => None,
        });
        match assigned {
            Some(id) => self.claim(id),
            None if batch.is_empty() => self.own_task().and_then(|id| self.claim(id)),
            None => None,
        }
    }

    fn own_task(&mut self) -> Option<TaskId> {
        let me = self.context.place.member.clone();
        let caller = Caller {
            name: me.clone(),
            life: Some(self.context.place.life),
            authority: Authority::Member,
            capabilities: &self.context.spec.capabilities,
            claim_limit: 1,
        };
        let board = match self.context.desk.board.view() {
            Ok(log) => &log.board,
            Err(error) => {
                tracing::warn!("cannot read the board: {error}");
                return None;
            }
        };
        board.claimable_by(&caller).into_iter().find(|id| board.get(*id).is_some_and(|t| t.owner.as_ref() == Some(&me)))
    }

    fn claim(&mut self, id: TaskId) -> Option<Held> {
        let who = Who::member(self.context.place.member.clone(), self.context.place.life);
        let claimed = act(&mut self.context.desk, &who, verbs::fresh_id(), Verb::TaskClaim { id: Some(id) });
        let Ok(Done::Answer(answer)) = claimed else { return None };
        let task: Task = serde_json::from_value(answer.value).ok()?;
        self.step(Event::TaskTaken { id: task.id, epoch: task.epoch });
        Some(Held { id: task.id, epoch: task.epoch, subject: task.subject, description: task.description })
    }
}
