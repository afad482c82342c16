//! A teammate's process and its program, as `crate::teammate` runs them.

use std::collections::{BTreeSet, VecDeque};

use super::disk::{Disk, Reader, Waits};
use super::plan::{NAMES, PERMISSION_TIME, name};
use super::truth::Sent;
use super::world::{Alarm, Turn, Way, World};
use crate::decide::authority::Authority;
use crate::decide::board::{BoardError, Caller, Changed};
use crate::decide::lead::{Start, exit_of};
use crate::decide::teammate::{self, Ended, Teammate};
use crate::model::id::{Life, MessageId, RequestId, TaskId};
use crate::model::message::{Body, Message};
use crate::model::name::Name;
use crate::model::task::TaskResult;
use crate::model::team::{Exit, Member};
use crate::model::time::Timestamp;

/// Most messages that are handed over together.
const BATCH: usize = 3;

enum Act {
    Do(teammate::Effect),
    /// What the control mail at hand asked for is done.
    ControlDone,
    Give(Box<Waits>),
    Given,
}

/// What a program asks its teammate for, through its outbox.
#[derive(Clone, Copy, Debug)]
pub enum Wish {
    Claim,
    Done(usize),
    Fail(usize),
    Release(usize),
    Plan,
    Permission,
    Withdraw(usize),
    Own(bool),
    Send(usize),
}

pub struct Mate {
    pub name: Name,
    pub life: Life,
    /// How many verbs had been said when it began.
    pub verbs_before: u64,
    pub mate: Teammate,
    pub runs: bool,
    pub exit: Option<Exit>,
    /// Its program is there.
    pub engine: bool,
    pub works: bool,
    pub executes_for: Option<RequestId>,
    pub planning: bool,
    /// It dies after so many more things that it carries out.
    pub dies_after: Option<u8>,
    over: Option<(&'static str, Ended)>,
    acts: VecDeque<Act>,
    control: Reader,
    inbox: Reader,
    pub wishes: VecDeque<Wish>,
    pub signals: VecDeque<teammate::Event>,
    asked: BTreeSet<RequestId>,
    pub alarm: Alarm,
}

impl Mate {
    pub fn start(entry: &Member, start: &Start, pid: u32, verbs_before: u64, disk: &mut Disk, now: Timestamp) -> Self {
        let planning = entry.plans();
        let spec = entry.spec.as_ref().expect("a member has a spec");
        Self {
            name: entry.name.clone(),
            life: start.life,
            verbs_before,
            mate: Teammate::new(start.life, start.spawn_id, pid, 1, spec, planning),
            runs: true,
            exit: None,
            engine: true,
            works: false,
            executes_for: entry.plan_id,
            planning,
            dies_after: None,
            over: None,
            acts: VecDeque::new(),
            control: Reader::open(disk.control(&entry.name)),
            inbox: Reader::open(disk.inbox(&entry.name)),
            wishes: VecDeque::new(),
            signals: VecDeque::new(),
            asked: BTreeSet::new(),
            alarm: Alarm::new(now),
        }
    }

    pub fn is_busy(&self) -> bool {
        !self.acts.is_empty() || self.over.is_some()
    }

    pub fn gives(&self) -> bool {
        self.works && self.engine && self.mate.joined()
    }

    fn has_news(&self, disk: &Disk) -> bool {
        let control = disk.controls.get(&self.name).is_some_and(|file| self.control.has_news(file));
        control || disk.inboxes.get(&self.name).is_some_and(|file| self.inbox.has_news(file))
    }

    pub fn turns(&self, disk: &Disk, now: Timestamp, turns: &mut Vec<Turn>) {
        let life = self.life;
        if self.alarm.stalled_until > now {
            return;
        }
        if self.is_busy() {
            return turns.push(Turn::MateCarries(life));
        }
        if !self.signals.is_empty() {
            turns.push(Turn::MateSignal(life));
        }
        if self.alarm.woken || (self.alarm.looks(now) && self.has_news(disk)) {
            turns.push(Turn::MateLooks(life));
        }
        if !self.control.waiting.is_empty() {
            turns.push(Turn::MateActs(life));
        }
        if !self.wishes.is_empty() && self.mate.joined() {
            turns.push(Turn::MateWish(life));
        }
        if !self.inbox.waiting.is_empty() && self.gives() {
            turns.push(Turn::MateGives(life));
        }
        if self.mate.next_deadline().is_some_and(|at| at <= now) {
            turns.push(Turn::MateTicks(life));
        }
    }

    pub fn next_time(&self, disk: &Disk, now: Timestamp) -> Option<Timestamp> {
        if self.alarm.stalled_until > now {
            return Some(self.alarm.stalled_until);
        }
        let looks = self.has_news(disk).then_some(self.alarm.looks_at);
        [self.mate.next_deadline(), looks].into_iter().flatten().min()
    }
}

impl World {
    pub fn mate_step(&mut self, life: Life, event: teammate::Event) {
        let now = self.now;
        let Some(mate) = self.mates.get_mut(&life).filter(|m| m.runs) else { return };
        let effects = mate.mate.step(event, now);
        mate.acts.extend(effects.into_iter().map(Act::Do));
    }

