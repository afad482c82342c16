//! What a seed stands for: a team, and what happens to it.

use std::time::Duration;

use serde_json::json;

use crate::model::id::{Life, SpawnId};
use crate::model::name::{AgentId, Name};
use crate::model::spec::{EngineKind, Isolation, MemberSpec, OnShutdown, Policy, Restart};
use crate::model::team::{Member, Settings, Team, TmuxPlace};
use crate::model::time::Timestamp;

pub const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];
/// How many of them are there from the beginning.
const LAUNCHED: usize = 3;
/// How many kinds of verbs there are for the lead.
pub const VERBS: usize = 12;

/// Random numbers that follow from their seed alone (SplitMix64).
#[derive(Clone, Debug)]
pub struct Rng(pub u64);

impl Rng {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, end: usize) -> usize {
        (self.next() >> 11) as usize % end.max(1)
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn of<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())].clone()
    }
}

#[derive(Clone, Copy, Debug)]
pub enum Op {
    /// Some of the things that can happen next do.
    Happens(usize),
    Passes(u64),
    /// A person's verb for the lead.
    Verb(u8, usize),
    Decide {
        which: usize,
        approve: bool,
        always: bool,
    },
    /// A person's hand on the board.
    Board(u8, usize),
    /// Mail from a person, or from a member's program.
    Send(usize),
    /// The last such mail once more, with the same id.
    SendAgain,
    /// A member's program does something.
    Program(usize, u8, usize),
    /// It ends by itself.
    Ends(usize, i32),
    Turn(usize, bool),
    Kill(usize),
    Signal(usize, bool),
    LeadDies,
    /// It dies after it has carried out so many more of its decisions.
    LeadDiesAfter(u8),
    /// A member's teammate does.
    MateDiesAfter(usize, u8),
    AllDie,
    ServerDies,
    /// `up --resume`.
    Resume,
    /// The next so many wake-ups are lost.
    LosesWakeups(u8),
    /// A process (the lead or a member's) does nothing for so long: its disk is slow, or it is stopped.
    Slow(usize, u64),
    MakerGone,
}

#[derive(Clone, Debug)]
pub struct Plan {
    pub seed: u64,
    /// The team is the maker's: its end is the team's end.
    pub tied: bool,
    /// Things begin to happen while the team is still being launched.
    pub early: bool,
    pub settings: Settings,
    pub specs: Vec<MemberSpec>,
    pub ops: Vec<Op>,
}

impl Plan {
    pub fn of(seed: u64) -> Self {
        let mut rng = Rng(seed);
        let tied = rng.one_in(5);
        let early = rng.one_in(6);
        let mut settings = Settings::default();
        settings.lead.plans = rng.of(&[Policy::Ask, Policy::Ask, Policy::Ask, Policy::Approve, Policy::Reject]);
        settings.lead.permissions = rng.of(&[Policy::Ask, Policy::Ask, Policy::Ask, Policy::Approve, Policy::Reject]);
        let specs = NAMES.iter().map(|name| spec(name, &mut rng)).collect();
        let count = 20 + rng.below(180);
        // Some worlds are calm and others are not.
        let rough = rng.of(&[0, 1, 1, 3]);
        let theme = rng.of(&[Theme::Mixed, Theme::Board, Theme::Mail, Theme::Requests, Theme::Lives]);
        let ops = (0..count).map(|_| op(&mut rng, theme, rough, tied)).collect();
        Self { seed, tied, early, settings, specs, ops }
    }

    pub fn spec(&self, who: &str) -> MemberSpec {
        self.specs.iter().find(|s| s.name.as_str() == who).expect("one of the names").clone()
    }

    /// The roster of a team that is to be launched.
    pub fn team(&self) -> Team {
        let team = name("t");
        let now = Timestamp(0);
        let place = |s: &MemberSpec| Member::reserve(s.clone(), &team, spawn_id(s.name.as_str()), now);
        let mut lead = place(&bare("team-lead"));
        (lead.engine, lead.spec, lead.is_active) = ("lead".to_owned(), None, false);
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
            reserved: self.specs.iter().take(LAUNCHED).map(place).collect(),
            launched: false,
            tied_to_maker: self.tied,
            settings: self.settings.clone(),
            extra: serde_json::Map::new(),
        }
    }
}

pub fn name(text: &str) -> Name {
    Name::parse_any(text).expect("a name")
}

pub fn spawn_id(text: &str) -> SpawnId {
    SpawnId::derived(&["test", text])
}

