//! What is known from outside, and what must therefore hold.

use std::collections::{BTreeMap, BTreeSet};

use super::disk::Written;
use super::member::Mate;
use super::world::World;
use crate::decide::board::{Changed, TaskEvent};
use crate::decide::lead::{Phase, Start};
use crate::decide::ledger::LedgerRecord;
use crate::model::id::{Life, MessageId, RequestId, SpawnId, TaskId};
use crate::model::name::Name;
use crate::model::request::{RequestKind, RequestState};
use crate::model::task::TaskStatus;

/// What a verb asked for.
#[derive(Clone, Debug)]
pub enum Asked {
    Spawn(Name),
    End,
    Restart,
    Decision(RequestId, bool),
}

#[derive(Debug)]
struct Verb {
    asked: Asked,
    /// When, in numbers of the world.
    at: u64,
    given: usize,
    replies: usize,
    /// A lead died that knew of it: its asker has been told so.
    lost: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sent {
    pub id: MessageId,
    pub to: Name,
}

#[derive(Default)]
pub struct Truth {
    verbs: BTreeMap<MessageId, Verb>,
    sent: BTreeSet<Sent>,
    /// Which lives' programs got a message.
    got: BTreeMap<MessageId, BTreeSet<Life>>,
    pub welcomed: BTreeSet<Life>,
    pub said_hello: BTreeSet<SpawnId>,
    pub ended: BTreeSet<Life>,
    pub told_ended: BTreeSet<Life>,
    settled: BTreeMap<RequestId, RequestState>,
    /// Plans and permissions that a program was told are on their way.
    asked_for: BTreeMap<RequestId, Life>,
    claims: BTreeMap<TaskId, (Name, Life, u64)>,
    /// How often things happened: a simulation in which they do not shows nothing.
    pub figures: Figures,
}

pub type Figures = BTreeMap<&'static str, u64>;

impl Truth {
    pub fn count(&mut self, what: &'static str) {
        *self.figures.entry(what).or_default() += 1;
    }

    pub fn asked(&mut self, id: MessageId, asked: Asked) {
        let at = self.verbs.len() as u64;
        self.verbs.insert(id, Verb { asked, at, given: 0, replies: 0, lost: false });
    }

    pub fn given(&mut self, id: MessageId) {
        if let Some(verb) = self.verbs.get_mut(&id) {
            verb.given += 1;
        }
    }

    pub fn lead_died(&mut self) {
        self.verbs.values_mut().filter(|v| v.given > 0).for_each(|v| v.lost = true);
    }

    pub fn asked_for(&mut self, id: RequestId, life: Life) {
        self.asked_for.insert(id, life);
    }

    pub fn sent(&mut self, sent: Sent, written: Written) {
        self.count(match written {
            Written::New => "messages sent",
            Written::Again => "messages sent twice",
            Written::Refused => "messages refused",
        });
        if written != Written::Refused {
            self.sent.insert(sent);
        }
    }

    /// A message reaches a program.
    pub fn gives(&mut self, life: Life, id: MessageId, redelivered: bool) {
        let before = self.got.entry(id).or_default();
        assert!(!before.contains(&life), "a message was handed over twice within a life");
        assert!(before.is_empty() || redelivered, "a message was handed over again and not marked");
        before.insert(life);
        self.count(if redelivered { "messages handed over again" } else { "messages handed over" });
    }

    /// The board took a member's word for the end of its claim.
    pub fn may_end(&self, id: TaskId, who: &Name, life: Life, epoch: u64) {
        let claim = self.claims.get(&id);
        assert_eq!(claim, Some(&(who.clone(), life, epoch)), "the word of a claim that is over counted for task {id}");
    }
}

impl World {
    /// Takes in a change of the board. `life`: whose word it was, or whose end.
    pub fn board_is(&mut self, changed: Changed, life: Option<Life>) {
        let event = changed.event();
        self.truth.count(match event {
            Some(TaskEvent::Claimed) => "tasks claimed",
            Some(TaskEvent::Returned) => "tasks returned",
            Some(TaskEvent::Completed) => "tasks completed",
            _ => "other changes of the board",
        });
        for (n, task) in changed.tasks.iter().enumerate() {
            let claim = task.claim.as_ref().map(|c| (c.member.clone(), c.life, task.epoch));
            assert_eq!(claim.is_some(), task.status == TaskStatus::InProgress, "who works has the task");
            let was = self.truth.claims.get(&task.id);
            match claim {
                Some(claim) if event == Some(TaskEvent::Claimed) && n == 0 => {
                    assert_eq!(was, None, "task {} has two owners", task.id);
                    assert!(self.mates[&claim.1].runs, "a life that is over has claimed a task");
                    self.truth.claims.insert(task.id, claim);
                }
                Some(claim) => assert_eq!(was, Some(&claim), "the owner of task {} changed silently", task.id),
                None => {
                    if let (Some(TaskEvent::Returned), Some((_, holder, _))) = (event, was) {
                        let runs = self.mates[holder].runs;
                        let meant = life == Some(*holder);
                        assert!(!runs || meant, "task {} was taken from a life that goes on", task.id);
                    }
                    self.truth.claims.remove(&task.id);
                }
            }
        }
        self.disk.board.apply(changed.record);
    }

