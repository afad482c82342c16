//! What people, programs and bad luck do to a world.

use super::member::{Wish, task};
use super::plan::{NAMES, Op, Rng, name, spawn_id};
use super::truth::Asked;
use super::world::World;
use crate::decide::authority::Authority;
use crate::decide::board::Caller;
use crate::decide::lead::Event;
use crate::decide::teammate::{self, Ended};
use crate::model::id::{Life, RequestId};
use crate::model::message::Body;
use crate::model::name::Name;
use crate::model::request::{Request, RequestKind, RequestState};
use crate::model::task::{NewTask, TaskResult};
use crate::model::time::Span;

/// How much may happen between two things that people or bad luck do.
const MOST_AT_ONCE: usize = 16;

impl World {
    pub fn does(&mut self, op: Op) {
        if self.is_over() {
            return;
        }
        self.steps += 1;
        if !matches!(op, Op::Happens(_)) {
            self.tell(|| format!("{op:?}"));
        }
        match op {
            // Somebody sees soon enough that nobody leads.
            Op::Happens(which) if self.lead.is_none() && which.is_multiple_of(6) => self.resume(),
            Op::Happens(which) => {
                let mut rng = Rng(which as u64);
                for _ in 0..=rng.below(MOST_AT_ONCE) {
                    self.happens(rng.next() as usize >> 1);
                    self.steps += 1;
                    self.check();
                }
            }
            Op::Passes(ms) => self.passes(ms),
            Op::Verb(verb, who) => self.asks(verb, NAMES[who]),
            Op::Decide { which, approve, always } => {
                // Mostly about one that is open, now and then about any.
                let (all, which) = (which.is_multiple_of(4), which / 4);
                let asks = |r: &&Request| all || (r.state == RequestState::Open && r.kind != RequestKind::Shutdown);
                let ids: Vec<RequestId> = self.disk.ledger.requests().values().filter(asks).map(|r| r.id).collect();
                let Some(at) = which.checked_rem(ids.len()) else { return };
                let request_id = ids[at];
                let body = Body::Decide { request_id, approve, hash: None, feedback: None, always };
                self.verb(&body, Asked::Decision(request_id, approve));
            }
            Op::Board(what, pick) => self.person_at_board(what, pick),
            Op::Send(who) => self.sends(&Name::operator(), &name(NAMES[who])),
            Op::SendAgain => {
                if let Some((to, message)) = self.last_sent.clone() {
                    self.mails(&to, message);
                }
            }
            Op::Program(who, what, pick) => self.program(NAMES[who], what, pick),
            Op::Ends(who, code) => {
                if let Some(life) = self.life_of(who) {
                    self.engine_ends(life, Ended { code: Some(code), signal: None });
                }
            }
            Op::Turn(who, begins) => {
                let event = if begins { teammate::Event::TurnBegan } else { teammate::Event::TurnEnded };
                if let Some(life) = self.life_of(who).filter(|life| self.mates[life].gives()) {
                    self.mate_step(life, event);
                }
            }
            Op::Kill(who) => {
                if let Some(life) = self.life_of(who) {
                    self.mate_dies(life);
                }
            }
            Op::Signal(who, hup) => {
                let event = if hup { teammate::Event::HungUp } else { teammate::Event::Terminated };
                let life = self.life_of(who);
                if let Some(mate) = life.and_then(|life| self.mates.get_mut(&life)) {
                    mate.signals.push_back(event);
                }
            }
            Op::LeadDies if self.maker_gone => {}
            Op::AllDie | Op::ServerDies if self.maker_gone => {}
            Op::LeadDiesAfter(_) if self.maker_gone => {}
            Op::LeadDies => self.lead_dies(),
            Op::LeadDiesAfter(n) => {
                if let Some(leader) = &mut self.lead {
                    leader.dies_after = Some(n);
                }
            }
            Op::MateDiesAfter(who, n) => {
                let life = self.life_of(who);
                if let Some(mate) = life.and_then(|life| self.mates.get_mut(&life)) {
                    mate.dies_after = Some(n);
                }
            }
            Op::AllDie => self.all_die(),
            Op::ServerDies => self.server_dies(),
            Op::Resume => self.resume(),
            Op::LosesWakeups(n) => self.losing = n,
            Op::Slow(which, ms) => self.slows(which, ms),
            Op::MakerGone => {
                // Only a lead that is there can see it; without one the team is taken down by hand.
                if let Some(leader) = &mut self.lead {
                    leader.dies_after = None;
                    self.maker_gone = true;
                    self.hear(Event::MakerGone);
                }
            }
        }
        self.check();
    }

    fn life_of(&self, who: usize) -> Option<Life> {
        self.running(&name(NAMES[who]))
    }

    fn program(&mut self, who: &str, what: u8, pick: usize) {
        let Some(life) = self.running(&name(who)) else { return };
        let Some(mate) = self.mates.get_mut(&life).filter(|mate| mate.engine) else { return };
        mate.wishes.push_back(match what {
            0..3 => Wish::Claim,
            3 => Wish::Done(pick),
            4 => Wish::Fail(pick),
            5 => Wish::Release(pick),
            6 => Wish::Plan,
            7 => Wish::Permission,
            8 => Wish::Withdraw(pick),
            9 | 10 => Wish::Own(what == 9),
            _ => Wish::Send(pick),
        });
    }

    fn asks(&mut self, verb: u8, who: &str) {
        let ask = |name, grace_ms, force| Body::ShutdownAsk { name, reason: None, grace_ms: Some(grace_ms), force };
        let whom = name(who);
        let (body, asked) = match verb {
            0..3 => {
                let spec = Box::new(self.plan.spec(who));
                (Body::SpawnRequest { spawn_id: spawn_id(who), spec }, Asked::Spawn(whom))
            }
            3..8 => (Body::RestartRequest { name: whom }, Asked::Restart),
            8 => (Body::StopRequest { name: whom }, Asked::End),
            9 => (ask(Some(whom), 5000, false), Asked::End),
            10 => (ask(None, 20_000, false), Asked::End),
            _ => (ask(Some(whom), 1000, true), Asked::End),
        };
        self.verb(&body, asked);
    }

    fn person_at_board(&mut self, what: u8, pick: usize) {
        let me = Name::operator();
        let caller = Caller { name: me, life: None, authority: Authority::Operator, capabilities: &[], claim_limit: 0 };
        let board = &self.disk.board;
        let id = task(pick, board.tasks().len() as u64);
        let now = self.now;
        let changed = match what {
            0..3 => {
                let blocked_by = if pick.is_multiple_of(4) && board.get(id).is_some() { vec![id] } else { Vec::new() };
                let timeout = pick.is_multiple_of(3).then(|| Span::secs(20));
                let new = NewTask { subject: "s".to_owned(), blocked_by, timeout, retries: 1, ..NewTask::default() };
                board.add(&caller, new, now)
            }
            3 => board.release(&caller, id, None, now),
            4 => board.fail(&caller, id, None, TaskResult::default(), now),
            _ if pick.is_multiple_of(2) => board.rm(&caller, id, now),
            _ => board.assign(&caller, id, Some(name(NAMES[pick % NAMES.len()])), now),
        };
        if let Ok(changed) = changed {
            self.board_is(changed, None);
        }
    }
}
