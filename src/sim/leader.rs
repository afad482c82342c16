//! The lead's process, as `crate::lead` runs it: what is decided is carried out one by one, and the mail that asked
//! for it counts as read when all of it is done.

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use super::disk::{Disk, Reader};
use super::world::{Alarm, Turn, Way, World};
use crate::decide::authority::Authority;
use crate::decide::board::Caller;
use crate::decide::lead::{Effect, Event, Finish, Lead};
use crate::decide::ledger::{LedgerRecord, RequestEvent};
use crate::model::id::Life;
use crate::model::message::{Body, Message};
use crate::model::name::Name;
use crate::model::task::TaskResult;
use crate::model::time::Timestamp;

/// How far past its limit a task is when the lead acts.
const MARGIN: Duration = Duration::from_secs(10);

enum Doing {
    Carry(Effect),
    /// What lies unread in the mailbox is noted; it is closed.
    Close(Name),
    Watch(Name, Life),
}

pub struct Leader {
    pub lead: Lead,
    control: Reader,
    pending: VecDeque<Doing>,
    dirty: bool,
    acts_on_mail: bool,
    finish: Option<Finish>,
    /// It dies after so many more things that it carries out.
    pub dies_after: Option<u8>,
    pub heard: VecDeque<Event>,
    /// Whose end it will see.
    pub watched: BTreeSet<Life>,
    pub alarm: Alarm,
}

impl Leader {
    fn is_busy(&self) -> bool {
        !self.pending.is_empty() || self.dirty || self.acts_on_mail || self.finish.is_some()
    }

    fn has_news(&self, disk: &Disk) -> bool {
        disk.controls.get(&Name::lead()).is_some_and(|file| self.control.has_news(file))
    }

    fn deadline(&self, disk: &Disk) -> Option<Timestamp> {
        [self.lead.next_deadline(), disk.board.next_deadline(MARGIN)].into_iter().flatten().min()
    }

    pub fn turns(&self, disk: &Disk, now: Timestamp, turns: &mut Vec<Turn>) {
        if self.alarm.stalled_until > now {
            return;
        }
        if self.is_busy() {
            return turns.push(Turn::LeadCarries);
        }
        if !self.heard.is_empty() {
            turns.push(Turn::LeadHears);
        }
        if self.alarm.woken || (self.alarm.looks(now) && self.has_news(disk)) {
            turns.push(Turn::LeadLooks);
        }
        if self.deadline(disk).is_some_and(|at| at <= now) {
            turns.push(Turn::LeadTicks);
        }
    }

    pub fn next_time(&self, disk: &Disk, now: Timestamp) -> Option<Timestamp> {
        if self.alarm.stalled_until > now {
            return Some(self.alarm.stalled_until);
        }
        let looks = self.has_news(disk).then_some(self.alarm.looks_at);
        [self.deadline(disk), looks].into_iter().flatten().min()
    }
}

impl World {
    /// A lead takes the team up.
    pub fn resume(&mut self) {
        if self.lead.is_some() || self.is_over() {
            return;
        }
        self.disk.read_again();
        self.leads += 1;
        let life = Life::derived(&["lead", &self.leads.to_string()]);
        let mut team = self.disk.team.clone();
        let tmux_lost = std::mem::replace(&mut team.tmux.server_pid, self.server) != self.server;
        let mut lead = Lead::new(team, self.disk.ledger.clone());
        lead.tmux_lost = tmux_lost;
        let alive: Vec<(Name, Life)> = self
            .disk
            .team
            .members
            .iter()
            .filter(|m| m.is_active)
            .filter_map(|m| Some((m.name.clone(), m.life?)))
            .filter(|(_, life)| self.mates.get(life).is_some_and(|mate| mate.runs))
            .collect();
        let names: Vec<Name> = alive.iter().map(|(name, _)| name.clone()).collect();
        let effects = lead.begin(&names, life, self.now);
        let control = Reader::open(self.disk.control(&Name::lead()));
        let mut pending: VecDeque<Doing> = effects.into_iter().map(Doing::Carry).collect();
        pending.extend(alive.into_iter().map(|(name, life)| Doing::Watch(name, life)));
        let number = self.leads;
        self.tell(|| format!("lead {number} begins, alive: {names:?}"));
        self.lead = Some(Leader {
            lead,
            control,
            pending,
            dirty: true,
            acts_on_mail: false,
            finish: None,
            dies_after: None,
            heard: VecDeque::new(),
            watched: BTreeSet::new(),
            alarm: Alarm::new(self.now),
        });
    }

