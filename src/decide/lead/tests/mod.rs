//! The lead's decisions, told as what happens to a team and what the lead then wants.

mod ends;
mod found;
mod guests;
mod join;
mod permissions;
mod plans;
mod shutdown;
mod takeover;

use std::time::Duration;

use serde_json::{Value, json};

use super::*;
use crate::decide::ledger::{Ledger, LedgerRecord};
use crate::model::id::{Life, MessageId, RequestId, SpawnId};
use crate::model::message::{Body, Message};
use crate::model::name::{AgentId, Name};
use crate::model::request::{Request, RequestState};
use crate::model::spec::{Isolation, MemberSpec, Restart};
use crate::model::team::{Exit, Member, Settings, Team, TmuxPlace};
use crate::model::time::Timestamp;
use crate::model::tree::Tree;

pub fn name(text: &str) -> Name {
    Name::parse_any(text).unwrap()
}

pub fn spec(text: &str) -> MemberSpec {
    serde_json::from_value(json!({"name": text, "cwd": "/"})).unwrap()
}

pub fn spawn_id(text: &str) -> SpawnId {
    SpawnId::derived(&["test", text])
}

/// A team that is to be launched.
pub fn team(members: Vec<MemberSpec>) -> Team {
    let team = name("t");
    let now = Timestamp(0);
    let mut lead = Member::reserve(spec("team-lead"), &team, spawn_id("team-lead"), now);
    (lead.engine, lead.spec, lead.is_active) = ("lead".to_owned(), None, false);
    let place = |s: MemberSpec| {
        let id = spawn_id(s.name.as_str());
        Member::reserve(s, &team, id, now)
    };
    Team {
        v: 1,
        name: team.clone(),
        description: String::new(),
        lead_agent_id: AgentId::new(Name::lead(), team.clone()),
        lead_life: Life::derived(&["lead", "0"]),
        created_at: now,
        cwd: "/".to_owned(),
        tmux: TmuxPlace::default(),
        members: vec![lead],
        reserved: members.into_iter().map(place).collect(),
        launched: false,
        tied_to_maker: false,
        settings: Settings::default(),
        extra: serde_json::Map::new(),
    }
}

/// What a verb was answered.
#[derive(Clone, Debug, PartialEq)]
pub struct Answered {
    pub code: u8,
    pub error: String,
    pub hint: String,
    pub answer: Value,
}

/// A lead, its clock, and everything that it ever wanted.
pub struct World {
    pub lead: Lead,
    pub now: Timestamp,
    /// Since the beginning.
    pub all: Vec<Effect>,
    /// Of the last event.
    pub last: Vec<Effect>,
    said: u64,
    panes: u32,
}

impl World {
    /// A team whose launch has begun.
    pub fn launching(members: &[&str]) -> Self {
        Self::of(team(members.iter().map(|m| spec(m)).collect()))
    }

    pub fn of(team: Team) -> Self {
        let mut world = Self {
            lead: Lead::new(team, Ledger::default()),
            now: Timestamp(1_000_000_000_000),
            all: Vec::new(),
            last: Vec::new(),
            said: 0,
            panes: 0,
        };
        let effects = world.lead.begin(&[], Life::derived(&["lead", "1"]), world.now);
        world.took(effects);
        world
    }

    /// A launched team of these, all at work.
    pub fn up(members: &[&str]) -> Self {
        Self::up_with(members.iter().map(|m| spec(m)).collect())
    }

    pub fn up_with(members: Vec<MemberSpec>) -> Self {
        let names: Vec<String> = members.iter().map(|m| m.name.to_string()).collect();
        let mut world = Self::of(team(members));
        for member in &names {
            world.starts(member);
        }
        assert!(world.lead.team.launched);
        world
    }

    fn took(&mut self, effects: Vec<Effect>) {
        self.all.extend(effects.iter().cloned());
        self.last = effects;
    }

    pub fn step(&mut self, event: Event) {
        let effects = self.lead.step(event, self.now);
        self.took(effects);
    }

    /// Another lead takes up what this one had written, with these members alive.
    pub fn new_lead(&mut self, alive: &[&str]) {
        let number = self.all.len().to_string();
        let mut lead = Lead::new(self.lead.team.clone(), self.replayed());
        lead.tmux_lost = self.lead.tmux_lost;
        self.lead = lead;
        let alive: Vec<Name> = alive.iter().map(|n| name(n)).collect();
        let effects = self.lead.begin(&alive, Life::derived(&["lead", &number]), self.now);
        self.took(effects);
    }

