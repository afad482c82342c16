//! The lead's hooks: a member's life that is over, a request that was opened. Run beside the lead's loop.

use std::time::Duration;

use serde_json::json;

use super::run::Process;
use crate::decide::lead::{Event, EventRecord};
use crate::hook::{About, call};
use crate::model::hook::HookKind;
use crate::store::Home;

/// How long hooks may still run when the lead was asked to end; less than whoever asks waits before he kills it.
const LAST: Duration = Duration::from_secs(3);

impl Process {
    /// Runs the hook that an event calls for, if the team has it.
    pub(super) fn hook_on(&mut self, record: &EventRecord) {
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
        let (told, name, slots) = (self.told.clone(), record.member.clone(), self.slots.clone());
        self.hooks.spawn(async move {
            let said = slots.run(call).await;
            let _ = told.send(Event::HookSaid { kind, name, request: id, said });
        });
        // Only those that run are kept.
        while self.hooks.try_join_next().is_some() {}
    }

    /// The end of a team is what its last hooks are about: they get a moment before they are ended.
    pub(super) async fn last_hooks(&mut self) {
        let all = async { while self.hooks.join_next().await.is_some() {} };
        let _ = tokio::time::timeout(LAST, all).await;
        self.hooks.shutdown().await;
        while let Ok(event) = self.heard.try_recv() {
            if matches!(event, Event::HookSaid { .. }) {
                self.step(event);
            }
        }
        self.settle().await;
    }
}
