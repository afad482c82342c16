//! A lead and its teammates, with everything between them going wrong at random: crashes, late panes, mail that
//! comes again, people who ask for one thing and then another.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use proptest::prelude::*;

use super::*;
use crate::decide::teammate::{self, Ended, Teammate};
use crate::model::id::TaskId;
use crate::model::spec::OnShutdown;

const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];

#[derive(Clone, Debug)]
enum Op {
    /// One of the things under way happens.
    Happens(usize),
    Passes(u64),
    Verb(u8, usize),
    Decide(usize, bool),
    Kill(usize),
    /// The program ends by itself.
    Ends(usize, i32),
    Signal(usize, bool),
    Plan(usize),
    Task(usize, bool),
    OwnWord(usize, bool),
    /// The lead dies after so many effects of its next step, and another begins.
    Crash(usize),
    /// The last mail to the lead comes again.
    Again,
}

fn op() -> impl Strategy<Value = Op> {
    let who = || 0..NAMES.len();
    prop_oneof![
        30 => any::<usize>().prop_map(Op::Happens),
        4 => prop::sample::select(vec![1, 400, 2500, 8500, 31_000]).prop_map(Op::Passes),
        8 => (0..8u8, who()).prop_map(|(verb, who)| Op::Verb(verb, who)),
        2 => (any::<usize>(), any::<bool>()).prop_map(|(n, yes)| Op::Decide(n, yes)),
        2 => who().prop_map(Op::Kill),
        2 => (who(), 0..2i32).prop_map(|(who, code)| Op::Ends(who, code)),
        1 => (who(), any::<bool>()).prop_map(|(who, hup)| Op::Signal(who, hup)),
        2 => who().prop_map(Op::Plan),
        2 => (who(), any::<bool>()).prop_map(|(who, takes)| Op::Task(who, takes)),
        2 => (who(), any::<bool>()).prop_map(|(who, yes)| Op::OwnWord(who, yes)),
        1 => (0..12usize).prop_map(Op::Crash),
        1 => Just(Op::Again),
    ]
}

/// A teammate process.
struct Process {
    name: Name,
    mate: Teammate,
    runs: bool,
    /// The lead knows of it.
    known: bool,
    exit: Option<Exit>,
}

enum Way {
    /// Of which lead.
    Pane(Start, u64),
    End(Name, Life),
    Ready(Life),
    Stops(Life),
}

struct Verb {
    given: usize,
    replies: usize,
    /// A lead died that knew of it: its asker has been told so.
    lost: bool,
}

struct Sim {
    now: Timestamp,
    lead: Lead,
    leads: u64,
    finished: bool,
    cut: Option<usize>,
    // What lies on disk.
    team: Team,
    ledger: Ledger,
    lead_mail: VecDeque<Message>,
    mail: BTreeMap<Name, VecDeque<Message>>,
    closed: BTreeSet<Name>,
    delivered: BTreeSet<(Name, MessageId)>,
    // What is under way; `heard` dies with the lead.
    ways: Vec<Way>,
    heard: VecDeque<Event>,
    processes: BTreeMap<Life, Process>,
    // What is checked.
    verbs: BTreeMap<MessageId, Verb>,
    said_hello: BTreeSet<SpawnId>,
    ended: BTreeSet<Life>,
    told_ended: BTreeSet<Life>,
    settled: BTreeMap<RequestId, RequestState>,
    last: Option<Message>,
    count: u64,
}

