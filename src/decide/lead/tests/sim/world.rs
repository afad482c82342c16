//! The world around a lead: tmux and its panes, mailboxes, teammates, and what is on disk when a lead dies.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::super::*;
use crate::decide::teammate::{self, Ended, Teammate};
use crate::model::spec::{Isolation, OnShutdown};
use crate::model::tree::Tree;

/// A teammate process.
pub struct Process {
    pub name: Name,
    pub mate: Teammate,
    pub runs: bool,
    /// The lead knows of it.
    pub known: bool,
    pub exit: Option<Exit>,
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

pub enum Way {
    /// Of which lead.
    Pane(Start, u64),
    Tree(Name, Life),
    Settle(Name),
    End(Name, Life),
    Ready(Life),
    Stops(Life),
}

pub struct Verb {
    pub given: usize,
    pub replies: usize,
    /// A lead died that knew of it: its asker has been told so.
    pub lost: bool,
}

pub struct Sim {
    pub now: Timestamp,
    pub lead: Lead,
    pub leads: u64,
    pub finished: bool,
    pub cut: Option<usize>,
    // What lies on disk.
    pub team: Team,
    pub ledger: Ledger,
    pub lead_mail: VecDeque<Message>,
    pub mail: BTreeMap<Name, VecDeque<Message>>,
    pub closed: BTreeSet<Name>,
    pub delivered: BTreeSet<(Name, MessageId)>,
    // What is under way; `heard` dies with the lead.
    pub ways: Vec<Way>,
    pub heard: VecDeque<Event>,
    pub processes: BTreeMap<Life, Process>,
    // What is checked.
    pub verbs: BTreeMap<MessageId, Verb>,
    pub said_hello: BTreeSet<SpawnId>,
    pub ended: BTreeSet<Life>,
    pub told_ended: BTreeSet<Life>,
    pub settled: BTreeMap<RequestId, RequestState>,
    pub last: Option<Message>,
    pub count: u64,
}

impl Sim {
    pub fn new() -> Self {
        let members = vec![
            with("a", |s| s.isolation = Isolation::Worktree),
            with("b", |s| (s.on_shutdown, s.restart) = (OnShutdown::Ask, Restart::Always)),
            with("c", |s| (s.plan_mode_required, s.restart) = (true, Restart::Never)),
        ];
        let team = team(members);
        let mut sim = Self {
            now: Timestamp(1_000_000_000_000),
            lead: Lead::new(team.clone(), Ledger::default()),
            leads: 0,
            finished: false,
            cut: None,
            team,
            ledger: Ledger::default(),
            lead_mail: VecDeque::new(),
            mail: BTreeMap::new(),
            closed: BTreeSet::new(),
            delivered: BTreeSet::new(),
            ways: Vec::new(),
            heard: VecDeque::new(),
            processes: BTreeMap::new(),
            verbs: BTreeMap::new(),
            said_hello: BTreeSet::new(),
            ended: BTreeSet::new(),
            told_ended: BTreeSet::new(),
            settled: BTreeMap::new(),
            last: None,
            count: 0,
        };
        sim.new_lead();
        sim.quiet();
        assert!(sim.lead.team.launched);
        sim
    }

    pub fn new_lead(&mut self) {
        self.leads += 1;
        self.heard.clear();
        // Whoever carried an end out died with the lead; panes that tmux was asked for still come.
        self.ways.retain(|way| !matches!(way, Way::End(..) | Way::Tree(..) | Way::Settle(..)));
        self.lead = Lead::new(self.team.clone(), self.ledger.clone());
        let mut alive = Vec::new();
        for (life, process) in &mut self.processes {
            let recorded = self.team.member(&process.name).is_some_and(|m| m.is_active && m.life == Some(*life));
            process.known = process.runs && recorded;
            if process.known {
                alive.push(process.name.clone());
            }
        }
        let effects = self.lead.begin(&alive, Life::derived(&["lead", &self.leads.to_string()]), self.now);
        self.carry(effects);
    }

    pub fn step(&mut self, event: Event) {
        if self.finished {
            return;
        }
        if let Event::LifeEnded { life, .. } = &event {
            self.told_ended.insert(*life);
        }
        let effects = self.lead.step(event, self.now);
        self.carry(effects);
    }

