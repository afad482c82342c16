//! The ledger's side of the lead: opening, deciding, expiring and repairing requests.

use std::time::Duration;

use serde_json::{Value, json};

use super::state::{Effect, EventRecord, Lead, PLAN_GRACE, Phase, Seat};
use crate::decide::authority::Authority;
use crate::decide::ledger::{Decider, LedgerError, LedgerRecord, Verdict};
use crate::decide::plant::{Fault, planted};
use crate::model::id::{Life, MessageId, RequestId};
use crate::model::message::{Body, Message, PermissionDecision};
use crate::model::name::Name;
use crate::model::request::{Request, RequestKind, RequestState};
use crate::model::spec::Policy;
use crate::model::time::Timestamp;

impl Lead {
    pub(super) fn open_request(&mut self, request: Request, out: &mut Vec<Effect>) {
        let event = EventRecord::of("request_opened", &request.member)
            .with("request_id", request.id)
            .with("kind", request.kind)
            .with("summary", &request.summary);
        let Ok(record) = self.ledger.open(request) else { return };
        self.ledger.apply(record.clone());
        out.push(Effect::Ledger(record));
        out.push(Effect::Log(event));
    }

    /// Whether this life's requests count: not any more once its end was taken in, although its seat keeps its id. What
    /// it wrote may be read only then, and nobody would ever withdraw it.
    pub(super) fn may_ask(&self, name: &Name, life: Life) -> bool {
        let lives =
            |seat: &Seat| seat.life == life && !matches!(seat.phase, Phase::Out | Phase::Away | Phase::Waiting { .. });
        self.seats.get(name).is_some_and(lives) || planted(Fault::DeadLifeAsks)
    }

    #[expect(clippy::too_many_arguments, reason = "the fields of one message")]
    pub(super) fn plan_request(
        &mut self,
        from: &Name,
        id: RequestId,
        life: Life,
        plan: &str,
        hash: String,
        summary: Option<String>,
        now: Timestamp,
        out: &mut Vec<Effect>,
    ) {
        if !self.may_ask(from, life) || self.ledger.get(id).is_some() {
            return;
        }
        let Some(agent) = self.team.member(from).map(|m| m.agent_id.clone()) else { return };
        out.push(Effect::WritePlan { id, text: plan.to_owned() });
        let request = Request {
            id,
            kind: RequestKind::Plan,
            from: agent,
            member: from.clone(),
            life: Some(life),
            state: RequestState::Open,
            created_at: now,
            expires: None,
            summary: summary.unwrap_or_else(|| first_line(plan)),
            hash: Some(hash),
            body: json!({"plan": plan}),
            decision: None,
            answered: false,
            asked_by: None,
        };
        self.open_request(request.clone(), out);
        let policy = self.team.settings.lead.plans;
        if policy != Policy::Ask {
            let feedback = Some("decided by `plans` under `[lead]` of the spec".to_owned());
            self.settle(&request, &Name::lead(), policy == Policy::Approve, feedback, now, out);
        } else {
            self.tell_leader(&request, out);
        }
    }

    #[expect(clippy::too_many_arguments, reason = "the fields of one message")]
    pub(super) fn decide(
        &mut self,
        message: &Message,
        id: RequestId,
        approve: bool,
        hash: Option<&str>,
        feedback: Option<String>,
        always: bool,
        now: Timestamp,
        out: &mut Vec<Effect>,
    ) {
        let by = self.decider(&message.from.name);
        let verdict = Verdict { approve, hash, feedback: feedback.as_deref(), always };
        match self.ledger.decide(id, &by, &verdict, now) {
            Ok(record) => {
                self.ledger.apply(record.clone());
                out.push(Effect::Ledger(record));
                self.decided(&id, now, out);
                let state = self.ledger.get(id).map(|r| r.state.as_str());
                self.reply(message.id, 0, None, json!({"id": id, "state": state}), out);
            }
            Err(error) => self.refuse(message.id, &error, out),
        }
    }