    pub fn engine_ends(&mut self, life: Life, ended: Ended) {
        let Some(mate) = self.mates.get_mut(&life).filter(|m| m.runs && m.engine) else { return };
        mate.engine = false;
        mate.wishes.clear();
        self.mate_step(life, teammate::Event::EngineEnded(ended));
    }

    pub fn mate_looks(&mut self, life: Life) {
        let now = self.now;
        let Some(mate) = self.mates.get_mut(&life) else { return };
        mate.alarm.looked(now);
        mate.control.poll(self.disk.controls.entry(mate.name.clone()).or_default());
        mate.inbox.poll(self.disk.inboxes.entry(mate.name.clone()).or_default());
    }

    /// Acts on the next control mail.
    pub fn mate_acts(&mut self, life: Life) {
        let Some(mate) = self.mates.get_mut(&life) else { return };
        for waits in mate.control.begin(1) {
            self.mate_step(life, teammate::Event::Control(Box::new(waits.message)));
        }
        if let Some(mate) = self.mates.get_mut(&life) {
            mate.acts.push_back(Act::ControlDone);
        }
    }

    /// Begins to hand mail to the program.
    pub fn mate_gives(&mut self, life: Life) {
        let Some(mate) = self.mates.get_mut(&life) else { return };
        let batch = mate.inbox.begin(BATCH);
        mate.inbox.store(self.disk.inboxes.entry(mate.name.clone()).or_default());
        mate.acts.extend(batch.into_iter().map(|waits| Act::Give(Box::new(waits))));
        mate.acts.push_back(Act::Given);
    }

    pub fn mate_carries(&mut self, life: Life) {
        let Some(mate) = self.mates.get_mut(&life).filter(|m| m.runs) else { return };
        match mate.dies_after {
            Some(0) => return self.mate_dies(life),
            Some(n) => mate.dies_after = Some(n - 1),
            None => {}
        }
        match mate.acts.pop_front() {
            Some(Act::Do(effect)) => self.mate_does(life, effect),
            Some(Act::ControlDone) => {
                mate.control.finish_read(self.disk.controls.entry(mate.name.clone()).or_default());
            }
            Some(Act::Give(waits)) if mate.engine => self.truth.gives(life, waits.message.id, waits.redelivered),
            Some(Act::Give(_)) => {
                // The program is gone: nothing of the batch counts, the next life gets it, marked.
                mate.inbox.abandon();
                mate.acts.retain(|act| !matches!(act, Act::Give(_) | Act::Given));
            }
            Some(Act::Given) => mate.inbox.finish_read(self.disk.inboxes.entry(mate.name.clone()).or_default()),
            None => {
                let Some((reason, ended)) = mate.over.take() else { return };
                mate.exit = Some(Exit { code: ended.code, signal: ended.signal, ..exit_of(life, reason, self.now) });
                self.mate_dies(life);
            }
        }
    }

    fn mate_does(&mut self, life: Life, effect: teammate::Effect) {
        let Some(mate) = self.mates.get_mut(&life) else { return };
        let who = mate.name.clone();
        match effect {
            teammate::Effect::Mail { id, body } => {
                if let Body::Hello { spawn_id, .. } = *body {
                    self.truth.said_hello.insert(spawn_id);
                }
                self.mail_lead(&who, id, &body);
            }
            teammate::Effect::HandOver(message) => drop(self.mail_inbox(*message)),
            teammate::Effect::Work(on) => {
                mate.works = on;
                assert!(!on || self.truth.welcomed.contains(&life), "{who} works without the lead's word");
            }
            teammate::Effect::StopEngine { .. } => self.ways.push(Way::Stops(life)),
            teammate::Effect::Exit { reason, ended } => mate.over = Some((reason, ended)),
            teammate::Effect::Status => {}
        }
    }

    /// Carries out what the program asks for.
    pub fn mate_wish(&mut self, life: Life) {
        let Some(mate) = self.mates.get_mut(&life) else { return };
        let Some(wish) = mate.wishes.pop_front() else { return };
        let who = mate.name.clone();
        match wish {
            Wish::Claim => self.claims(life, &who),
            Wish::Done(pick) | Wish::Fail(pick) | Wish::Release(pick) => self.ends_task(life, &who, wish, pick),
            Wish::Plan => self.plans(life, &who),
            Wish::Permission => self.asks_permission(life, &who),
            Wish::Withdraw(pick) => {
                let asked: Vec<RequestId> = mate.asked.iter().copied().collect();
                let Some(request_id) = pick.checked_rem(asked.len()).map(|at| asked[at]) else { return };
                let id = MessageId::derived(&["withdraw", &self.fresh()]);
                self.mail_lead(&who, id, &Body::Withdraw { request_id, life });
                self.mate_step(life, teammate::Event::PermissionWithdrawn(request_id));
            }
            Wish::Own(approve) => {
                let Some((id, _)) = mate.mate.asked() else { return };
                if let Ok(effects) = mate.mate.own_decision(id, approve, None) {
                    mate.acts.extend(effects.into_iter().map(Act::Do));
                }
            }
            Wish::Send(to) => self.sends(&who, &name(NAMES[to % NAMES.len()])),
        }
    }

