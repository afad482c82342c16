//! The shutdown handshake: ask, wait for the answer, and say "gone" only when everything is gone.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::{Value, json};

use super::state::{Effect, EventRecord, Group, LEAVE_GRACE, Lead, Phase, STOP_GRACE, Seat, Why};
use crate::decide::plant::{Fault, planted};
use crate::model::id::{MessageId, RequestId};
use crate::model::message::{Body, Message};
use crate::model::name::{AgentId, Name};
use crate::model::request::{Request, RequestKind, RequestState};
use crate::model::time::Timestamp;

/// What stands where a refusal gives no reason.
const NO_REASON: &str = "no reason was given";

impl Group {
    fn of(asked_by: MessageId, pending: BTreeSet<Name>) -> Self {
        Self { asked_by, pending, stopped: Vec::new(), forced: Vec::new(), refused: Vec::new() }
    }
}

impl Lead {
    #[expect(clippy::too_many_arguments, reason = "the fields of one message")]
    pub(super) fn shutdown_ask(
        &mut self,
        message: &Message,
        name: Option<&Name>,
        reason: Option<String>,
        grace: Duration,
        force: bool,
        now: Timestamp,
        out: &mut Vec<Effect>,
    ) {
        let asker = message.id;
        let names: Vec<Name> = match name {
            Some(name) if self.seats.contains_key(name) => vec![name.clone()],
            Some(name) => return self.nobody(asker, name, out),
            None => self.seats.keys().cloned().collect(),
        };
        self.open_group(asker, &names);
        for name in names {
            if force {
                self.force(&name, grace, now, out);
            } else {
                self.ask(&name, &message.from, asker, reason.clone(), grace, now, out);
            }
        }
    }

    /// Asks every member, for the lead's own reasons.
    pub(super) fn ask_everyone(
        &mut self,
        asker: MessageId,
        reason: Option<String>,
        grace: Duration,
        now: Timestamp,
        out: &mut Vec<Effect>,
    ) {
        let me = self.team.lead_agent_id.clone();
        for name in self.seats.keys().cloned().collect::<Vec<_>>() {
            self.ask(&name, &me, asker, reason.clone(), grace, now, out);
        }
    }

    fn open_group(&mut self, asker: MessageId, names: &[Name]) {
        let pending =
            names.iter().filter(|n| self.seats.get(*n).is_some_and(|s| s.phase != Phase::Out)).cloned().collect();
        self.groups.push(Group::of(asker, pending));
    }

    fn force(&mut self, name: &Name, grace: Duration, now: Timestamp, out: &mut Vec<Effect>) {
        match self.seats.get(name).map(|s| s.phase) {
            Some(Phase::Waiting { .. } | Phase::Away) => self.out_while_waiting(name, Why::Stop, now, out),
            Some(Phase::Out) | None => {}
            Some(_) => {
                self.end(name, Why::Stop, grace.min(Duration::from_secs(5)), out);
            }
        }
    }

    #[expect(clippy::too_many_arguments, reason = "the fields of one request")]
    fn ask(
        &mut self,
        name: &Name,
        from: &AgentId,
        asker: MessageId,
        reason: Option<String>,
        grace: Duration,
        now: Timestamp,
        out: &mut Vec<Effect>,
    ) {
        let Some(seat) = self.seats.get_mut(name) else { return };
        let (life, deadline) = (seat.life, now.plus(grace));
        match seat.phase {
            Phase::Out => return,
            Phase::Waiting { .. } | Phase::Away => return self.out_while_waiting(name, Why::Shutdown, now, out),
            Phase::Preparing | Phase::Starting { .. } | Phase::Ready => {
                return self.end(name, Why::Shutdown, grace, out);
            }
            Phase::Ending => {
                seat.say_why(Why::Shutdown);
                return;
            }
            Phase::Up => {}
        }
        if let Some(open) = self.open_shutdown(name) {
            // One request is enough; the earlier deadline of the two holds.
            if open.expires.is_some_and(|at| at > deadline)
                && let Some(seat) = self.seats.get_mut(name)
            {
                seat.stop_by = Some(seat.stop_by.map_or(deadline, |at| at.min(deadline)));
            }
            return;
        }
        let request = Request {
            id: RequestId::derived(&["shutdown", &asker.to_string(), name.as_str(), &life.to_string()]),
            kind: RequestKind::Shutdown,
            from: from.clone(),
            member: name.clone(),
            life: Some(life),
            state: RequestState::Open,
            created_at: now,
            expires: Some(deadline),
            summary: reason.clone().unwrap_or_else(|| format!("shut down `{name}`")),
            hash: None,
            body: json!({"reason": reason}),
            decision: None,
            answered: false,
            asked_by: Some(asker),
        };
        self.open_request(request.clone(), out);
        tell(&request, out);
    }

    /// Whether someone waits for this member's end: a life of it that ends is followed by none.
    pub(super) fn asked_to_go(&self, name: &Name) -> bool {
        self.open_shutdown(name).is_some()
    }

    fn open_shutdown(&self, name: &Name) -> Option<&Request> {
        self.ledger.open_for(name, RequestKind::Shutdown)
    }