    /// With what right the sender of a message decides.
    fn decider(&self, name: &Name) -> Decider {
        let authority = match name {
            n if n.is_operator() => Authority::Operator,
            n if n.is_lead() || self.team.is_led_by(n) => Authority::Lead,
            _ => Authority::Member,
        };
        Decider { name: name.clone(), life: self.seats.get(name).map(|s| s.life), authority }
    }

    fn refuse(&self, asker: MessageId, error: &LedgerError, out: &mut Vec<Effect>) {
        let hint = Some("`crewmux requests` lists the open ones".to_owned());
        self.reply_with_hint(asker, error.exit_code(), Some(error.to_string()), hint, Value::Null, out);
    }

    /// Decides a request by someone whose word arrives as mail. False: it counted for nothing.
    pub(super) fn settle(
        &mut self,
        request: &Request,
        by: &Name,
        approve: bool,
        feedback: Option<String>,
        now: Timestamp,
        out: &mut Vec<Effect>,
    ) -> bool {
        let by = self.decider(by);
        let verdict = Verdict { approve, hash: None, feedback: feedback.as_deref(), always: false };
        match self.ledger.decide(request.id, &by, &verdict, now) {
            Ok(record) => {
                self.ledger.apply(record.clone());
                out.push(Effect::Ledger(record));
                self.decided(&request.id, now, out);
                true
            }
            Err(error) => {
                out.push(Effect::Log(
                    EventRecord::of("decision_refused", &by.name)
                        .with("request_id", request.id)
                        .with("reason", error.to_string()),
                ));
                false
            }
        }
    }

    /// What a decision sets in motion: the answer to the asker, and for plans the end of the planning.
    fn decided(&mut self, id: &RequestId, now: Timestamp, out: &mut Vec<Effect>) {
        let Some(request) = self.ledger.get(*id).cloned() else { return };
        out.push(Effect::Log(
            EventRecord::of("request_decided", &request.member)
                .with("request_id", id)
                .with("kind", request.kind)
                .with("state", request.state)
                .with("by", request.decision.as_ref().map(|d| &d.by)),
        ));
        let approved = request.state == RequestState::Approved;
        if request.kind == RequestKind::Plan && approved {
            let planning = self.seats.get(&request.member).is_some_and(|s| s.planning && Some(s.life) == request.life);
            if planning {
                if let Some(member) = self.team.member_mut(&request.member) {
                    member.plan_id = Some(*id);
                    member.confine(self.confines);
                    out.push(Effect::SaveTeam);
                }
                if let Some(seat) = self.seats.get_mut(&request.member)
                    && seat.phase == Phase::Up
                {
                    seat.stop_by = Some(now.plus(PLAN_GRACE));
                }
            }
        }
        self.answer(&request, out);
    }

    /// Sends a decision to its asker. Its id follows from request and decision: twice is once.
    fn answer(&mut self, request: &Request, out: &mut Vec<Effect>) {
        let approve = request.state == RequestState::Approved;
        let feedback = request.decision.as_ref().and_then(|d| d.feedback.clone());
        let body = match request.kind {
            RequestKind::Plan => Body::PlanApprovalResponse {
                request_id: request.id,
                approve,
                hash: request.hash.clone().unwrap_or_default(),
                feedback,
            },
            RequestKind::Permission => Body::PermissionResponse {
                request_id: request.id,
                decision: match (&request.decision, approve) {
                    (Some(d), true) if d.always => PermissionDecision::AllowAlways,
                    (_, true) => PermissionDecision::AllowOnce,
                    _ => PermissionDecision::Deny,
                },
                reason: feedback,
            },
            // A shutdown is decided by its subject; the asker hears of it by the reply to its verb.
            RequestKind::Shutdown => return self.mark_answered(&request.id, out),
        };
        let id = MessageId::derived(&["decision", &request.id.to_string(), request.state.as_str()]);
        out.push(Effect::Mail { to: request.member.clone(), id, body: Box::new(body) });
        self.mark_answered(&request.id, out);
    }

    fn mark_answered(&mut self, id: &RequestId, out: &mut Vec<Effect>) {
        if let Ok(Some(record)) = self.ledger.answered(*id) {
            self.ledger.apply(record.clone());
            out.push(Effect::Ledger(record));
        }
    }