    pub fn carry(&mut self, mut effects: Vec<Effect>) {
        let cut = self.cut.take();
        if let Some(cut) = cut {
            effects.truncate(cut);
        }
        let mut dirty = false;
        for effect in effects {
            match effect {
                Effect::SaveTeam => dirty = true,
                Effect::Ledger(record) => self.keep(record),
                Effect::Mail { to, id, body } => {
                    self.save(&mut dirty);
                    self.deliver(to, id, &body);
                }
                Effect::Launch(starts) => {
                    self.save(&mut dirty);
                    for start in starts {
                        self.may_launch(&start);
                        self.ways.push(Way::Pane(start, self.leads));
                    }
                }
                Effect::EndLife { name, life, .. } => {
                    self.ended.insert(life);
                    self.ways.push(Way::End(name, life));
                }
                Effect::MakeTree { name, life } => self.ways.push(Way::Tree(name, life)),
                Effect::SettleTree { name } => self.ways.push(Way::Settle(name)),
                Effect::CloseMail { name, .. } => drop(self.closed.insert(name)),
                Effect::OpenMail { name } => drop(self.closed.remove(&name)),
                Effect::Finish(_) => self.finished = true,
                Effect::Log(_) | Effect::WritePlan { .. } | Effect::ClosePane { .. } | Effect::ReturnTasks { .. } => {}
            }
        }
        if cut.is_none() {
            self.save(&mut dirty);
        } else if !self.finished {
            self.verbs.values_mut().for_each(|v| v.lost = true);
            let again = self.last.clone();
            self.new_lead();
            // What was at hand is given again.
            self.lead_mail.extend(again);
        }
    }

    pub fn save(&mut self, dirty: &mut bool) {
        if std::mem::take(dirty) {
            self.team = self.lead.team.clone();
        }
    }

    pub fn may_launch(&self, start: &Start) {
        // One whose pane came after its end was told is held off by the lease alone.
        let known = |life: &Life, p: &Process| p.runs && p.known && !self.told_ended.contains(life);
        let other = self.processes.iter().find(|(life, p)| p.name == start.name && known(life, p));
        assert!(other.is_none(), "{} is launched while its life {:?} runs", start.name, other.map(|o| o.0));
        assert!(!self.lead.maker_gone, "launched while closing");
    }

    pub fn keep(&mut self, record: LedgerRecord) {
        let request = record.request().unwrap();
        if request.state != RequestState::Open {
            let first = *self.settled.entry(request.id).or_insert(request.state);
            assert_eq!(first, request.state, "{} is settled once", request.id);
            let decided = matches!(request.state, RequestState::Approved | RequestState::Rejected);
            assert_eq!(request.decision.is_some(), decided);
        }
        self.ledger.apply(record);
    }

    pub fn deliver(&mut self, to: Name, id: MessageId, body: &Body) {
        if let Body::Reply { to, .. } = body {
            let verb = self.verbs.get_mut(to).expect("only what was asked is answered");
            verb.replies += 1;
            assert!(verb.lost || verb.replies <= verb.given, "answered more often than asked");
        } else if !self.closed.contains(&to) && self.delivered.insert((to.clone(), id)) {
            let message = Message::new(id, self.team.lead_agent_id.clone(), to.clone(), body);
            self.mail.entry(to).or_default().push_back(message);
        }
    }

    pub fn writes_lead(&mut self, from: &Name, id: MessageId, body: &Body) {
        let from = AgentId::new(from.clone(), name("t"));
        self.lead_mail.push_back(Message::new(id, from, Name::lead(), body));
    }

    pub fn verb(&mut self, body: &Body) {
        self.count += 1;
        let id = MessageId::derived(&["verb", &self.count.to_string()]);
        self.verbs.insert(id, Verb { given: 0, replies: 0, lost: false });
        self.writes_lead(&Name::operator(), id, body);
    }

    pub fn running(&self, who: &str) -> Option<Life> {
        self.processes.iter().find(|(_, p)| p.name.as_str() == who && p.runs).map(|(life, _)| *life)
    }

    pub fn mate(&mut self, life: Life, event: teammate::Event) {
        let now = self.now;
        let Some(process) = self.processes.get_mut(&life).filter(|p| p.runs) else { return };
        let effects = process.mate.step(event, now);
        self.mate_wants(life, effects);
    }

    pub fn mate_wants(&mut self, life: Life, effects: Vec<teammate::Effect>) {
        let who = self.processes[&life].name.clone();
        for effect in effects {
            match effect {
                teammate::Effect::Mail { id, body } => {
                    if let Body::Hello { spawn_id, .. } = *body {
                        self.said_hello.insert(spawn_id);
                    }
                    self.writes_lead(&who, id, &body);
                }
                teammate::Effect::StopEngine { .. } => self.ways.push(Way::Stops(life)),
                teammate::Effect::Exit { reason, ended } => {
                    let exit = exit_of(life, reason, self.now);
                    self.dies(life, Some(Exit { code: ended.code, signal: ended.signal, ..exit }));
                }
                _ => {}
            }
        }
    }

    pub fn dies(&mut self, life: Life, exit: Option<Exit>) {
        let Some(process) = self.processes.get_mut(&life).filter(|p| p.runs) else { return };
        process.runs = false;
        process.exit = exit;
        if process.known {
            let name = process.name.clone();
            self.tell_end(name, life);
        }
    }

    pub fn tell_end(&mut self, name: Name, life: Life) {
        let exit = self.processes.get(&life).and_then(|p| p.exit.clone());
        let exit = exit.unwrap_or_else(|| exit_of(life, reason::KILLED, self.now));
        self.heard.push_back(Event::LifeEnded { name, life, exit, last_words: String::new(), left: Vec::new() });
    }