impl Sim {
    fn new() -> Self {
        let members = vec![
            spec("a"),
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

    fn new_lead(&mut self) {
        self.leads += 1;
        self.heard.clear();
        // Whoever carried an end out died with the lead; panes that tmux was asked for still come.
        self.ways.retain(|way| !matches!(way, Way::End(..)));
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

    fn step(&mut self, event: Event) {
        if self.finished {
            return;
        }
        if let Event::LifeEnded { life, .. } = &event {
            self.told_ended.insert(*life);
        }
        let effects = self.lead.step(event, self.now);
        self.carry(effects);
    }

    fn carry(&mut self, mut effects: Vec<Effect>) {
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

    fn save(&mut self, dirty: &mut bool) {
        if std::mem::take(dirty) {
            self.team = self.lead.team.clone();
        }
    }

    fn may_launch(&self, start: &Start) {
        // One whose pane came after its end was told is held off by the lease alone.
        let known = |life: &Life, p: &Process| p.runs && p.known && !self.told_ended.contains(life);
        let other = self.processes.iter().find(|(life, p)| p.name == start.name && known(life, p));
        assert!(other.is_none(), "{} is launched while its life {:?} runs", start.name, other.map(|o| o.0));
        assert!(!self.lead.maker_gone, "launched while closing");
    }

    fn keep(&mut self, record: LedgerRecord) {
        let request = record.request().unwrap();
        if request.state != RequestState::Open {
            let first = *self.settled.entry(request.id).or_insert(request.state);
            assert_eq!(first, request.state, "{} is settled once", request.id);
            let decided = matches!(request.state, RequestState::Approved | RequestState::Rejected);
            assert_eq!(request.decision.is_some(), decided);
        }
        self.ledger.apply(record);
    }

    fn deliver(&mut self, to: Name, id: MessageId, body: &Body) {
        if let Body::Reply { to, .. } = body {
            let verb = self.verbs.get_mut(to).expect("only what was asked is answered");
            verb.replies += 1;
            assert!(verb.lost || verb.replies <= verb.given, "answered more often than asked");
        } else if !self.closed.contains(&to) && self.delivered.insert((to.clone(), id)) {
            let message = Message::new(id, self.team.lead_agent_id.clone(), to.clone(), body);
            self.mail.entry(to).or_default().push_back(message);
        }
    }

    fn to_lead(&mut self, from: &Name, id: MessageId, body: &Body) {
        let from = AgentId::new(from.clone(), name("t"));
        self.lead_mail.push_back(Message::new(id, from, Name::lead(), body));
    }

    fn verb(&mut self, body: &Body) {
        self.count += 1;
        let id = MessageId::derived(&["verb", &self.count.to_string()]);
        self.verbs.insert(id, Verb { given: 0, replies: 0, lost: false });
        self.to_lead(&Name::operator(), id, body);
    }

    fn running(&self, who: &str) -> Option<Life> {
        self.processes.iter().find(|(_, p)| p.name.as_str() == who && p.runs).map(|(life, _)| *life)
    }

    fn mate(&mut self, life: Life, event: teammate::Event) {
        let now = self.now;
        let Some(process) = self.processes.get_mut(&life).filter(|p| p.runs) else { return };
        let effects = process.mate.step(event, now);
        self.mate_wants(life, effects);
    }

    fn mate_wants(&mut self, life: Life, effects: Vec<teammate::Effect>) {
        let who = self.processes[&life].name.clone();
        for effect in effects {
            match effect {
                teammate::Effect::Mail { id, body } => {
                    if let Body::Hello { spawn_id, .. } = *body {
                        self.said_hello.insert(spawn_id);
                    }
                    self.to_lead(&who, id, &body);
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

    fn dies(&mut self, life: Life, exit: Option<Exit>) {
        let Some(process) = self.processes.get_mut(&life).filter(|p| p.runs) else { return };
        process.runs = false;
        process.exit = exit;
        if process.known {
            let name = process.name.clone();
            self.tell_end(name, life);
        }
    }

    fn tell_end(&mut self, name: Name, life: Life) {
        let exit = self.processes.get(&life).and_then(|p| p.exit.clone());
        let exit = exit.unwrap_or_else(|| exit_of(life, reason::KILLED, self.now));
        self.heard.push_back(Event::LifeEnded { name, life, exit, last_words: String::new(), left: Vec::new() });
    }

    /// How many things are under way.
    fn under_way(&self) -> usize {
        let mates = self.mail.iter().filter(|(who, mail)| !mail.is_empty() && self.running(who.as_str()).is_some());
        self.ways.len() + usize::from(!self.heard.is_empty()) + usize::from(!self.lead_mail.is_empty()) + mates.count()
    }

    fn happens(&mut self, which: usize) {
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

    fn lead_reads(&mut self, message: Message) {
        if let Some(verb) = self.verbs.get_mut(&message.id) {
            verb.given += 1;
        }
        self.last = Some(message.clone());
        self.step(Event::Mail(message));
    }

    fn goes(&mut self, way: Way, luck: usize) {
        match way {
            Way::Pane(start, lead) => self.pane(start, lead == self.leads),
            Way::End(name, life) => {
                // One reacts to its TERM, another has to be killed.
                if luck % 2 == 0 {
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

    fn pane(&mut self, start: Start, told: bool) {
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

    fn passes(&mut self, ms: u64) {
        self.now = self.now.plus(Duration::from_millis(ms));
        self.last = None;
        self.step(Event::Tick);
        for life in self.processes.keys().copied().collect::<Vec<_>>() {
            self.mate(life, teammate::Event::Tick);
        }
    }

    /// Lets everything happen that is under way, and all that only waits for its time.
    fn quiet(&mut self) {
        for n in 0..20_000 {
            if self.under_way() > 0 {
                self.happens(n);
                self.check();
                continue;
            }
            let mates = self.processes.values().filter(|p| p.runs).filter_map(|p| p.mate.next_deadline());
            let lead = self.lead.next_deadline().filter(|_| !self.finished);
            let Some(next) = mates.chain(lead).min() else { return };
            self.passes(next.since(self.now).as_millis() as u64 + 1);
        }
        panic!("it never comes to rest");
    }

    fn check(&self) {
        for member in self.lead.team.teammates() {
            assert!(self.said_hello.contains(&member.spawn_id), "{} never said hello", member.name);
        }
        let names: BTreeSet<&Name> =
            self.lead.team.members.iter().chain(&self.lead.team.reserved).map(|m| &m.name).collect();
        assert_eq!(names.len(), self.lead.team.members.len() + self.lead.team.reserved.len(), "a name is there once");
    }

    /// Who runs. Not counted is a known limit: a start that was undone, whose pane came late, and whose end a lead had
    /// begun when it died. It is in no file any more; it never joined, and goes with the tmux server.
    fn runners(&self) -> impl Iterator<Item = (&Life, &Process)> {
        let stray = |life: &Life, p: &Process| {
            let seated = self.lead.seats.values().any(|s| s.life == *life);
            !seated && !p.mate.joined() && self.ended.contains(life)
        };
        self.processes.iter().filter(move |(life, p)| p.runs && !stray(life, p))
    }

    /// What must hold once nothing is under way.
    fn check_quiet(&self) {
        self.check();
        for (id, verb) in &self.verbs {
            let answered = if verb.given == 1 { verb.replies == 1 } else { verb.replies >= 1 };
            assert!(verb.lost || answered, "{id} was given {} times and answered {}", verb.given, verb.replies);
        }
        for (life, process) in self.runners() {
            let seat = self.lead.seats.get(&process.name);
            assert!(seat.is_some_and(|s| s.life == *life), "{} runs in a life that nobody knows", process.name);
            let phase = seat.map(|s| s.phase);
            assert!(phase == Some(Phase::Up), "{} runs and is {phase:?}", process.name);
            assert!(process.mate.joined(), "{} was never welcomed", process.name);
        }
        for (name, seat) in &self.lead.seats {
            let runs = self.runners().any(|(_, p)| p.name == *name);
            assert_eq!(seat.phase == Phase::Up, runs, "{name} is {:?}", seat.phase);
            assert_eq!(self.lead.team.member(name).is_some_and(|m| m.is_active), runs, "{name}");
        }
        assert!(self.lead.team.reserved.is_empty() && self.lead.batches.is_empty() && self.lead.groups.is_empty());
        assert_eq!(self.lead.team, self.team, "the roster is on disk");
    }

    fn does(&mut self, op: Op) {
        match op {
            Op::Happens(which) => self.happens(which),
            Op::Passes(ms) => self.passes(ms),
            Op::Verb(verb, who) => self.asks(verb, NAMES[who]),
            Op::Decide(which, approve) => {
                let ids: Vec<RequestId> = self.ledger.requests().keys().copied().collect();
                let Some(which) = which.checked_rem(ids.len()) else { return };
                let request_id = ids[which];
                self.verb(&Body::Decide { request_id, approve, hash: None, feedback: None, always: false });
            }
            Op::Kill(who) => {
                if let Some(life) = self.running(NAMES[who]) {
                    self.dies(life, None);
                }
            }
            Op::Ends(who, code) => {
                if let Some(life) = self.running(NAMES[who]) {
                    self.mate(life, teammate::Event::EngineEnded(Ended { code: Some(code), signal: None }));
                }
            }
            Op::Signal(who, hup) => {
                let event = if hup { teammate::Event::HungUp } else { teammate::Event::Terminated };
                if let Some(life) = self.running(NAMES[who]) {
                    self.mate(life, event);
                }
            }
            Op::Plan(who) => self.plans(NAMES[who]),
            Op::Task(who, takes) => {
                let Some(life) = self.running(NAMES[who]) else { return };
                let id = TaskId(1);
                let taken = teammate::Event::TaskTaken { id, epoch: 1 };
                self.mate(life, if takes { taken } else { teammate::Event::TaskLeft { id } });
            }
            Op::OwnWord(who, approve) => {
                let Some(life) = self.running(NAMES[who]) else { return };
                let mate = &mut self.processes.get_mut(&life).unwrap().mate;
                let Some((id, _)) = mate.asked() else { return };
                if let Ok(effects) = mate.own_decision(id, approve, None) {
                    self.mate_wants(life, effects);
                }
            }
            Op::Crash(after) => self.cut = Some(after),
            Op::Again => {
                if let Some(message) = self.last.clone() {
                    self.lead_mail.push_back(message);
                }
            }
        }
        self.check();
    }

    fn plans(&mut self, who: &str) {
        let Some(life) = self.running(who).filter(|life| self.processes[life].mate.joined()) else { return };
        self.count += 1;
        let request_id = RequestId::derived(&["plan", &self.count.to_string()]);
        let (plan, hash) = ("p".to_owned(), "h".to_owned());
        let body = Body::PlanApprovalRequest { request_id, life, plan, hash, summary: None };
        self.to_lead(&name(who), MessageId::derived(&["plan", &self.count.to_string()]), &body);
        self.mate(life, teammate::Event::PlanSubmitted(request_id));
    }

    fn asks(&mut self, verb: u8, who: &str) {
        let ask = |name, grace_ms, force| Body::ShutdownAsk { name, reason: None, grace_ms: Some(grace_ms), force };
        let body = match verb {
            0 | 1 => Body::SpawnRequest { spawn_id: spawn_id(who), spec: Box::new(spec(who)) },
            2 => Body::StopRequest { name: name(who) },
            3 | 4 => Body::RestartRequest { name: name(who) },
            5 => ask(Some(name(who)), 5000, false),
            6 => ask(None, 20_000, false),
            _ => ask(Some(name(who)), 1000, true),
        };
        self.verb(&body);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_a_team_keeps_its_promises(ops in prop::collection::vec(op(), 1..120)) {
        let mut sim = Sim::new();
        for op in ops {
            sim.does(op);
        }
        sim.cut = None;
        sim.quiet();
        sim.check_quiet();

        sim.verb(&Body::ShutdownAsk { name: None, reason: None, grace_ms: Some(5000), force: false });
        sim.quiet();
        sim.check_quiet();
        assert_eq!(sim.runners().count(), 0, "nobody is left");
    }

    #[test]
    fn a_team_whose_maker_goes_ends_by_itself(ops in prop::collection::vec(op(), 1..60), then in prop::collection::vec(op(), 1..60)) {
        let mut sim = Sim::new();
        sim.lead.team.tied_to_maker = true;
        sim.team.tied_to_maker = true;
        for op in ops {
            sim.does(op);
        }
        sim.cut = None;
        sim.step(Event::MakerGone);
        for op in then.into_iter().filter(|op| !matches!(op, Op::Crash(_))) {
            sim.does(op);
        }
        sim.quiet();
        sim.check();
        assert!(sim.finished, "the lead goes last");
        // A pane that came after its life was ended is the tmux server's, which goes now.
        let left: Vec<&Process> = sim.processes.iter().filter(|(l, p)| p.runs && !sim.ended.contains(l)).map(|p| p.1).collect();
        assert!(left.is_empty(), "{:?} is left", left[0].name);
    }
}