    /// A record comes into the ledger.
    pub fn keep(&mut self, record: LedgerRecord) {
        let request = record.request().expect("the lead writes no snapshots");
        self.truth.count(match request.state {
            _ if request.answered => "answers",
            RequestState::Open => "requests opened",
            RequestState::Approved => "requests approved",
            RequestState::Rejected => "requests rejected",
            RequestState::Expired => "requests expired",
            RequestState::Withdrawn => "requests withdrawn",
        });
        if request.state != RequestState::Open {
            let first = *self.truth.settled.entry(request.id).or_insert(request.state);
            assert_eq!(first, request.state, "request {} is settled once", request.id);
            let decided = matches!(request.state, RequestState::Approved | RequestState::Rejected);
            assert_eq!(request.decision.is_some(), decided, "who is decided has a decision");
        }
        self.disk.ledger.apply(record);
    }

    pub fn may_launch(&self, start: &Start) {
        let leader = self.lead.as_ref().expect("a lead launches");
        // One whose pane came after its end was told is held off by the lease alone.
        let known = |mate: &&Mate| {
            let there = mate.runs && leader.watched.contains(&mate.life);
            there && mate.name == start.name && !self.truth.told_ended.contains(&mate.life)
        };
        let other = self.mates.values().find(known);
        assert!(other.is_none(), "{} is launched while its life {:?} runs", start.name, other.map(|o| o.life));
    }

    /// A person hears what became of a verb.
    pub fn replied(&mut self, to: MessageId, code: u8, answer: &serde_json::Value) {
        let verb = self.truth.verbs.get_mut(&to).expect("only what was asked is answered");
        verb.replies += 1;
        *self.truth.figures.entry("verbs answered").or_default() += 1;
        assert!(verb.lost || verb.replies <= verb.given, "{verb:?} was answered more often than asked");
        let at = verb.at;
        match verb.asked.clone() {
            Asked::Decision(id, approve) if code == 0 => {
                let wanted = if approve { RequestState::Approved } else { RequestState::Rejected };
                let is = self.disk.ledger.get(id).map(|r| r.state);
                assert_eq!(is, Some(wanted), "a decision was acknowledged that does not hold");
            }
            Asked::Spawn(name) if code == 0 => {
                assert!(self.disk.team.member(&name).is_some(), "{name} was said to be there and is in no roster");
            }
            Asked::End => {
                let stopped: Vec<&str> =
                    answer["stopped"].as_array().into_iter().flatten().filter_map(|n| n.as_str()).collect();
                let left = self.mates.values().find(|mate| {
                    mate.runs && mate.mate.joined() && stopped.contains(&mate.name.as_str()) && mate.verbs_before <= at
                });
                assert!(left.is_none(), "{} was said to be gone and runs", left.map_or("", |m| m.name.as_str()));
            }
            _ => {}
        }
    }

    pub fn verb_count(&self) -> u64 {
        self.truth.verbs.len() as u64
    }

    /// Who runs. Not counted is a known limit: a start that was undone, whose pane came late, and whose end a lead had
    /// begun when it died. It is in no file any more; it never joined, and goes with the tmux server.
    pub fn runners(&self) -> impl Iterator<Item = &Mate> {
        let stray = |mate: &Mate| {
            let seats = self.lead.as_ref().map(|leader| &leader.lead.seats);
            let seated = seats.is_some_and(|seats| seats.values().any(|s| s.life == mate.life));
            !seated && !mate.mate.joined() && self.truth.ended.contains(&mate.life)
        };
        self.mates.values().filter(move |mate| mate.runs && !stray(mate))
    }

    /// What holds at any moment.
    pub fn check(&self) {
        for mate in self.mates.values().filter(|mate| mate.runs && mate.mate.joined()) {
            assert!(self.truth.welcomed.contains(&mate.life), "{} joined without the lead's word", mate.name);
        }
        let Some(leader) = &self.lead else { return };
        let team = &leader.lead.team;
        for member in team.teammates().chain(self.disk.team.teammates()) {
            assert!(self.truth.said_hello.contains(&member.spawn_id), "{} never said hello", member.name);
        }
        let names: BTreeSet<&Name> = team.members.iter().chain(&team.reserved).map(|m| &m.name).collect();
        assert_eq!(names.len(), team.members.len() + team.reserved.len(), "a name is there once");
    }

