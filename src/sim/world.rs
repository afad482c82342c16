//! The world around a team: its disk, its tmux, its processes, and what can happen next in it.

use std::collections::BTreeMap;
use std::time::Duration;

use super::disk::{Disk, Written};
use super::leader::Leader;
use super::member::Mate;
use super::plan::{NAMES, Plan, Rng, name};
use super::truth::{Asked, Truth};
use crate::decide::lead::{Event, Finish, Start, exit_of, reason};
use crate::decide::teammate::{self, Ended};
use crate::model::id::{Life, MessageId, TaskId};
use crate::model::message::{Body, Message};
use crate::model::name::{AgentId, Name};
use crate::model::time::Timestamp;
use crate::model::tree::Tree;

/// Everyone looks by himself after so long without a wake-up.
const LOOKS_AFTER: Duration = Duration::from_secs(10);

/// When a process does something.
#[derive(Clone, Copy, Debug)]
pub struct Alarm {
    pub woken: bool,
    pub looks_at: Timestamp,
    pub stalled_until: Timestamp,
}

impl Alarm {
    pub fn new(now: Timestamp) -> Self {
        Self { woken: true, looks_at: now.plus(LOOKS_AFTER), stalled_until: now }
    }

    pub fn looked(&mut self, now: Timestamp) {
        self.woken = false;
        self.looks_at = now.plus(LOOKS_AFTER);
    }

    pub fn looks(&self, now: Timestamp) -> bool {
        self.woken || self.looks_at <= now
    }
}

/// What is under way outside of the processes. What carries the number of a lead goes with that lead.
#[derive(Clone, Debug)]
pub enum Way {
    Pane(Start, u64),
    Tree(Name, Life, u64),
    Settle(Name, u64),
    /// A life is being ended.
    End(Name, Life, u64),
    /// A life's end was seen.
    Tell(Name, Life, u64),
    Ready(Life),
    Stops(Life),
}

impl Way {
    fn lead(&self) -> Option<u64> {
        match self {
            // A pane that tmux was asked for comes up whoever asked.
            Self::Pane(..) | Self::Ready(_) | Self::Stops(_) => None,
            Self::Tree(_, _, lead) | Self::Settle(_, lead) | Self::End(_, _, lead) | Self::Tell(_, _, lead) => {
                Some(*lead)
            }
        }
    }
}

/// Something that can happen next.
#[derive(Clone, Copy, Debug)]
pub enum Turn {
    Way(usize),
    LeadCarries,
    LeadHears,
    LeadLooks,
    LeadTicks,
    MateCarries(Life),
    MateLooks(Life),
    MateActs(Life),
    MateWish(Life),
    MateGives(Life),
    MateSignal(Life),
    MateTicks(Life),
}

pub struct World {
    pub plan: Plan,
    pub now: Timestamp,
    pub disk: Disk,
    pub lead: Option<Leader>,
    pub leads: u64,
    pub finished: Option<Finish>,
    /// The launch was cut off; whoever comes next puts the rest away.
    pub abandoned: bool,
    pub maker_gone: bool,
    pub server: u32,
    pub mates: BTreeMap<Life, Mate>,
    pub ways: Vec<Way>,
    pub truth: Truth,
    pub count: u64,
    pub steps: u64,
    pub losing: u8,
    /// What the members' programs remember of their claims, also of those of earlier lives.
    pub memory: BTreeMap<Name, Vec<(TaskId, u64)>>,
    pub last_sent: Option<(Name, Message)>,
    /// What happened, where somebody wants to read it.
    pub story: Option<Box<dyn FnMut(String)>>,
}

impl World {
    pub fn new(plan: &Plan, story: Option<Box<dyn FnMut(String)>>) -> Self {
        let mut world = Self {
            plan: plan.clone(),
            now: Timestamp(1_000_000_000_000),
            disk: Disk::new(plan.team()),
            lead: None,
            leads: 0,
            finished: None,
            abandoned: false,
            maker_gone: false,
            server: 1,
            mates: BTreeMap::new(),
            ways: Vec::new(),
            truth: Truth::default(),
            count: 0,
            steps: 0,
            losing: 0,
            memory: BTreeMap::new(),
            last_sent: None,
            story,
        };
        world.resume();
        world
    }