fn bare(text: &str) -> MemberSpec {
    serde_json::from_value(json!({"name": text, "cwd": "/"})).expect("a member")
}

fn spec(text: &str, rng: &mut Rng) -> MemberSpec {
    let mut spec = bare(text);
    spec.engine = rng.of(&[EngineKind::Command, EngineKind::Command, EngineKind::Acp]);
    spec.on_shutdown = rng.of(&[OnShutdown::Finish, OnShutdown::Ask, OnShutdown::Now]);
    spec.restart = rng.of(&[Restart::Never, Restart::OnFailure, Restart::Always, Restart::Always]);
    spec.plan_mode_required = rng.one_in(3);
    spec.isolation = if rng.one_in(3) { Isolation::Worktree } else { Isolation::None };
    spec
}

/// What a world is mostly about.
#[derive(Clone, Copy)]
enum Theme {
    Mixed,
    Board,
    Mail,
    Requests,
    Lives,
}

/// What may come next. `rough`: how often something dies.
fn op(rng: &mut Rng, theme: Theme, rough: usize, tied: bool) -> Op {
    if rng.below(100) < 52 {
        return Op::Happens(rng.next() as usize >> 8);
    }
    if rng.below(12) < rough {
        return misfortune(rng);
    }
    let theme = if rng.one_in(2) { Theme::Mixed } else { theme };
    let who = someone(rng);
    let pick = rng.next() as usize >> 8;
    let program = |rng: &mut Rng, what: &[u8]| Op::Program(who, rng.of(what), pick);
    match theme {
        Theme::Board if rng.one_in(3) => Op::Board(rng.of(&[0, 1, 3, 3, 4, 5]), pick),
        Theme::Board => program(rng, &[0, 0, 0, 1, 3, 3, 4, 5]),
        Theme::Mail if rng.one_in(5) => Op::SendAgain,
        Theme::Mail if rng.one_in(4) => program(rng, &[11]),
        Theme::Mail => Op::Send(who),
        Theme::Requests if rng.one_in(2) => program(rng, &[6, 7, 7, 7, 8, 9, 10]),
        Theme::Requests if rng.one_in(6) => Op::LeadDiesAfter(rng.below(8) as u8),
        Theme::Requests if rng.one_in(3) => Op::Verb(rng.of(&[4, 9, 9, 10]), who),
        Theme::Requests => Op::Decide { which: pick, approve: rng.one_in(2), always: rng.one_in(4) },
        Theme::Lives => Op::Verb(rng.below(VERBS) as u8, who),
        Theme::Mixed => mixed(rng, who, pick, tied),
    }
}

/// Mostly one of those who are there from the beginning.
fn someone(rng: &mut Rng) -> usize {
    let among = if rng.one_in(4) { NAMES.len() } else { LAUNCHED };
    rng.below(among)
}

fn mixed(rng: &mut Rng, who: usize, pick: usize, tied: bool) -> Op {
    let yes = pick.is_multiple_of(2);
    match rng.below(40) {
        0..6 => Op::Passes(rng.of(&[1, 400, 2500, 8500, 10_500, 31_000])),
        6..12 => Op::Verb(rng.below(VERBS) as u8, who),
        12..15 => Op::Decide { which: pick, approve: rng.one_in(2), always: rng.one_in(4) },
        15..18 => Op::Board(rng.below(6) as u8, pick),
        18..21 => Op::Send(who),
        21 => Op::SendAgain,
        22..32 => Op::Program(who, rng.below(12) as u8, pick),
        32..34 => Op::Ends(who, i32::from(yes)),
        34 => Op::Turn(who, yes),
        35 => Op::Resume,
        36 => Op::LosesWakeups(1 + rng.below(4) as u8),
        37 => Op::Slow(rng.below(NAMES.len() + 1), rng.of(&[300, 3000, 12_000])),
        38 if tied && rng.one_in(4) => Op::MakerGone,
        _ => Op::Happens(pick),
    }
}

fn misfortune(rng: &mut Rng) -> Op {
    let who = someone(rng);
    match rng.below(12) {
        0..2 => Op::Kill(who),
        2..5 => Op::MateDiesAfter(who, rng.below(6) as u8),
        5 => Op::Signal(who, rng.one_in(2)),
        6 => Op::LeadDies,
        7..10 => Op::LeadDiesAfter(rng.below(12) as u8),
        10 => Op::AllDie,
        _ => Op::ServerDies,
    }
}

/// How long a permission may stay open.
pub const PERMISSION_TIME: Duration = Duration::from_secs(40);