    /// What holds when a lead goes because its team is over.
    pub fn check_finished(&self) {
        let left: Vec<&Name> =
            self.runners().filter(|m| !self.truth.ended.contains(&m.life)).map(|m| &m.name).collect();
        assert!(left.is_empty(), "the lead goes and {left:?} are left");
    }

    /// What holds once nothing is under way.
    pub fn check_rest(&self) {
        self.check();
        if self.is_over() {
            return;
        }
        let lead = &self.lead.as_ref().expect("somebody leads").lead;
        for (id, verb) in &self.truth.verbs {
            let answered = if verb.given == 1 { verb.replies == 1 } else { verb.replies >= 1 };
            assert!(verb.lost || answered, "{id} is {verb:?}");
        }
        assert!(lead.rests(), "the lead waits for something");
        assert_eq!(lead.team, self.disk.team, "the roster is on disk");
        assert_eq!(lead.ledger, self.disk.ledger, "the ledger is on disk");
        self.check_lives();
        self.check_requests();
        self.check_mail();
        for (task, claim) in self.disk.board.claims() {
            let runs = self.mates.get(&claim.life).is_some_and(|mate| mate.runs);
            assert!(runs, "task {} is with a life of {} that is over", task.id, claim.member);
        }
    }

    fn check_lives(&self) {
        let lead = &self.lead.as_ref().expect("somebody leads").lead;
        for mate in self.runners() {
            let seat = lead.seats.get(&mate.name);
            assert!(seat.is_some_and(|s| s.life == mate.life), "{} runs in a life that nobody knows", mate.name);
            let phase = seat.map(|s| s.phase);
            assert!(phase == Some(Phase::Up), "{} runs and is {phase:?}", mate.name);
            assert!(mate.mate.joined(), "{} was never welcomed", mate.name);
        }
        for (name, seat) in &lead.seats {
            let runs = self.runners().any(|mate| mate.name == *name);
            assert_eq!(seat.phase == Phase::Up, runs, "{name} is {:?}", seat.phase);
            assert_eq!(lead.team.member(name).is_some_and(|m| m.is_active), runs, "{name} in the roster");
            for lane in [&self.disk.inboxes, &self.disk.controls] {
                let closed = lane.get(name).is_some_and(|file| file.closed);
                assert_eq!(closed, !runs, "{name} runs: {runs}, its mailbox is closed: {closed}");
            }
        }
    }

    fn check_requests(&self) {
        let runs = |life: Life| self.mates.get(&life).is_some_and(|mate| mate.runs);
        for (id, life) in &self.truth.asked_for {
            assert!(!runs(*life) || self.disk.ledger.get(*id).is_some(), "a request of a living member is lost");
        }
        for request in self.disk.ledger.requests().values() {
            let id = request.id;
            let life = request.life.expect("each request has a life");
            if request.state == RequestState::Open {
                assert!(runs(life), "{:?} {id} of {} outlives its life", request.kind, request.member);
                assert_eq!(request.kind, RequestKind::Plan, "{:?} {id} of {} never ends", request.kind, request.member);
                continue;
            }
            let told = request.kind != RequestKind::Shutdown && request.state != RequestState::Withdrawn;
            if told && runs(life) {
                let answer = MessageId::derived(&["decision", &id.to_string(), request.state.as_str()]);
                let there = self.disk.controls.get(&request.member).is_some_and(|file| file.has(answer));
                assert!(there, "{} was never told of {:?} {id}", request.member, request.kind);
            }
            let approved = request.kind == RequestKind::Plan && request.state == RequestState::Approved;
            let plans_on = self.mates.get(&life).is_some_and(|mate| mate.runs && mate.planning);
            assert!(!(approved && plans_on), "{} goes on planning with an approved plan", request.member);
        }
        for mate in self.mates.values().filter(|mate| mate.runs) {
            let Some(plan) = mate.executes_for else { continue };
            let state = self.disk.ledger.get(plan).map(|r| r.state);
            assert_eq!(state, Some(RequestState::Approved), "{} executes what was not approved", mate.name);
        }
    }

    fn check_mail(&self) {
        for Sent { id, to } in &self.truth.sent {
            if self.truth.got.contains_key(id) || self.disk.dead.contains(id) {
                continue;
            }
            let waits = self.running(to).is_some_and(|life| !self.mates[&life].gives());
            assert!(waits, "mail to {to} was acknowledged and never came");
        }
    }
}