    /// The ledger as its journal has it.
    pub fn replayed(&self) -> Ledger {
        let mut ledger = Ledger::default();
        for record in self.ledger_records() {
            ledger.apply(record.clone());
        }
        ledger
    }

    pub fn ledger_records(&self) -> impl Iterator<Item = &LedgerRecord> {
        self.all.iter().filter_map(|e| match e {
            Effect::Ledger(record) => Some(record),
            _ => None,
        })
    }

    pub fn life(&self, who: &str) -> Life {
        self.lead.seats[&name(who)].life
    }

    pub fn phase(&self, who: &str) -> Option<Phase> {
        self.lead.seats.get(&name(who)).map(|s| s.phase)
    }

    pub fn is_member(&self, who: &str) -> bool {
        self.lead.team.member(&name(who)).is_some()
    }

    pub fn member(&self, who: &str) -> &Member {
        self.lead.team.member(&name(who)).unwrap()
    }

    pub fn mail(&mut self, from: &str, body: &Body) -> MessageId {
        self.said += 1;
        let id = MessageId::derived(&["said", &self.said.to_string()]);
        let from = AgentId::new(name(from), name("t"));
        self.step(Event::Mail(Message::new(id, from, Name::lead(), body)));
        id
    }

    /// The operator's verb.
    pub fn verb(&mut self, body: &Body) -> MessageId {
        self.mail("operator", body)
    }

    pub fn pane(&mut self, who: &str) {
        let life = self.life(who);
        self.pane_of(who, life);
    }

    pub fn pane_of(&mut self, who: &str, life: Life) {
        self.panes += 1;
        let (pane_id, pid) = (format!("%{}", self.panes), 1000 + self.panes);
        self.step(Event::PaneStarted { name: name(who), life, pane_id, pid, start_time: "7".to_owned() });
    }

    pub fn hello(&mut self, who: &str) {
        let life = self.life(who);
        self.hello_of(who, life);
    }

    pub fn hello_of(&mut self, who: &str, life: Life) {
        let known = |m: &&Member| m.name.as_str() == who;
        let team = &self.lead.team;
        let id = team.members.iter().chain(&team.reserved).find(known).map_or(spawn_id(who), |m| m.spawn_id);
        self.mail(who, &Body::Hello { spawn_id: id, life, pid: 1000 + self.panes, start_time: 7 });
    }

    /// Its pane comes up and its teammate says hello.
    pub fn starts(&mut self, who: &str) {
        self.pane(who);
        self.hello(who);
    }

    pub fn ends(&mut self, who: &str, reason: &str, code: Option<i32>) {
        let life = self.life(who);
        self.ends_of(who, life, reason, code);
    }

    pub fn ends_of(&mut self, who: &str, life: Life, reason: &str, code: Option<i32>) {
        let exit = Exit { code, ..exit_of(life, reason, self.now) };
        let last_words = "cannot open /nowhere\ngood bye\n".to_owned();
        self.step(Event::LifeEnded { name: name(who), life, exit, last_words, left: Vec::new() });
    }

    pub fn later(&mut self, ms: u64) {
        self.now = self.now.plus(Duration::from_millis(ms));
        self.step(Event::Tick);
    }

    pub fn spawn(&mut self, who: &str, id: &str) -> MessageId {
        self.verb(&Body::SpawnRequest { spawn_id: spawn_id(id), spec: Box::new(spec(who)) })
    }

    pub fn stop(&mut self, who: &str) -> MessageId {
        self.verb(&Body::StopRequest { name: name(who) })
    }

    pub fn restart(&mut self, who: &str) -> MessageId {
        self.verb(&Body::RestartRequest { name: name(who) })
    }

    pub fn shutdown(&mut self, who: Option<&str>) -> MessageId {
        self.shutdown_within(who, 10_000)
    }

    pub fn shutdown_within(&mut self, who: Option<&str>, grace_ms: u64) -> MessageId {
        let ask = Body::ShutdownAsk { name: who.map(name), reason: None, grace_ms: Some(grace_ms), force: false };
        self.verb(&ask)
    }

    pub fn force(&mut self, who: Option<&str>) -> MessageId {
        self.verb(&Body::ShutdownAsk { name: who.map(name), reason: None, grace_ms: None, force: true })
    }

    /// The member's word about its open shutdown.
    pub fn answers(&mut self, who: &str, approve: bool, reason: Option<&str>) {
        let request_id = self.open(who).id;
        let body = Body::ShutdownResponse { request_id, approve, reason: reason.map(str::to_owned) };
        self.mail(who, &body);
    }