    fn plans(&mut self, life: Life, who: &Name) {
        let number = self.fresh();
        let request_id = RequestId::derived(&["plan", &number]);
        let (plan, hash) = ("p".to_owned(), "h".to_owned());
        let body = Body::PlanApprovalRequest { request_id, life, plan, hash, summary: None };
        self.mail_lead(who, MessageId::derived(&["plan", &number]), &body);
        self.truth.asked_for(request_id, life);
        self.mate_step(life, teammate::Event::PlanSubmitted(request_id));
    }

    fn asks_permission(&mut self, life: Life, who: &Name) {
        let number = self.fresh();
        let request_id = RequestId::derived(&["permission", &number]);
        let expires = self.now.plus(PERMISSION_TIME);
        let (tool, input) = ("t".to_owned(), serde_json::json!({"n": self.count % 3}));
        let body = Body::PermissionRequest { request_id, life, tool, input, reason: None, scope: None, expires };
        self.mail_lead(who, MessageId::derived(&["permission", &number]), &body);
        self.truth.asked_for(request_id, life);
        if let Some(mate) = self.mates.get_mut(&life) {
            mate.asked.insert(request_id);
        }
        self.mate_step(life, teammate::Event::PermissionAsked(request_id));
    }

    fn claims(&mut self, life: Life, who: &Name) {
        let caller = member(who, life);
        let Ok(changed) = self.disk.board.claim(&caller, None, self.now) else { return };
        let (id, epoch) = (changed.tasks[0].id, changed.tasks[0].epoch);
        self.memory.entry(who.clone()).or_default().push((id, epoch));
        self.board_is(changed, Some(life));
        self.mate_step(life, teammate::Event::TaskTaken { id, epoch });
    }

    /// A word about any task that this member's programs ever had.
    fn ends_task(&mut self, life: Life, who: &Name, wish: Wish, pick: usize) {
        let known = self.memory.get(who).cloned().unwrap_or_default();
        // Mostly about the last one.
        let at = if pick.is_multiple_of(3) { (pick / 3).checked_rem(known.len()) } else { known.len().checked_sub(1) };
        let Some((id, epoch)) = at.map(|at| known[at]) else { return };
        let (caller, now) = (member(who, life), self.now);
        let board = &self.disk.board;
        let changed: Result<Changed, BoardError> = match wish {
            Wish::Done(_) => board.done(&caller, id, Some(epoch), TaskResult::default(), now),
            Wish::Fail(_) => board.fail(&caller, id, Some(epoch), TaskResult::default(), now),
            _ => board.release(&caller, id, Some(epoch), now),
        };
        self.truth.count(if changed.is_ok() { "words about tasks taken" } else { "words about tasks refused" });
        if let Ok(changed) = changed {
            self.truth.may_end(id, who, life, epoch);
            self.board_is(changed, Some(life));
            self.mate_step(life, teammate::Event::TaskLeft { id });
        }
    }

    /// Mail of somebody to a member; once it is written it is acknowledged.
    pub fn sends(&mut self, from: &Name, to: &Name) {
        let id = MessageId::derived(&["text", &self.fresh()]);
        let content = Some(format!("word {}", self.count));
        let body = Body::Text(crate::model::message::Text { content, ..Default::default() });
        let from = crate::model::name::AgentId::new(from.clone(), name("t"));
        let message = Message::new(id, from, to.clone(), &body);
        self.last_sent = Some((to.clone(), message.clone()));
        self.mails(to, message);
    }

    pub fn mails(&mut self, to: &Name, message: Message) {
        // Nobody makes a mailbox of a member that is not there.
        if self.disk.team.member(to).is_none() {
            return;
        }
        let id = message.id;
        let written = self.mail_inbox(message);
        self.truth.sent(Sent { id, to: to.clone() }, written);
    }
}

fn member(who: &Name, life: Life) -> Caller<'static> {
    Caller { name: who.clone(), life: Some(life), authority: Authority::Member, capabilities: &[], claim_limit: 2 }
}

/// The tasks that a person looks at.
pub fn task(which: usize, count: u64) -> TaskId {
    TaskId(1 + which as u64 % count.max(1))
}
