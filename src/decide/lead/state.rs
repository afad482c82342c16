//! The lead's state, what can happen to it, and what it can want done.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::decide::ledger::{Ledger, LedgerRecord};
use crate::model::hook::{HookKind, Said};
use crate::model::id::{Life, MessageId, RequestId, SpawnId};
use crate::model::message::{Body, Message};
use crate::model::name::Name;
use crate::model::team::{Exit, Member, Team};
use crate::model::time::Timestamp;
use crate::model::tree::Tree;

/// What can happen to a lead.
#[derive(Clone, Debug)]
pub enum Event {
    /// A control message arrived.
    Mail(Message),
    /// tmux made a member's pane.
    PaneStarted { name: Name, life: Life, pane_id: String, pid: u32, start_time: String },
    /// tmux could not make it.
    PaneFailed { name: Name, life: Life, error: String },
    /// A member's work tree is there, and set up.
    TreeReady { name: Name, life: Life, tree: Box<Tree>, reused: bool },
    /// It could not be made.
    TreeFailed { name: Name, life: Life, error: String },
    /// What became of a work tree whose member has ended.
    TreeSettled { name: Name, tree: Box<Tree>, kept: Option<String> },
    /// A hook of the lead's own has run.
    HookSaid { kind: HookKind, name: Option<Name>, request: Option<RequestId>, said: Said },
    /// A life is over: its teammate and every process of it are gone (but for `left`, which cannot be ended).
    LifeEnded { name: Name, life: Life, exit: Exit, last_words: String, left: Vec<u32> },
    /// A task ran past its limit by so much that its teammate must be stuck.
    Stuck { name: Name, life: Life, why: String },
    /// The process that made the team, and whose team this is, is gone.
    MakerGone,
    /// Time has passed.
    Tick,
}

/// One start of a member.
#[derive(Clone, Debug, PartialEq)]
pub struct Start {
    pub name: Name,
    pub life: Life,
    pub spawn_id: SpawnId,
    /// The member's pane of an earlier life, to be used again if it is still there.
    pub old_pane: Option<(String, u32)>,
}

/// What the lead wants done. Effects are carried out in order.
#[derive(Clone, Debug)]
pub enum Effect {
    SaveTeam,
    Log(EventRecord),
    Ledger(LedgerRecord),
    Mail {
        to: Name,
        id: MessageId,
        body: Box<Body>,
    },
    WritePlan {
        id: RequestId,
        text: String,
    },
    Launch(Vec<Start>),
    /// The member's folder must be there: its program may come at any time.
    Expect {
        name: Name,
    },
    /// Report `LifeEnded` when this life's process is gone, which no pane tells of.
    Watch {
        name: Name,
        life: Life,
    },
    /// Make the member's work tree, or find it again, then report `TreeReady` or `TreeFailed`.
    MakeTree {
        name: Name,
        life: Life,
    },
    /// Remove the member's work tree if nothing was changed in it, then report `TreeSettled`.
    SettleTree {
        name: Name,
    },
    /// End the teammate of this life and everything that belongs to it, then report `LifeEnded`.
    EndLife {
        name: Name,
        life: Life,
        grace: Duration,
    },
    ClosePane {
        name: Name,
        pane_id: String,
        pid: u32,
    },
    ReturnTasks {
        name: Name,
        life: Life,
    },
    /// Give back what any life of the member but the current one still has on the board.
    ReturnStale {
        name: Name,
        current: Option<Life>,
    },
    CloseMail {
        name: Name,
        reason: String,
    },
    OpenMail {
        name: Name,
    },
    /// The lead itself ends.
    Finish(Finish),
}

/// Why the lead ends by its own decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finish {
    /// The first launch failed and was undone.
    LaunchFailed(String),
    /// Everyone is gone and the maker too: the team is to be taken down.
    TakeDown,
}

/// One line of `events.jsonl`, less `seq` and `ts`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EventRecord {
    #[serde(rename = "type")]
    pub kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub member: Option<Name>,
    #[serde(flatten)]
    pub fields: Map<String, Value>,
}

impl EventRecord {
    #[must_use]
    pub fn team(kind: &'static str) -> Self {
        Self { kind, member: None, fields: Map::new() }
    }

    #[must_use]
    pub fn of(kind: &'static str, member: &Name) -> Self {
        Self { kind, member: Some(member.clone()), fields: Map::new() }
    }