    pub fn submits(&mut self, who: &str, plan: &str) -> RequestId {
        let request_id = RequestId::derived(&["plan", who, plan]);
        let life = self.life(who);
        let plan = Body::PlanApprovalRequest {
            request_id,
            life,
            plan: plan.to_owned(),
            hash: format!("hash of {plan}"),
            summary: None,
        };
        self.mail(who, &plan);
        request_id
    }

    pub fn decides(&mut self, by: &str, request_id: RequestId, approve: bool) -> MessageId {
        let feedback = Some("says the decider".to_owned());
        self.mail(by, &Body::Decide { request_id, approve, hash: None, feedback, always: false })
    }

    pub fn open(&self, who: &str) -> Request {
        let open = self.lead.ledger.open_requests();
        open.into_iter().find(|r| r.member.as_str() == who).unwrap_or_else(|| panic!("nothing is open")).clone()
    }

    pub fn state(&self, id: RequestId) -> RequestState {
        self.lead.ledger.get(id).unwrap().state
    }

    /// Every answer to a verb; more than one is a fault.
    pub fn answer(&self, to: MessageId) -> Option<Answered> {
        let mut found = self.all.iter().filter_map(|e| match e {
            Effect::Mail { body, .. } => match &**body {
                Body::Reply { to: asked, code, error, hint, answer } if *asked == to => Some(Answered {
                    code: *code,
                    error: error.clone().unwrap_or_default(),
                    hint: hint.clone().unwrap_or_default(),
                    answer: answer.clone(),
                }),
                _ => None,
            },
            _ => None,
        });
        let first = found.next();
        assert!(found.next().is_none(), "answered twice: {first:?}");
        first
    }

    pub fn code(&self, to: MessageId) -> Option<u8> {
        self.answer(to).map(|a| a.code)
    }

    /// Mail of the last step to someone.
    pub fn told(&self, to: &str) -> Vec<Body> {
        mail_to(&self.last, to)
    }

    pub fn ever_told(&self, to: &str) -> Vec<Body> {
        mail_to(&self.all, to)
    }

    /// Whom the last step launched.
    pub fn launched(&self) -> Vec<String> {
        let starts = self.last.iter().filter_map(|e| match e {
            Effect::Launch(starts) => Some(starts),
            _ => None,
        });
        starts.flatten().map(|s| s.name.to_string()).collect()
    }

    /// Whom the last step ends, in which life.
    pub fn ending(&self) -> Vec<(String, Life)> {
        let ends = self.last.iter().filter_map(|e| match e {
            Effect::EndLife { name, life, .. } => Some((name.to_string(), *life)),
            _ => None,
        });
        ends.collect()
    }

    /// The panes that the last step closes.
    pub fn closed(&self) -> Vec<String> {
        let panes = self.last.iter().filter_map(|e| match e {
            Effect::ClosePane { pane_id, .. } => Some(pane_id.clone()),
            _ => None,
        });
        panes.collect()
    }

    /// What the last step logged.
    pub fn logged(&self) -> Vec<&'static str> {
        let records = self.last.iter().filter_map(|e| match e {
            Effect::Log(record) => Some(record.kind),
            _ => None,
        });
        records.collect()
    }

    pub fn finished(&self) -> Option<Finish> {
        self.all.iter().find_map(|e| match e {
            Effect::Finish(finish) => Some(finish.clone()),
            _ => None,
        })
    }
}

fn mail_to(effects: &[Effect], who: &str) -> Vec<Body> {
    let mail = effects.iter().filter_map(|e| match e {
        Effect::Mail { to, body, .. } if to.as_str() == who => Some((**body).clone()),
        _ => None,
    });
    mail.collect()
}

pub fn with(text: &str, change: impl FnOnce(&mut MemberSpec)) -> MemberSpec {
    let mut spec = spec(text);
    change(&mut spec);
    spec
}

pub fn tree_of(who: &str) -> Tree {
    let path = format!("/trees/{who}");
    let common = "/repo/.git".to_owned();
    Tree {
        cwd: path.clone(),
        branch: format!("crewmux/t/{who}"),
        base: "0".to_owned(),
        repo: "/repo".to_owned(),
        git_dir: format!("{common}/worktrees/main"),
        common_dir: common,
        path,
    }
}

pub fn restarting(text: &str, restart: Restart) -> MemberSpec {
    with(text, |s| s.restart = restart)
}

pub fn planner(text: &str) -> MemberSpec {
    with(text, |s| s.plan_mode_required = true)
}
