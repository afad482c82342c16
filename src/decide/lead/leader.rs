//! The agent that leads: a member with the lead's rights, less what is people's.

use super::state::{Effect, Lead};
use crate::model::id::MessageId;
use crate::model::message::{Body, MAX_INLINE_BYTES, Text};
use crate::model::name::Name;
use crate::model::request::{Request, RequestKind};

impl Lead {
    /// Why a member may not ask the lead for this.
    pub(super) fn refusal(&self, from: &Name, body: &Body) -> Option<String> {
        if !self.team.is_led_by(from) {
            return Some("only the lead and the operator may ask for that".to_owned());
        }
        match body {
            Body::StopRequest { name } | Body::RestartRequest { name } if name == from => Some(own_end()),
            Body::ShutdownAsk { name: Some(name), .. } if name == from => Some(own_end()),
            Body::ShutdownAsk { name: None, .. } => {
                Some("the end of the whole team is the operator's; name one member".to_owned())
            }
            Body::Decide { request_id, .. } => {
                let request = self.ledger.get(*request_id)?;
                if request.member == *from {
                    return Some("what it asks for itself is the operator's to decide".to_owned());
                }
                let kind = request.kind;
                self.reserves(kind).then(|| format!("the spec reserves {} for people", word(kind)))
            }
            _ => None,
        }
    }

    fn reserves(&self, kind: RequestKind) -> bool {
        self.team.settings.lead.reserved.contains(&kind)
    }

    /// Tells the agent that leads of a request that waits for it.
    pub(super) fn tell_leader(&self, request: &Request, out: &mut Vec<Effect>) {
        let Some(leader) = self.team.leader().filter(|leader| **leader != request.member) else { return };
        if self.reserves(request.kind) {
            return;
        }
        let what = match request.kind {
            RequestKind::Plan => request.body["plan"].as_str().unwrap_or_default().to_owned(),
            _ => request.body.to_string(),
        };
        let (member, id, kind) = (&request.member, request.id, word(request.kind));
        let mut content = format!(
            "`{member}` asks for a decision ({kind}): {}. Decide it with the tool `decide`, request {id}.\n\n{what}",
            request.summary
        );
        let mut end = content.len().min(MAX_INLINE_BYTES / 2);
        while !content.is_char_boundary(end) {
            end -= 1;
        }
        content.truncate(end);
        let body = Box::new(Body::Text(Text { content: Some(content), ..Text::default() }));
        let id = MessageId::derived(&["asks", &id.to_string()]);
        out.push(Effect::Mail { to: leader.clone(), id, body });
    }
}

fn own_end() -> String {
    "the end of the agent that leads is the operator's".to_owned()
}

fn word(kind: RequestKind) -> &'static str {
    match kind {
        RequestKind::Plan => "plans",
        RequestKind::Permission => "permissions",
        RequestKind::Shutdown => "shutdowns",
    }
}