    #[must_use]
    pub fn with(mut self, key: &str, value: impl Serialize) -> Self {
        self.fields.insert(key.to_owned(), json!(value));
        self
    }
}

/// Where a seat's current life stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Its work tree is being made.
    Preparing,
    /// Launched; no hello yet.
    Starting { deadline: Timestamp },
    /// Said hello; its batch is not complete yet.
    Ready,
    /// In the roster and at work.
    Up,
    /// Being ended.
    Ending,
    /// Its next start is due then.
    Waiting { until: Timestamp },
    /// A member whose program somebody else starts: nobody has come for this life yet.
    Away,
    /// Ended for good.
    Out,
}

/// Why a life is being ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// Its shutdown was agreed, or its deadline passed.
    Shutdown,
    /// Ended without a handshake, for good.
    Stop,
    /// Another life follows at once.
    Restart,
    /// Its start is undone.
    Rollback,
    /// It does not do what it must; the restart policy decides what follows.
    Stuck,
    /// Its plan was approved; the execution follows.
    Execute,
}

/// A place in the team and what runs on it.
#[derive(Clone, Debug)]
pub struct Seat {
    pub life: Life,
    pub phase: Phase,
    /// When a life that has been asked to go is ended by force.
    pub stop_by: Option<Timestamp>,
    pub why: Option<Why>,
    /// It did not go by itself.
    pub forced: bool,
    /// Its work tree or its pane is being made. A look for its processes finds none yet, so its end is believed only
    /// after whoever makes them has told how that went.
    pub making: bool,
    /// tmux told of this life's pane. A hello may be quicker than that.
    pub placed: bool,
    /// Its pane went with the tmux server, which nobody meant as a stop.
    pub lost_terminal: bool,
    /// It had ended before this lead began: there is nothing to pause for, it failed under nobody's eyes once.
    pub found_dead: bool,
    /// This life plans; an approval makes the next one execute.
    pub planning: bool,
    /// Recent starts that came after a failure.
    pub failures: Vec<Timestamp>,
    /// The batch this seat joins with, until it has.
    pub batch: Option<SpawnId>,
    /// Verbs to answer when the next hello has come, or has not.
    pub on_up: Vec<MessageId>,
    /// Verbs to answer when the member is out.
    pub on_out: Vec<MessageId>,
}

impl Seat {
    pub(super) fn say_why(&mut self, why: Why) {
        let for_good = matches!(why, Why::Shutdown | Why::Stop | Why::Rollback);
        let goes_on = matches!(self.why, None | Some(Why::Restart | Why::Stuck | Why::Execute));
        if self.why.is_none() || (for_good && goes_on) {
            self.why = Some(why);
        }
    }
}

/// Members that join together or not at all.
#[derive(Clone, Debug, Default)]
pub(super) struct Batch {
    pub names: BTreeSet<Name>,
    pub failed: Option<String>,
    pub is_launch: bool,
    pub askers: Vec<MessageId>,
}

/// Several shutdowns that one verb asked for.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub asked_by: MessageId,
    pub pending: BTreeSet<Name>,
    pub stopped: Vec<Name>,
    pub forced: Vec<Name>,
    pub refused: Vec<(Name, String)>,
}

/// The lead.
#[derive(Clone, Debug)]
pub struct Lead {
    pub team: Team,
    pub ledger: Ledger,
    pub seats: BTreeMap<Name, Seat>,
    pub(super) batches: BTreeMap<SpawnId, Batch>,
    pub(super) groups: Vec<Group>,
    /// Starts so far, of anyone, under this lead.
    pub(super) starts: u64,
    /// The tmux server that the roster names is not the one this lead runs on.
    pub tmux_lost: bool,
    /// The kernel can confine programs.
    pub confines: bool,
    pub(super) maker_gone: bool,
    pub(super) finished: bool,
}

/// How long a life may take to end by itself once it is ended without a handshake.
pub(super) const STOP_GRACE: Duration = Duration::from_secs(3);
/// How long a planning program may live on after its plan was approved: 5 s of its own, and a margin.
pub(super) const PLAN_GRACE: Duration = Duration::from_secs(8);
/// The least that a member which agreed to go gets for going.
pub(super) const LEAVE_GRACE: Duration = Duration::from_secs(2);
/// The grace of a shutdown that names none.
pub const SHUTDOWN_GRACE: Duration = Duration::from_secs(30);

