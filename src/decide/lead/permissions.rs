//! Permissions: asked by a member, decided by a person, a rule of the spec, or an earlier word for always.

use serde_json::{Value, json};

use super::state::{Effect, Lead};
use crate::model::id::{Life, RequestId};
use crate::model::message::Body;
use crate::model::name::Name;
use crate::model::request::{Request, RequestKind, RequestState};
use crate::model::spec::Policy;
use crate::model::time::Timestamp;

impl Lead {
    /// A member asks for permission; without an answer in time it is denied. `asked` is a permission request.
    pub(super) fn permission_request(&mut self, from: &Name, asked: Body, now: Timestamp, out: &mut Vec<Effect>) {
        let Body::PermissionRequest { request_id: id, life, tool, input, reason, scope, expires } = asked else {
            return;
        };
        if !self.may_ask(from, life) || self.ledger.get(id).is_some() {
            return;
        }
        let Some(agent) = self.team.member(from).map(|m| m.agent_id.clone()) else { return };
        let known = self.ledger.allowed_always(&tool, &input, scope.as_deref()).map(|r| r.id);
        let request = Request {
            id,
            kind: RequestKind::Permission,
            from: agent,
            member: from.clone(),
            life: Some(life),
            state: RequestState::Open,
            created_at: now,
            expires: Some(expires),
            summary: reason.as_deref().map_or_else(|| tool.clone(), |why| format!("{tool}: {why}")),
            hash: None,
            body: body(&tool, input, reason.as_deref(), scope.as_deref()),
            decision: None,
            answered: false,
            asked_by: None,
        };
        self.open_request(request.clone(), out);
        match (self.team.settings.lead.permissions, known) {
            (Policy::Ask, Some(earlier)) => {
                let why = Some(format!("allowed for always with request {earlier}"));
                self.settle(&request, &Name::lead(), true, why, now, out);
            }
            (Policy::Ask, None) => self.tell_leader(&request, out),
            (policy, _) => {
                let why = Some("decided by `permissions` under `[lead]` of the spec".to_owned());
                self.settle(&request, &Name::lead(), policy == Policy::Approve, why, now, out);
            }
        }
    }

    /// The asker takes an open permission back: nobody decides for a turn that is over.
    pub(super) fn withdraw_request(&mut self, from: &Name, id: RequestId, life: Life, out: &mut Vec<Effect>) {
        let its_own = |r: &Request| {
            r.member == *from
                && r.life == Some(life)
                && r.kind == RequestKind::Permission
                && r.state == RequestState::Open
        };
        if !self.ledger.get(id).is_some_and(its_own) {
            return;
        }
        if let Ok(record) = self.ledger.withdraw(id) {
            self.withdrawn(record, out);
        }
    }
}

fn body(tool: &str, input: Value, reason: Option<&str>, scope: Option<&str>) -> Value {
    let mut body = json!({"tool": tool, "input": input, "reason": reason});
    if let Some(scope) = scope {
        body["scope"] = json!(scope);
    }
    body
}
