//! A teammate's decisions: joining, answering shutdowns and plans, and ending.
//!
//! Pure: `(state, event, now) -> effects`. How the program is driven is the engine's business; what a
//! control message means while it is busy, stuck or gone is decided here.

use std::collections::BTreeSet;
use std::time::Duration;

#[cfg(test)]
mod tests;

use super::lead::reason;
use super::plant::{Fault, planted};
use crate::model::id::{Life, MessageId, RequestId, SpawnId, TaskId};
use crate::model::message::{Body, Message};
use crate::model::spec::{EngineKind, MemberSpec, OnShutdown};
use crate::model::team::State;
use crate::model::time::Timestamp;

/// How long a planning program may live after its plan was approved.
const PLAN_GRACE: Duration = Duration::from_secs(5);
/// Between TERM and KILL for the engine's processes.
const STOP_GRACE: Duration = Duration::from_secs(2);

/// How the engine's program ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ended {
    pub code: Option<i32>,
    pub signal: Option<i32>,
}

/// What can happen to a teammate.
#[derive(Clone, Debug)]
pub enum Event {
    Control(Box<Message>),
    /// The engine is ready for work, as its kind defines ready.
    EngineReady,
    EngineEnded(Ended),
    /// A task is now this member's.
    TaskTaken {
        id: TaskId,
        epoch: u64,
    },
    /// A task is no longer this member's.
    TaskLeft {
        id: TaskId,
    },
    PlanSubmitted(RequestId),
    PermissionAsked(RequestId),
    /// The permission is not needed any more.
    PermissionWithdrawn(RequestId),
    /// An agent took a prompt.
    TurnBegan,
    TurnEnded,
    /// TERM.
    Terminated,
    /// The terminal went away.
    HungUp,
    Tick,
}