impl Lead {
    /// A lead over `team` with its replayed ledger. Call [`Lead::begin`] first.
    #[must_use]
    pub fn new(team: Team, ledger: Ledger) -> Self {
        Self {
            team,
            ledger,
            seats: BTreeMap::new(),
            batches: BTreeMap::new(),
            groups: Vec::new(),
            starts: 0,
            tmux_lost: false,
            confines: true,
            maker_gone: false,
            finished: false,
        }
    }

    /// One step.
    pub fn step(&mut self, event: Event, now: Timestamp) -> Vec<Effect> {
        let mut out = Vec::new();
        match event {
            Event::Mail(message) => self.mail(&message, now, &mut out),
            Event::PaneStarted { name, life, pane_id, pid, start_time } => {
                self.pane_started(&name, life, pane_id, pid, start_time, now, &mut out);
            }
            Event::PaneFailed { name, life, error } => self.pane_failed(&name, life, &error, now, &mut out),
            Event::TreeReady { name, life, tree, reused } => self.tree_ready(&name, life, *tree, reused, now, &mut out),
            Event::TreeFailed { name, life, error } => self.tree_failed(&name, life, &error, now, &mut out),
            Event::TreeSettled { name, tree, kept } => self.tree_settled(&name, &tree, kept, &mut out),
            Event::HookSaid { kind, name, request, said } => {
                self.hook_said(kind, name.as_ref(), request, said, now, &mut out);
            }
            Event::LifeEnded { name, life, exit, last_words, left } => {
                self.life_ended(&name, life, exit, &last_words, &left, now, &mut out);
            }
            Event::Stuck { name, life, why } => self.stuck(&name, life, &why, &mut out),
            Event::MakerGone => self.maker_gone(now, &mut out),
            Event::Tick => {}
        }
        self.timers(now, &mut out);
        self.settle_groups(&mut out);
        self.finish_if_done(&mut out);
        out
    }

