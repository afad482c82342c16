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
    /// One of the things that can happen next does.
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
        let count = 20 + rng.below(200);
        // Some worlds are calm and others are not.
        let rough = rng.of(&[0, 1, 1, 3]);
        let ops = (0..count).map(|_| op(&mut rng, rough, tied)).collect();
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
    spec.restart = rng.of(&[Restart::Never, Restart::OnFailure, Restart::Always]);
    spec.plan_mode_required = rng.one_in(3);
    spec.isolation = if rng.one_in(3) { Isolation::Worktree } else { Isolation::None };
    spec
}

fn op(rng: &mut Rng, rough: usize, tied: bool) -> Op {
    let who = rng.below(NAMES.len());
    let pick = rng.next() as usize >> 8;
    let yes = pick.is_multiple_of(2);
    match rng.below(100) {
        0..52 => Op::Happens(pick),
        52..57 => Op::Passes(rng.of(&[1, 400, 2500, 8500, 10_500, 31_000])),
        57..64 => Op::Verb(rng.below(9) as u8, who),
        64..68 => Op::Decide { which: pick, approve: rng.one_in(2), always: rng.one_in(4) },
        68..71 => Op::Board(rng.below(6) as u8, pick),
        71..75 => Op::Send(who),
        75 => Op::SendAgain,
        76..89 => Op::Program(who, rng.below(12) as u8, pick),
        89..91 => Op::Ends(who, i32::from(yes)),
        91 => Op::Turn(who, yes),
        92 => Op::Resume,
        93 if tied && rng.one_in(4) => Op::MakerGone,
        93 => Op::LosesWakeups(1 + rng.below(4) as u8),
        _ if rng.below(3) >= rough => Op::Happens(pick),
        94..96 => Op::Kill(who),
        96 => Op::Signal(who, yes),
        97 => Op::Slow(rng.below(NAMES.len() + 1), rng.of(&[300, 3000, 12_000])),
        98 => Op::LeadDies,
        _ => rng.of(&[Op::LeadDies, Op::LeadDies, Op::AllDie, Op::ServerDies]),
    }
}

/// How long a permission may stay open.
pub const PERMISSION_TIME: Duration = Duration::from_secs(40);
