//! The lead's hooks: a member's life that is over, a request that was opened. Run beside the lead's loop.

use serde_json::json;

use super::run::Process;
use crate::decide::lead::{Event, EventRecord};
use crate::hook::{About, call};
use crate::model::hook::HookKind;
use crate::store::Home;

impl Process {
    /// Runs the hook that an event calls for, if the team has it.
    pub(super) fn hook_on(&self, record: &EventRecord) {
        let kind = match record.kind {
            "member_left" => HookKind::MemberExited,
            "request_opened" => HookKind::RequestOpened,
            _ => return,
        };
        let team = &self.lead.team;
        let entry = record
            .member
            .as_ref()
            .and_then(|name| team.members.iter().chain(&team.reserved).find(|m| m.name == *name && !m.name.is_lead()));
        let mut facts = record.fields.clone();
        let id = facts.get("request_id").and_then(|id| id.as_str()).and_then(|id| id.parse().ok());
        if let Some(request) = id.and_then(|id| self.lead.ledger.get(id)) {
            facts.insert("request".to_owned(), json!(request));
        }
        let home = Home::at(self.home.clone());
        let about = entry.map_or(About::Operator, About::Member);
        let Some(call) = call(&home, team, kind, about, facts) else { return };
        let (told, name) = (self.told.clone(), record.member.clone());
        tokio::spawn(async move {
            let said = call.run().await;
            let _ = told.send(Event::HookSaid { kind, name, request: id, said });
        });
    }
}