    pub(super) fn shutdown_response(
        &mut self,
        from: &Name,
        id: RequestId,
        approve: bool,
        reason: Option<String>,
        now: Timestamp,
        out: &mut Vec<Effect>,
    ) {
        let Some(request) = self.ledger.get(id).cloned() else { return };
        if !self.settle(&request, from, approve, reason.clone(), now, out) {
            return;
        }
        if approve {
            if planted(Fault::GoneTooEarly) {
                self.group_out(from, false);
            }
            if let Some(seat) = self.seats.get_mut(from) {
                seat.phase = Phase::Ending;
                seat.why = Some(Why::Shutdown);
                seat.stop_by = request.expires.map(|at| at.max(now.plus(LEAVE_GRACE)));
            }
            return;
        }
        let planned = self.team.member(from).is_some_and(|m| m.plan_id.is_some());
        if let Some(seat) = self.seats.get_mut(from) {
            // What ends a planner whose plan was approved stays.
            seat.stop_by = seat.stop_by.filter(|_| seat.planning && planned);
        }
        if self.maker_gone {
            // Nobody is left who could ask it again.
            if let Some(seat) = self.seats.get_mut(from) {
                seat.forced = true;
            }
            self.end(from, Why::Shutdown, STOP_GRACE, out);
        }
        let reason = reason.unwrap_or_else(|| NO_REASON.to_owned());
        for group in &mut self.groups {
            if group.pending.remove(from) {
                group.refused.push((from.clone(), reason.clone()));
            }
        }
    }

    /// Takes up the shutdowns that the lead before had begun. Who has agreed, or let its deadline pass, goes; whoever
    /// asked is answered once for all that it asked for, with what has been refused already.
    pub(super) fn repair_shutdowns(&mut self, now: Timestamp, out: &mut Vec<Effect>) {
        let shutdowns = self.ledger.requests().values().filter(|r| r.kind == RequestKind::Shutdown);
        let requests: Vec<Request> = shutdowns.cloned().collect();
        let under_way = |seats: &BTreeMap<Name, Seat>, request: &Request| {
            // One that was withdrawn went before it could answer, and the roster does not know of it yet.
            let goes = request.state != RequestState::Rejected;
            let seat = seats.get(&request.member).filter(|s| request.life == Some(s.life));
            goes && seat.is_some_and(|s| s.phase != Phase::Out)
        };
        let askers: BTreeSet<MessageId> =
            requests.iter().filter(|r| under_way(&self.seats, r)).filter_map(|r| r.asked_by).collect();
        for asked_by in askers {
            let mut group = Group::of(asked_by, BTreeSet::new());
            for request in requests.iter().filter(|r| r.asked_by == Some(asked_by)) {
                let name = request.member.clone();
                if under_way(&self.seats, request) {
                    group.pending.insert(name);
                } else if request.state == RequestState::Rejected {
                    let why = request.decision.as_ref().and_then(|d| d.feedback.clone());
                    group.refused.push((name, why.unwrap_or_else(|| NO_REASON.to_owned())));
                } else {
                    group.stopped.push(name);
                }
            }
            self.groups.push(group);
        }
        for request in &requests {
            if !under_way(&self.seats, request) {
                continue;
            }
            let Some(seat) = self.seats.get_mut(&request.member) else { continue };
            match request.state {
                RequestState::Approved | RequestState::Withdrawn => {
                    seat.say_why(Why::Shutdown);
                    if seat.phase == Phase::Up {
                        seat.phase = Phase::Ending;
                        seat.stop_by = Some(request.expires.unwrap_or(now).max(now.plus(LEAVE_GRACE)));
                    }
                }
                RequestState::Expired => self.shutdown_expired(&request.member, out),
                // It may not have been told; its id makes twice once.
                _ => tell(request, out),
            }
        }
    }

    /// No answer came: the member is stopped.
    pub(super) fn shutdown_expired(&mut self, name: &Name, out: &mut Vec<Effect>) {
        out.push(Effect::Log(EventRecord::of("shutdown_forced", name).with("reason", "no answer by the deadline")));
        if let Some(seat) = self.seats.get_mut(name) {
            seat.forced = true;
        }
        self.end(name, Why::Shutdown, Duration::from_secs(1), out);
    }

    /// A member is out: whoever waits for it hears so once everyone asked has answered.
    pub(super) fn group_out(&mut self, name: &Name, forced: bool) {
        for group in &mut self.groups {
            if group.pending.remove(name) {
                group.stopped.push(name.clone());
                if forced && !group.forced.contains(name) {
                    group.forced.push(name.clone());
                }
            }
        }
    }

    pub(super) fn settle_groups(&mut self, out: &mut Vec<Effect>) {
        for group in std::mem::take(&mut self.groups) {
            if !group.pending.is_empty() {
                self.groups.push(group);
                continue;
            }
            let refused: Vec<Value> =
                group.refused.iter().map(|(name, reason)| json!({"name": name, "reason": reason})).collect();
            let answer = json!({"stopped": group.stopped, "forced": group.forced, "refused": refused});
            let error = (!group.refused.is_empty()).then(|| {
                let list: Vec<String> = group.refused.iter().map(|(n, r)| format!("`{n}` refused: {r}")).collect();
                list.join("; ")
            });
            self.reply(group.asked_by, u8::from(error.is_some()), error, answer, out);
        }
    }
}

/// Puts a shutdown request before its subject.
fn tell(request: &Request, out: &mut Vec<Effect>) {
    let Some(deadline) = request.expires else { return };
    let reason = request.body["reason"].as_str().map(str::to_owned);
    let body = Box::new(Body::ShutdownRequest { request_id: request.id, reason, deadline });
    let id = MessageId::derived(&["shutdown_request", &request.id.to_string()]);
    out.push(Effect::Mail { to: request.member.clone(), id, body });
}