    pub fn tell(&mut self, what: impl FnOnce() -> String) {
        if let Some(story) = &mut self.story {
            story(format!("{:>9} ms  {}", self.now.0 / 1000 - 1_000_000_000, what()));
        }
    }

    /// A number that was not there before.
    pub fn fresh(&mut self) -> String {
        self.count += 1;
        self.count.to_string()
    }

    pub fn is_over(&self) -> bool {
        self.finished.is_some() || self.abandoned
    }

    pub fn running(&self, who: &Name) -> Option<Life> {
        self.mates.iter().find(|(_, mate)| mate.name == *who && mate.runs).map(|(life, _)| *life)
    }

    /// Everything that can happen at this moment.
    pub fn turns(&self) -> Vec<Turn> {
        let mut turns: Vec<Turn> = (0..self.ways.len()).map(Turn::Way).collect();
        if let Some(leader) = &self.lead {
            leader.turns(&self.disk, self.now, &mut turns);
        }
        for mate in self.mates.values().filter(|mate| mate.runs) {
            mate.turns(&self.disk, self.now, &mut turns);
        }
        turns
    }

    pub fn happens(&mut self, which: usize) -> bool {
        let turns = self.turns();
        let Some(pick) = which.checked_rem(turns.len()) else { return false };
        let turn = turns[pick];
        self.tell(|| format!("{turn:?}"));
        self.takes(turn, which / turns.len());
        true
    }

    fn takes(&mut self, turn: Turn, luck: usize) {
        match turn {
            Turn::Way(at) => {
                let way = self.ways.remove(at);
                self.goes(way, luck);
            }
            Turn::LeadCarries => self.lead_carries(),
            Turn::LeadHears => self.lead_hears(luck),
            Turn::LeadLooks => self.lead_looks(),
            Turn::LeadTicks => self.lead_ticks(),
            Turn::MateCarries(life) => self.mate_carries(life),
            Turn::MateLooks(life) => self.mate_looks(life),
            Turn::MateActs(life) => self.mate_acts(life),
            Turn::MateWish(life) => self.mate_wish(life),
            Turn::MateGives(life) => self.mate_gives(life),
            Turn::MateSignal(life) => {
                if let Some(event) = self.mates.get_mut(&life).and_then(|m| m.signals.pop_front()) {
                    self.mate_step(life, event);
                }
            }
            Turn::MateTicks(life) => self.mate_step(life, teammate::Event::Tick),
        }
    }

    /// Lets everything happen that can, and all that only waits for its time.
    pub fn quiet(&mut self) {
        let mut rng = Rng(self.plan.seed ^ 0x5eed);
        for _ in 0..40_000 {
            if self.lead.is_none() && !self.is_over() {
                self.resume();
            }
            if self.is_over() {
                // Nobody is left to take note of anything; the tmux server goes with all that is in it.
                self.ways.clear();
                return;
            }
            if self.happens(rng.next() as usize >> 1) {
                self.steps += 1;
                self.check();
                continue;
            }
            let Some(next) = self.next_time() else { return };
            self.passes(next.since(self.now).as_millis() as u64 + 1);
        }
        panic!("it never comes to rest");
    }

    /// When something can happen again.
    fn next_time(&self) -> Option<Timestamp> {
        let lead = self.lead.iter().filter_map(|leader| leader.next_time(&self.disk, self.now));
        let mates = self.mates.values().filter(|m| m.runs).filter_map(|m| m.next_time(&self.disk, self.now));
        lead.chain(mates).min()
    }

    pub fn passes(&mut self, ms: u64) {
        self.now = self.now.plus(Duration::from_millis(ms));
    }