/// What a teammate wants done.
#[derive(Clone, Debug)]
pub enum Effect {
    /// Control mail to the lead.
    Mail {
        id: MessageId,
        body: Box<Body>,
    },
    /// The lead's word is also given to the program as mail.
    HandOver(Box<Message>),
    /// Whether new work and mail may be given to the engine.
    Work(bool),
    StopEngine {
        grace: Duration,
    },
    Status,
    /// The life is over.
    Exit {
        reason: &'static str,
        ended: Ended,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Starting,
    Joining,
    Up,
    Stopping(&'static str),
    Done(&'static str),
}

#[derive(Clone, Debug)]
struct Asked {
    id: RequestId,
    deadline: Timestamp,
    /// The program was asked; its word decides.
    of_program: bool,
}

/// The teammate.
#[derive(Clone, Debug)]
pub struct Teammate {
    life: Life,
    spawn_id: SpawnId,
    pid: u32,
    start_time: u64,
    engine: EngineKind,
    on_shutdown: OnShutdown,
    planning: bool,
    phase: Phase,
    /// The lead has said that this life is a member's. One that is ended before that never was.
    welcomed: bool,
    ended: Option<Ended>,
    tasks: BTreeSet<TaskId>,
    /// An agent is at a turn.
    turn: bool,
    shutdown: Option<Asked>,
    plan_open: Option<RequestId>,
    /// The last plan of this life was rejected.
    plan_rejected: bool,
    /// Permissions that were asked for and not answered yet.
    permissions: BTreeSet<RequestId>,
    /// Set when the plan was approved: the planning program is stopped then.
    plan_ends: Option<Timestamp>,
}

impl Teammate {
    #[must_use]
    pub fn new(life: Life, spawn_id: SpawnId, pid: u32, start_time: u64, spec: &MemberSpec, planning: bool) -> Self {
        Self {
            life,
            spawn_id,
            pid,
            start_time,
            engine: spec.engine,
            on_shutdown: spec.on_shutdown,
            planning,
            phase: Phase::Starting,
            welcomed: false,
            ended: None,
            tasks: BTreeSet::new(),
            turn: false,
            shutdown: None,
            plan_open: None,
            plan_rejected: false,
            permissions: BTreeSet::new(),
            plan_ends: None,
        }
    }

    /// One step.
    pub fn step(&mut self, event: Event, now: Timestamp) -> Vec<Effect> {
        let mut out = Vec::new();
        match event {
            Event::Control(message) => self.control(*message, now, &mut out),
            Event::EngineReady => self.ready(&mut out),
            Event::EngineEnded(ended) => self.engine_ended(ended, &mut out),
            Event::TaskTaken { id, .. } => {
                self.tasks.insert(id);
                out.push(Effect::Status);
            }
            Event::TaskLeft { id } => {
                self.tasks.remove(&id);
                out.push(Effect::Status);
                self.answer_if_finished(&mut out);
            }
            Event::TurnBegan => {
                self.turn = true;
                out.push(Effect::Status);
            }
            Event::TurnEnded => {
                self.turn = false;
                out.push(Effect::Status);
                // The planning life had only this turn left to end.
                self.plan_ends = self.plan_ends.map(|_| now);
                self.answer_if_finished(&mut out);
            }
            Event::PlanSubmitted(id) => {
                self.plan_open = Some(id);
                self.plan_rejected = false;
                out.push(Effect::Status);
            }
            Event::PermissionAsked(id) => {
                self.permissions.insert(id);
                out.push(Effect::Status);
            }
            Event::PermissionWithdrawn(id) => self.permission_settled(id, &mut out),
            Event::Terminated => self.stop(reason::STOPPED, STOP_GRACE, &mut out),
            Event::HungUp => self.stop(reason::PANE_CLOSED, STOP_GRACE, &mut out),
            Event::Tick => {}
        }
        if self.plan_ends.is_some_and(|at| at <= now) {
            self.plan_ends = None;
            self.stop(reason::PLAN_APPROVED, STOP_GRACE, &mut out);
        }
        out
    }

    /// When [`Event::Tick`] is next of use.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Timestamp> {
        self.plan_ends
    }

    fn works(&self) -> bool {
        self.turn || !self.tasks.is_empty()
    }

    /// What `status.json` says.
    #[must_use]
    pub fn state(&self) -> State {
        match self.phase {
            Phase::Starting | Phase::Joining => State::Starting,
            Phase::Stopping(_) => State::Stopping,
            Phase::Done(why) if why != reason::EXITED => State::Exited,
            Phase::Done(_) => match self.ended {
                Some(Ended { code: Some(1..), .. } | Ended { signal: Some(_), .. }) => State::Failed,
                _ => State::Exited,
            },
            Phase::Up if self.plan_open.is_some() || !self.permissions.is_empty() => State::Waiting,
            Phase::Up if self.planning => State::Planning,
            Phase::Up if self.works() => State::Busy,
            Phase::Up => State::Idle,
        }
    }

    /// The open shutdown request, if the program may decide it.
    #[must_use]
    pub fn asked(&self) -> Option<(RequestId, Timestamp)> {
        self.shutdown.as_ref().map(|a| (a.id, a.deadline))
    }

    /// Whether verbs of the program may be carried out: it is a member.
    #[must_use]
    pub fn joined(&self) -> bool {
        self.welcomed && matches!(self.phase, Phase::Up | Phase::Stopping(_))
    }

    /// The program decides its own shutdown.
    ///
    /// # Errors
    /// When nothing of that id is open: an exit code and what to say.
    pub fn own_decision(
        &mut self,
        id: RequestId,
        approve: bool,
        why: Option<String>,
    ) -> Result<Vec<Effect>, (u8, String)> {
        if self.shutdown.as_ref().is_none_or(|asked| asked.id != id) {
            return Err((7, format!("no shutdown request {id} is open for this member")));
        }
        self.shutdown = None;
        let mut out = vec![self.response(id, approve, why)];
        if approve {
            self.stop(reason::SHUTDOWN, STOP_GRACE, &mut out);
        } else {
            out.push(Effect::Work(true));
        }
        Ok(out)
    }

    fn control(&mut self, message: Message, now: Timestamp, out: &mut Vec<Effect>) {
        let Some(body) = message.typed() else { return };
        match body {
            Body::Welcome { life, .. }
                if (life == self.life || planted(Fault::OthersWelcome)) && self.phase == Phase::Joining =>
            {
                self.phase = Phase::Up;
                self.welcomed = true;
                out.push(Effect::Work(true));
                out.push(Effect::Status);
                if let Some(ended) = self.ended {
                    self.over(ended, out);
                }
            }
            Body::ShutdownRequest { request_id, deadline, .. } => {
                self.shutdown_asked(request_id, deadline, &message, out);
            }
            Body::PlanApprovalResponse { request_id, approve, .. } if self.plan_open == Some(request_id) => {
                self.plan_open = None;
                out.push(Effect::HandOver(Box::new(message)));
                self.plan_decided(approve, now, out);
            }
            Body::PermissionResponse { request_id, .. } => {
                self.permission_settled(request_id, out);
                out.push(Effect::HandOver(Box::new(message)));
            }
            Body::PlanApprovalResponse { .. } => out.push(Effect::HandOver(Box::new(message))),
            Body::Ping { nonce } => {
                let id = MessageId::derived(&["pong", &nonce, &self.life.to_string()]);
                out.push(Effect::Mail { id, body: Box::new(Body::Pong { nonce }) });
            }
            _ => {}
        }
    }

    fn permission_settled(&mut self, id: RequestId, out: &mut Vec<Effect>) {
        if self.permissions.remove(&id) {
            out.push(Effect::Status);
        }
    }

    fn ready(&mut self, out: &mut Vec<Effect>) {
        if self.phase != Phase::Starting {
            return;
        }
        self.phase = Phase::Joining;
        let body = Body::Hello { spawn_id: self.spawn_id, life: self.life, pid: self.pid, start_time: self.start_time };
        let id = MessageId::derived(&["hello", &self.life.to_string()]);
        out.push(Effect::Mail { id, body: Box::new(body) });
    }

    fn shutdown_asked(&mut self, id: RequestId, deadline: Timestamp, message: &Message, out: &mut Vec<Effect>) {
        match self.phase {
            // The lead asks members only: this was for an earlier life and lay there unread.
            Phase::Starting | Phase::Joining => return,
            Phase::Stopping(_) | Phase::Done(_) => return out.push(self.response(id, true, None)),
            Phase::Up => {}
        }
        let of_program = self.on_shutdown == OnShutdown::Ask && self.ended.is_none();
        self.shutdown = Some(Asked { id, deadline, of_program });
        match self.on_shutdown {
            OnShutdown::Ask if of_program => out.push(Effect::HandOver(Box::new(message.clone()))),
            OnShutdown::Finish if self.works() => {
                out.push(Effect::Work(false));
                out.push(Effect::Status);
            }
            _ => self.agree(out),
        }
    }

    fn answer_if_finished(&mut self, out: &mut Vec<Effect>) {
        let waits = self.shutdown.as_ref().is_some_and(|asked| !asked.of_program);
        if waits && !self.works() && self.phase == Phase::Up {
            self.agree(out);
        }
    }

    fn agree(&mut self, out: &mut Vec<Effect>) {
        if let Some(asked) = self.shutdown.take() {
            out.push(self.response(asked.id, true, None));
        }
        self.stop(reason::SHUTDOWN, STOP_GRACE, out);
    }

    fn response(&self, request_id: RequestId, approve: bool, reason: Option<String>) -> Effect {
        let id = MessageId::derived(&["shutdown_response", &request_id.to_string(), if approve { "1" } else { "0" }]);
        Effect::Mail { id, body: Box::new(Body::ShutdownResponse { request_id, approve, reason }) }
    }

    fn plan_decided(&mut self, approve: bool, now: Timestamp, out: &mut Vec<Effect>) {
        out.push(Effect::Status);
        if !self.planning {
            return;
        }
        match (approve, self.ended) {
            (true, Some(ended)) => self.exit(reason::PLAN_APPROVED, ended, out),
            (true, None) => {
                let at_once = self.engine == EngineKind::Acp && !self.turn;
                self.plan_ends = Some(if at_once { now } else { now.plus(PLAN_GRACE) });
                if self.engine == EngineKind::Acp {
                    // The decision is for the next life, which may act on it.
                    out.push(Effect::Work(false));
                }
            }
            (false, Some(_)) => {
                // The planner is gone and its plan was not good: the restart policy starts it again.
                self.exit(reason::EXITED, Ended { code: Some(1), signal: None }, out);
            }
            (false, None) => self.plan_rejected = true,
        }
    }

    fn stop(&mut self, why: &'static str, grace: Duration, out: &mut Vec<Effect>) {
        match self.phase {
            Phase::Stopping(_) | Phase::Done(_) => return,
            _ => self.phase = Phase::Stopping(why),
        }
        out.push(Effect::Work(false));
        out.push(Effect::Status);
        match self.ended {
            Some(ended) => self.exit(why, ended, out),
            None => out.push(Effect::StopEngine { grace }),
        }
    }

    fn engine_ended(&mut self, ended: Ended, out: &mut Vec<Effect>) {
        self.ended = Some(ended);
        match self.phase {
            Phase::Starting => self.exit(reason::EXITED, ended, out),
            // A program that did its work quickly and well still joins; one that failed undoes the launch.
            Phase::Joining if ended.code == Some(0) => {}
            Phase::Joining => self.exit(reason::EXITED, ended, out),
            Phase::Up => self.over(ended, out),
            Phase::Stopping(why) => self.exit(why, ended, out),
            Phase::Done(_) => {}
        }
    }

    /// The program of a member ended by itself.
    fn over(&mut self, ended: Ended, out: &mut Vec<Effect>) {
        if let Some(asked) = self.shutdown.take() {
            out.push(self.response(asked.id, true, None));
            return self.exit(reason::SHUTDOWN, ended, out);
        }
        if self.plan_ends.is_some() {
            return self.exit(reason::PLAN_APPROVED, ended, out);
        }
        if self.planning && self.plan_open.is_some() {
            // Its plan is still undecided: the place is kept until it is.
            return out.push(Effect::Status);
        }
        if self.planning && self.plan_rejected && ended.code == Some(0) {
            // It ended well and its plan did not: as if it had ended before the rejection came.
            return self.exit(reason::EXITED, Ended { code: Some(1), signal: None }, out);
        }
        self.exit(reason::EXITED, ended, out);
    }

    fn exit(&mut self, why: &'static str, ended: Ended, out: &mut Vec<Effect>) {
        if matches!(self.phase, Phase::Done(_)) {
            // What came while it was going changes nothing about why it went.
            return;
        }
        self.phase = Phase::Done(why);
        self.ended = Some(ended);
        let body = Box::new(Body::Leave { life: self.life, reason: why.to_owned() });
        out.push(Effect::Mail { id: MessageId::derived(&["leave", &self.life.to_string()]), body });
        out.push(Effect::Exit { reason: why, ended });
    }

    /// Whether the engine is the worker, whose loop never ends by itself.
    #[must_use]
    pub fn is_worker(&self) -> bool {
        self.engine == EngineKind::Worker
    }
}