    /// How many things are under way.
    pub fn under_way(&self) -> usize {
        let mates = self.mail.iter().filter(|(who, mail)| !mail.is_empty() && self.running(who.as_str()).is_some());
        self.ways.len() + usize::from(!self.heard.is_empty()) + usize::from(!self.lead_mail.is_empty()) + mates.count()
    }

    pub fn happens(&mut self, which: usize) {
        let count = self.under_way();
        let Some(mut which) = which.checked_rem(count) else { return };
        if which < self.ways.len() {
            let way = self.ways.remove(which);
            return self.goes(way, count);
        }
        which -= self.ways.len();
        if let Some(event) = self.heard.front().cloned().filter(|_| which == 0) {
            self.heard.pop_front();
            self.last = None;
            return self.step(event);
        }
        which -= usize::from(!self.heard.is_empty());
        if let Some(message) = self.lead_mail.front().cloned().filter(|_| which == 0) {
            self.lead_mail.pop_front();
            return self.lead_reads(message);
        }
        which -= usize::from(!self.lead_mail.is_empty());
        let there = self.mail.iter().filter(|(who, mail)| !mail.is_empty() && self.running(who.as_str()).is_some());
        let who = there.map(|(who, _)| who.clone()).nth(which).unwrap();
        let life = self.running(who.as_str()).unwrap();
        let message = self.mail.get_mut(&who).and_then(VecDeque::pop_front).unwrap();
        self.mate(life, teammate::Event::Control(Box::new(message)));
    }

    pub fn lead_reads(&mut self, message: Message) {
        if let Some(verb) = self.verbs.get_mut(&message.id) {
            verb.given += 1;
        }
        self.last = Some(message.clone());
        self.step(Event::Mail(message));
    }

    pub fn goes(&mut self, way: Way, luck: usize) {
        match way {
            Way::Pane(start, lead) => self.pane(start, lead == self.leads),
            Way::Tree(name, life) => {
                // A launch has to come up once; later on it goes wrong now and then.
                let failed = self.team.launched && luck.is_multiple_of(3);
                self.heard.push_back(match failed {
                    true => Event::TreeFailed { name, life, error: "no".to_owned() },
                    false => {
                        let tree = Box::new(tree(&name));
                        Event::TreeReady { name, life, tree, reused: luck.is_multiple_of(2) }
                    }
                });
            }
            Way::Settle(name) => {
                let kept = luck.is_multiple_of(2).then(|| "a commit".to_owned());
                let tree = Box::new(tree(&name));
                self.heard.push_back(Event::TreeSettled { name, tree, kept });
            }
            Way::End(name, life) => {
                // One reacts to its TERM, another has to be killed.
                if luck.is_multiple_of(2) {
                    self.mate(life, teammate::Event::Terminated);
                    self.mate(life, teammate::Event::EngineEnded(Ended { code: None, signal: Some(15) }));
                }
                self.ways.retain(|way| !matches!(way, Way::Stops(l) | Way::Ready(l) if *l == life));
                if let Some(process) = self.processes.get_mut(&life).filter(|p| p.runs) {
                    process.runs = false;
                }
                self.tell_end(name, life);
            }
            Way::Ready(life) => self.mate(life, teammate::Event::EngineReady),
            Way::Stops(life) => {
                self.mate(life, teammate::Event::EngineEnded(Ended { code: None, signal: Some(15) }));
            }
        }
    }

    pub fn pane(&mut self, start: Start, told: bool) {
        if self.finished {
            // The team is being taken down, its tmux server with it.
            return;
        }
        self.count += 1;
        let pid = u32::try_from(self.count).unwrap();
        let (name, life) = (start.name.clone(), start.life);
        let started = Event::PaneStarted { name, life, pane_id: format!("%{pid}"), pid, start_time: "1".to_owned() };
        if told {
            self.heard.push_back(started);
        }
        // What a teammate looks at first: the lease, and the roster.
        let entry = self.team.members.iter().chain(&self.team.reserved).find(|m| m.name == start.name).cloned();
        let entry = entry.filter(|m| m.life == Some(start.life) && self.running(start.name.as_str()).is_none());
        let Some(entry) = entry else {
            if told {
                self.tell_end(start.name, start.life);
            }
            return;
        };
        let planning = entry.plan_mode_required && entry.plan_id.is_none();
        let mate = Teammate::new(start.life, start.spawn_id, pid, 1, &entry.spec.unwrap(), planning);
        let process = Process { name: start.name, mate, runs: true, known: told, exit: None };
        self.processes.insert(start.life, process);
        self.ways.push(Way::Ready(start.life));
    }

    pub fn passes(&mut self, ms: u64) {
        self.now = self.now.plus(Duration::from_millis(ms));
        self.last = None;
        self.step(Event::Tick);
        for life in self.processes.keys().copied().collect::<Vec<_>>() {
            self.mate(life, teammate::Event::Tick);
        }
    }
}