    fn goes(&mut self, way: Way, luck: usize) {
        match way {
            Way::Pane(start, lead) => self.pane(&start, lead == self.leads, luck),
            Way::Tree(name, life, _) => {
                // A launch has to come up once; later on it goes wrong now and then.
                let failed = self.disk.team.launched && luck.is_multiple_of(5);
                self.hear(match failed {
                    true => Event::TreeFailed { name, life, error: "no".to_owned() },
                    false => {
                        let tree = Box::new(tree(&name));
                        Event::TreeReady { name, life, tree, reused: luck.is_multiple_of(2) }
                    }
                });
            }
            Way::Settle(name, _) => {
                let kept = luck.is_multiple_of(2).then(|| "a commit".to_owned());
                let tree = Box::new(tree(&name));
                self.hear(Event::TreeSettled { name, tree, kept });
            }
            Way::End(name, life, _) => {
                // One reacts to its TERM, another has to be killed.
                if luck.is_multiple_of(2) {
                    self.mate_step(life, teammate::Event::Terminated);
                    self.engine_ends(life, Ended { code: None, signal: Some(15) });
                    while self.mates.get(&life).is_some_and(|m| m.runs && m.is_busy()) {
                        self.mate_carries(life);
                    }
                }
                if let Some(mate) = self.mates.get_mut(&life) {
                    mate.runs = false;
                }
                self.ways.retain(|way| !matches!(way, Way::Stops(l) | Way::Ready(l) if *l == life));
                self.end_is_told(name, life);
            }
            Way::Tell(name, life, _) => self.end_is_told(name, life),
            Way::Ready(life) => self.mate_step(life, teammate::Event::EngineReady),
            Way::Stops(life) => self.engine_ends(life, Ended { code: None, signal: Some(15) }),
        }
    }

    pub fn end_is_told(&mut self, name: Name, life: Life) {
        let exit = self.mates.get(&life).and_then(|mate| mate.exit.clone());
        let exit = exit.unwrap_or_else(|| exit_of(life, reason::KILLED, self.now));
        self.hear(Event::LifeEnded { name, life, exit, last_words: String::new(), left: Vec::new() });
    }

    pub fn hear(&mut self, event: Event) {
        if let Some(leader) = &mut self.lead {
            leader.heard.push_back(event);
        }
    }

    /// tmux has made a pane, or could not.
    fn pane(&mut self, start: &Start, told: bool, luck: usize) {
        let (name, life) = (start.name.clone(), start.life);
        if told && self.disk.team.launched && luck % 9 == 4 {
            return self.hear(Event::PaneFailed { name, life, error: "no".to_owned() });
        }
        let count = self.fresh();
        let pid: u32 = count.parse().expect("a small number");
        if told {
            let pane_id = format!("%{count}");
            self.hear(Event::PaneStarted { name: name.clone(), life, pane_id, pid, start_time: "1".to_owned() });
        }
        let watched = |world: &mut Self| {
            if let Some(leader) = world.lead.as_mut().filter(|_| told) {
                leader.watched.insert(life);
            }
        };
        // What a teammate looks at first: the lease, and the roster.
        let entry = self.disk.team.members.iter().chain(&self.disk.team.reserved).find(|m| m.name == name).cloned();
        let entry = entry.filter(|m| m.life == Some(life) && self.running(&name).is_none());
        let Some(entry) = entry else {
            if told {
                self.ways.push(Way::Tell(name, life, self.leads));
            }
            return;
        };
        let verbs = self.verb_count();
        let mate = Mate::start(&entry, start, pid, verbs, &mut self.disk, self.now);
        self.mates.insert(life, mate);
        self.truth.count("lives of teammates");
        watched(self);
        self.ways.push(Way::Ready(life));
    }