    pub fn lead_step(&mut self, event: Event) {
        let now = self.now;
        if let Event::LifeEnded { life, .. } = &event {
            self.truth.told_ended.insert(*life);
        }
        self.tell(|| format!("  lead <- {}", short(&event)));
        let Some(leader) = &mut self.lead else { return };
        let effects = leader.lead.step(event, now);
        for effect in &effects {
            if let Effect::Ledger(LedgerRecord::Request { event: RequestEvent::Opened, request }) = effect {
                let seat = leader.lead.seats.get(&request.member).map(|s| s.life);
                assert_eq!(
                    request.life, seat,
                    "{:?} of {} was opened by a life that is over",
                    request.kind, request.member
                );
            }
        }
        leader.pending.extend(effects.into_iter().map(Doing::Carry));
    }

    pub fn lead_looks(&mut self) {
        let Some(leader) = &mut self.lead else { return };
        leader.alarm.looked(self.now);
        let file = self.disk.controls.entry(Name::lead()).or_default();
        leader.control.poll(file);
        let taken = leader.control.begin(usize::MAX);
        leader.acts_on_mail = !taken.is_empty();
        for waits in taken {
            self.truth.given(waits.message.id);
            self.lead_step(Event::Mail(waits.message));
        }
    }

    pub fn lead_hears(&mut self, luck: usize) {
        for _ in 0..=luck % 3 {
            if let Some(event) = self.lead.as_mut().and_then(|leader| leader.heard.pop_front()) {
                self.lead_step(event);
            }
        }
    }

    /// Its time has come: the ledger's, a member's, or a task's.
    pub fn lead_ticks(&mut self) {
        self.lead_step(Event::Tick);
        for id in self.disk.board.expire(self.now, MARGIN) {
            let Some(task) = self.disk.board.get(id).cloned() else { continue };
            let Some(claim) = task.claim.clone() else { continue };
            let me = Name::lead();
            let caller = Caller { name: me, life: None, authority: Authority::Lead, capabilities: &[], claim_limit: 0 };
            if let Ok(changed) = self.disk.board.fail(&caller, id, Some(task.epoch), TaskResult::default(), self.now) {
                self.board_is(changed, None);
                self.lead_step(Event::Stuck { name: claim.member, life: claim.life, why: "it is late".to_owned() });
            }
        }
    }

    pub fn lead_carries(&mut self) {
        let Some(leader) = &mut self.lead else { return };
        match leader.dies_after {
            Some(0) => return self.lead_dies(),
            Some(n) => leader.dies_after = Some(n - 1),
            None => {}
        }
        match leader.pending.pop_front() {
            Some(Doing::Carry(effect)) => self.carry(effect),
            Some(Doing::Close(name)) => {
                note_unread(&mut self.disk, &name);
                self.disk.inbox(&name).closed = true;
                self.disk.control(&name).closed = true;
            }
            Some(Doing::Watch(name, life)) => {
                leader.watched.insert(life);
                if !self.mates.get(&life).is_some_and(|mate| mate.runs) {
                    self.ways.push(Way::Tell(name, life, self.leads));
                }
            }
            None if leader.dirty => self.save(),
            None if leader.acts_on_mail => {
                leader.acts_on_mail = false;
                leader.control.finish_read(self.disk.controls.entry(Name::lead()).or_default());
            }
            None => {
                self.finished = leader.finish.take();
                self.check_finished();
                self.lead = None;
                self.ways.clear();
            }
        }
    }