    pub(super) fn expire_requests(&mut self, now: Timestamp, out: &mut Vec<Effect>) {
        for record in self.ledger.expire(now) {
            let Some(request) = record.request().cloned() else { continue };
            self.ledger.apply(record.clone());
            out.push(Effect::Ledger(record));
            out.push(Effect::Log(
                EventRecord::of("request_expired", &request.member)
                    .with("request_id", request.id)
                    .with("kind", request.kind),
            ));
            if request.kind == RequestKind::Shutdown {
                self.shutdown_expired(&request.member, out);
            } else {
                self.answer(&request, out);
            }
        }
    }

    /// A life is over: what it asked, and what was asked of it, is void.
    pub(super) fn withdraw_life(&mut self, name: &Name, life: Life, out: &mut Vec<Effect>) {
        for record in self.ledger.withdraw_life(name, life) {
            self.withdrawn(record, out);
        }
    }

    /// Takes back what belongs to lives that no seat is at: the lead before gave their seats to other lives, or to none,
    /// and died before it got to this.
    fn withdraw_forgotten(&mut self, out: &mut Vec<Effect>) {
        let of_no_life = |r: &&Request| match (r.life, self.seats.get(&r.member)) {
            (Some(life), Some(seat)) => seat.life != life || seat.phase == Phase::Out,
            (Some(_), None) => true,
            (None, _) => false,
        };
        let ids: Vec<RequestId> = self.ledger.open_requests().into_iter().filter(of_no_life).map(|r| r.id).collect();
        for id in ids {
            if let Ok(record) = self.ledger.withdraw(id) {
                self.withdrawn(record, out);
            }
        }
    }

    pub(super) fn withdrawn(&mut self, record: LedgerRecord, out: &mut Vec<Effect>) {
        let Some(request) = record.request().cloned() else { return };
        self.ledger.apply(record.clone());
        out.push(Effect::Ledger(record));
        out.push(Effect::Log(
            EventRecord::of("request_withdrawn", &request.member)
                .with("request_id", request.id)
                .with("kind", request.kind),
        ));
    }

    /// After a restart of the lead: decisions that may not have been delivered are sent again, and open
    /// shutdowns whose asker is gone with the earlier lead go on to their deadline.
    pub(super) fn repair_ledger(&mut self, now: Timestamp, out: &mut Vec<Effect>) {
        self.withdraw_forgotten(out);
        let unanswered: Vec<Request> = self.ledger.unanswered().into_iter().cloned().collect();
        for request in unanswered.iter().filter(|_| !planted(Fault::NotToldAgain)) {
            self.answer(request, out);
        }
        self.repair_shutdowns(now, out);
        // The approval may have come into the ledger and not into the roster any more.
        for (name, seat) in &self.seats {
            let approved = self.ledger.requests().values().find(|r| {
                let of_this_life = r.member == *name && r.life == Some(seat.life);
                r.kind == RequestKind::Plan && of_this_life && r.state == RequestState::Approved
            });
            if let (true, Some(plan)) = (seat.planning, approved)
                && let Some(member) = self.team.members.iter_mut().find(|m| m.name == *name)
            {
                member.plan_id = Some(plan.id);
                member.confine(self.confines);
            }
        }
        // A planning life whose plan was approved before the crash is still to be replaced.
        let margin = now.plus(PLAN_GRACE + Duration::from_secs(1));
        for member in self.team.members.iter().filter(|m| m.plan_id.is_some()) {
            let approved_life = member.plan_id.and_then(|id| self.ledger.get(id)).and_then(|r| r.life);
            if let Some(seat) = self.seats.get_mut(&member.name)
                && approved_life == Some(seat.life)
            {
                seat.planning = true;
                if seat.phase == Phase::Up {
                    seat.stop_by = Some(margin);
                }
            }
        }
    }
}

/// The first line that says something, without Markdown's heading marks.
fn first_line(text: &str) -> String {
    let line = text.lines().map(|l| l.trim_start_matches('#').trim()).find(|l| !l.is_empty()).unwrap_or("a plan");
    line.chars().take(80).collect()
}