    /// A process of a member is gone.
    pub fn mate_dies(&mut self, life: Life) {
        let Some(mate) = self.mates.get_mut(&life).filter(|m| m.runs) else { return };
        mate.runs = false;
        let name = mate.name.clone();
        self.truth.count(if mate.exit.is_some() { "teammates that ended" } else { "teammates killed" });
        self.ways.retain(|way| !matches!(way, Way::Stops(l) | Way::Ready(l) if *l == life));
        if self.lead.as_ref().is_some_and(|leader| leader.watched.contains(&life)) {
            self.ways.push(Way::Tell(name, life, self.leads));
        }
    }

    pub fn lead_dies(&mut self) {
        if self.lead.take().is_none() {
            return;
        }
        self.ways.retain(|way| way.lead().is_none());
        self.truth.lead_died();
        self.truth.count("deaths of leads");
        if !self.disk.team.launched {
            self.abandoned = true;
            self.mates.values_mut().for_each(|mate| mate.runs = false);
        }
    }

    pub fn all_die(&mut self) {
        self.lead_dies();
        self.server += 1;
        self.ways.clear();
        self.mates.values_mut().for_each(|mate| mate.runs = false);
    }

    /// The lead goes with its terminal; the teammates notice that theirs is gone.
    pub fn server_dies(&mut self) {
        self.lead_dies();
        self.server += 1;
        self.ways.retain(|way| !matches!(way, Way::Pane(..)));
        for mate in self.mates.values_mut().filter(|mate| mate.runs) {
            mate.signals.push_back(teammate::Event::HungUp);
        }
    }

    fn is_lost(&mut self) -> bool {
        let lost = self.losing > 0;
        self.losing = self.losing.saturating_sub(1);
        if lost {
            self.truth.count("wake-ups lost");
        }
        lost
    }

    /// Mail to the lead.
    pub fn mail_lead(&mut self, from: &Name, id: MessageId, body: &Body) {
        let message = Message::new(id, AgentId::new(from.clone(), name("t")), Name::lead(), body);
        let lost = self.is_lost();
        self.disk.control(&Name::lead()).append(message);
        if let Some(leader) = self.lead.as_mut().filter(|_| !lost) {
            leader.alarm.woken = true;
        }
    }

    /// Mail of the lead's to a member.
    pub fn mail_control(&mut self, message: Message) -> Written {
        let to = message.to.clone();
        let written = self.disk.control(&to).append(message);
        self.wakes(&to);
        written
    }

    pub fn mail_inbox(&mut self, message: Message) -> Written {
        let to = message.to.clone();
        let written = self.disk.inbox(&to).append(message);
        self.wakes(&to);
        written
    }

    fn wakes(&mut self, who: &Name) {
        let lost = self.is_lost();
        if let Some(life) = self.running(who).filter(|_| !lost)
            && let Some(mate) = self.mates.get_mut(&life)
        {
            mate.alarm.woken = true;
        }
    }

    /// A person asks the lead for something.
    pub fn verb(&mut self, body: &Body, asked: Asked) {
        let id = MessageId::derived(&["verb", &self.fresh()]);
        self.truth.asked(id, asked);
        self.mail_lead(&Name::operator(), id, body);
    }

    /// The process that is number `which` of the lead and the members stands still.
    pub fn slows(&mut self, which: usize, ms: u64) {
        let until = self.now.plus(Duration::from_millis(ms));
        match NAMES.get(which) {
            None => {
                if let Some(leader) = &mut self.lead {
                    leader.alarm.stalled_until = until;
                }
            }
            Some(who) => {
                if let Some(life) = self.running(&name(who))
                    && let Some(mate) = self.mates.get_mut(&life)
                {
                    mate.alarm.stalled_until = until;
                }
            }
        }
    }
}

fn tree(name: &Name) -> Tree {
    let path = format!("/trees/{name}");
    let common = "/repo/.git".to_owned();
    Tree {
        cwd: path.clone(),
        branch: format!("crewmux/t/{name}"),
        base: "0".to_owned(),
        repo: "/repo".to_owned(),
        git_dir: format!("{common}/worktrees/main"),
        common_dir: common,
        path,
    }
}