    fn save(&mut self) {
        if let Some(leader) = &mut self.lead {
            leader.dirty = false;
            self.disk.team = leader.lead.team.clone();
        }
    }

    fn carry(&mut self, effect: Effect) {
        let Some(leader) = &mut self.lead else { return };
        let tells =
            matches!(effect, Effect::Mail { .. } | Effect::Launch(_) | Effect::MakeTree { .. } | Effect::Finish(_));
        if tells && leader.dirty {
            // What is told must be true on disk first.
            leader.pending.push_front(Doing::Carry(effect));
            return self.save();
        }
        let number = self.leads;
        match effect {
            Effect::SaveTeam => leader.dirty = true,
            Effect::Finish(finish) => leader.finish = Some(finish),
            Effect::CloseMail { name, .. } => {
                leader.pending.push_front(Doing::Close(name.clone()));
                if !self.disk.inbox(&name).closed {
                    note_unread(&mut self.disk, &name);
                }
            }
            Effect::OpenMail { name } => {
                self.disk.control(&name).closed = false;
                self.disk.inbox(&name).closed = false;
            }
            Effect::Ledger(record) => self.keep(record),
            Effect::Mail { to, id, body } => self.lead_mails(to, id, &body),
            Effect::Launch(starts) => {
                for start in starts {
                    self.may_launch(&start);
                    self.ways.push(Way::Pane(start, number));
                }
            }
            Effect::Watch { name, life } => leader.pending.push_front(Doing::Watch(name, life)),
            Effect::MakeTree { name, life } => self.ways.push(Way::Tree(name, life, number)),
            Effect::SettleTree { name } => self.ways.push(Way::Settle(name, number)),
            Effect::EndLife { name, life, .. } => {
                self.truth.ended.insert(life);
                self.ways.push(Way::End(name, life, number));
            }
            Effect::ReturnTasks { name, life } => {
                if let Some(changed) = self.disk.board.return_life(&name, life, &Name::lead(), self.now) {
                    self.board_is(changed, Some(life));
                }
            }
            Effect::ReturnStale { name, current } => {
                if let Some(changed) = self.disk.board.return_stale(&name, current, &Name::lead(), self.now) {
                    self.board_is(changed, None);
                }
            }
            Effect::Log(_) | Effect::WritePlan { .. } | Effect::ClosePane { .. } | Effect::Expect { .. } => {}
        }
    }

    fn lead_mails(&mut self, to: Name, id: crate::model::id::MessageId, body: &Body) {
        match body {
            Body::Reply { to, code, answer, .. } => return self.replied(*to, *code, answer),
            Body::Welcome { life, .. } => {
                let written = self.disk.team.member(&to).and_then(|m| m.life);
                // Another life may have followed by now; the lead takes in several events at once.
                let goes_on = self.lead.as_ref().and_then(|l| l.lead.seats.get(&to)).is_some_and(|s| s.life == *life);
                assert!(!goes_on || written == Some(*life), "{to} is welcomed and not in the roster");
                self.truth.welcomed.insert(*life);
            }
            _ => {}
        }
        if !to.is_operator() && !to.is_lead() {
            self.mail_control(Message::new(id, self.disk.team.lead_agent_id.clone(), to, body));
        }
    }
}

/// Notes what a mailbox holds unread. The inbox is locked meanwhile: mail that comes later finds it closed.
fn note_unread(disk: &mut Disk, name: &Name) {
    let inbox = disk.inboxes.entry(name.clone()).or_default();
    let mut reader = Reader::open(inbox);
    reader.poll(inbox);
    disk.dead.extend(reader.waiting.iter().map(|w| w.message.id));
}

fn short(event: &Event) -> String {
    match event {
        Event::Mail(message) => format!("mail {} {} {}", message.from.name, message.kind, message.body),
        other => format!("{other:?}"),
    }
}