    /// When [`Event::Tick`] is next of use.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Timestamp> {
        let seats = self.seats.values().flat_map(|seat| {
            let phase = match seat.phase {
                Phase::Starting { deadline } => Some(deadline),
                Phase::Waiting { until } => Some(until),
                _ => None,
            };
            [phase, seat.stop_by]
        });
        seats.chain([self.ledger.next_expiry()]).flatten().min()
    }

    /// Whether no start and no shutdown is under way.
    #[cfg(test)]
    #[must_use]
    pub fn rests(&self) -> bool {
        self.batches.is_empty() && self.groups.is_empty() && self.team.reserved.is_empty()
    }

    /// Whether any life is starting, up or ending.
    #[must_use]
    pub fn anyone_alive(&self) -> bool {
        self.seats.values().any(|s| !matches!(s.phase, Phase::Out | Phase::Away | Phase::Waiting { .. }))
    }

    fn mail(&mut self, message: &Message, now: Timestamp, out: &mut Vec<Effect>) {
        let Some(body) = message.typed() else {
            out.push(Effect::Log(
                EventRecord::of("mail_not_understood", &message.from.name).with("mail_type", &message.kind),
            ));
            return;
        };
        let from = &message.from.name;
        if !from.is_operator()
            && !from.is_lead()
            && commands(&body)
            && let Some(error) = self.refusal(from, &body)
        {
            return self.reply(message.id, 4, Some(error), Value::Null, out);
        }
        match body {
            Body::Hello { spawn_id, life, pid, start_time } => {
                self.hello(from, spawn_id, life, pid, start_time, now, out);
            }
            Body::SpawnRequest { spawn_id, spec } => self.spawn(message.id, spawn_id, *spec, now, out),
            Body::StopRequest { name } => self.stop(message.id, &name, now, out),
            Body::RestartRequest { name } => self.restart(message.id, &name, now, out),
            Body::ShutdownAsk { name, reason, grace_ms, force } => {
                let grace = grace_ms.map_or(SHUTDOWN_GRACE, Duration::from_millis);
                self.shutdown_ask(message, name.as_ref(), reason, grace, force, now, out);
            }
            Body::ShutdownResponse { request_id, approve, reason } => {
                self.shutdown_response(from, request_id, approve, reason, now, out);
            }
            Body::PlanApprovalRequest { request_id, life, plan, hash, summary } => {
                self.plan_request(from, request_id, life, &plan, hash, summary, now, out);
            }
            asked @ Body::PermissionRequest { .. } => self.permission_request(from, asked, now, out),
            Body::Withdraw { request_id, life } => self.withdraw_request(from, request_id, life, out),
            Body::Decide { request_id, approve, hash, feedback, always } => {
                self.decide(message, request_id, approve, hash.as_deref(), feedback, always, now, out);
            }
            Body::Leave { reason, .. } => {
                out.push(Effect::Log(EventRecord::of("member_leaving", from).with("reason", reason)));
            }
            Body::HookReport { hook, vetoed, said, task_id } => {
                self.hook_report(from, hook, vetoed, &said, task_id, out);
            }
            Body::Notice { notice, .. } => {
                out.push(Effect::Log(EventRecord::of("notice", from).with("notice", notice)));
            }
            // Replies and welcomes in the lead's own mailbox are its own words to the operator.
            _ => {}
        }
    }

    fn timers(&mut self, now: Timestamp, out: &mut Vec<Effect>) {
        self.expire_requests(now, out);
        let names: Vec<Name> = self.seats.keys().cloned().collect();
        for name in names {
            let Some(seat) = self.seats.get_mut(&name) else { continue };
            match seat.phase {
                Phase::Starting { deadline } if deadline <= now => {
                    let waited = self.team.settings.limits.hello;
                    out.push(Effect::Log(
                        EventRecord::of("hello_overdue", &name).with("waited_ms", waited.0.as_millis() as u64),
                    ));
                    self.end(&name, Why::Stuck, Duration::ZERO, out);
                }
                Phase::Waiting { until } if until <= now => self.launch_again(&name, now, out),
                _ if seat.stop_by.is_some_and(|at| at <= now) => {
                    let planned = seat.planning && seat.why.is_none() && !self.asked_to_go(&name);
                    let why = if planned { Why::Execute } else { Why::Shutdown };
                    if let Some(seat) = self.seats.get_mut(&name) {
                        seat.forced = !planned;
                    }
                    out.push(Effect::Log(EventRecord::of("end_forced", &name)));
                    self.end(&name, why, Duration::ZERO, out);
                }
                _ => {}
            }
        }
    }

    /// Begins to end the life on `name`'s seat. A reason that is already there stays, unless another life
    /// was to follow and now none is to.
    pub(super) fn end(&mut self, name: &Name, why: Why, grace: Duration, out: &mut Vec<Effect>) {
        let Some(seat) = self.seats.get_mut(name) else { return };
        if matches!(seat.phase, Phase::Out | Phase::Away | Phase::Waiting { .. }) {
            return;
        }
        seat.say_why(why);
        seat.phase = Phase::Ending;
        seat.stop_by = None;
        out.push(Effect::EndLife { name: name.clone(), life: seat.life, grace });
    }

    /// Answers a verb that somebody waits for.
    pub(super) fn reply(&self, to: MessageId, code: u8, error: Option<String>, answer: Value, out: &mut Vec<Effect>) {
        self.reply_with_hint(to, code, error, None, answer, out);
    }

    pub(super) fn reply_with_hint(
        &self,
        to: MessageId,
        code: u8,
        error: Option<String>,
        hint: Option<String>,
        answer: Value,
        out: &mut Vec<Effect>,
    ) {
        let id = MessageId::derived(&["reply", &to.to_string()]);
        let body = Box::new(Body::Reply { to, code, error, hint, answer });
        out.push(Effect::Mail { to: Name::operator(), id, body });
    }

    /// The roster entry on `name`, joined or reserved.
    pub(super) fn entry(&self, name: &Name) -> Option<&Member> {
        self.team.member(name).or_else(|| self.team.reserved.iter().find(|m| m.name == *name))
    }

    pub(super) fn entry_mut(&mut self, name: &Name) -> Option<&mut Member> {
        match self.team.members.iter_mut().find(|m| m.name == *name) {
            Some(member) => Some(member),
            None => self.team.reserved.iter_mut().find(|m| m.name == *name),
        }
    }
}

/// Whether this is a verb that members have no right to.
fn commands(body: &Body) -> bool {
    matches!(
        body,
        Body::SpawnRequest { .. }
            | Body::StopRequest { .. }
            | Body::RestartRequest { .. }
            | Body::ShutdownAsk { .. }
            | Body::Decide { .. }
    )
}
