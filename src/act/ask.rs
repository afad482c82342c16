//! Verbs that become control mail to the lead, and those about one's own mailbox.

use serde_json::json;

use super::desk::Desk;
use super::error::ActError;
use super::verb::{Answer, Verb};
use super::who::Who;
use crate::model::id::{MessageId, RequestId};
use crate::model::message::{Body, Lane, MAX_INLINE_BYTES, Message};
use crate::model::name::Name;
use crate::store::{Durability, mailbox};

/// Hands a verb to the lead. Its reply will name the returned message.
pub(super) fn lead(desk: &mut Desk, who: &Who, id: MessageId, verb: Verb) -> Result<MessageId, ActError> {
    if !desk.lead_alive()? {
        return Err(ActError::no_lead(&desk.name));
    }
    let body = match verb {
        Verb::Spawn { spawn_id, spec } => Body::SpawnRequest { spawn_id, spec },
        Verb::Stop { name } => {
            not_the_lead(&name)?;
            desk.member(&name)?;
            Body::StopRequest { name }
        }
        Verb::Restart { name } => {
            not_the_lead(&name)?;
            desk.member(&name)?;
            Body::RestartRequest { name }
        }
        Verb::Shutdown { name, reason, grace_ms, force } => {
            if let Some(name) = &name {
                not_the_lead(name)?;
                desk.member(name)?;
            }
            Body::ShutdownAsk { name, reason, grace_ms, force }
        }
        Verb::Decide { request_id, approve, hash, feedback, always } => {
            Body::Decide { request_id, approve, hash, feedback, always }
        }
        other => return Err(ActError::usage(format!("`{}` is not for the lead", other.word()))),
    };
    to_lead(desk, who, id, &body)?;
    Ok(id)
}

fn not_the_lead(name: &Name) -> Result<(), ActError> {
    if name.is_lead() {
        return Err(ActError::forbidden("the lead ends with its team").hint("`crewmux down` ends the team"));
    }
    Ok(())
}

pub(super) fn to_lead(desk: &mut Desk, who: &Who, id: MessageId, body: &Body) -> Result<(), ActError> {
    let message = Message::new(id, who.agent_id(&desk.name), Name::lead(), body);
    let lead = desk.dir.member(&Name::lead());
    mailbox::deliver(&lead, &message, Lane::Control, Durability::Durable, false)?;
    Ok(())
}

/// Asks a teammate whether it hears. The nonce of the answer is the asking message's id.
pub(super) fn ping(desk: &mut Desk, who: &Who, id: MessageId, name: &Name) -> Result<Answer, ActError> {
    not_the_lead(name)?;
    desk.member(name)?;
    let body = Body::Ping { nonce: id.to_string() };
    let message = Message::new(id, who.agent_id(&desk.name), name.clone(), &body);
    mailbox::deliver(&desk.dir.member(name), &message, Lane::Control, Durability::Fast, false)?;
    Ok(Answer::of(json!({"nonce": id})))
}

/// A member's plan goes to the lead, which enters it into the ledger.
pub(super) fn submit_plan(
    desk: &mut Desk,
    who: &Who,
    request_id: RequestId,
    plan: String,
    summary: Option<String>,
) -> Result<Answer, ActError> {
    let Some(life) = who.life else {
        return Err(ActError::forbidden("only a living member submits a plan"));
    };
    if plan.trim().is_empty() {
        return Err(ActError::usage("the plan is empty"));
    }
    if plan.len() > MAX_INLINE_BYTES {
        let (size, most) = (plan.len(), MAX_INLINE_BYTES);
        return Err(ActError::usage(format!("the plan has {size} bytes, at most {most} are allowed"))
            .hint("keep the plan short and name the files that hold the rest"));
    }
    let hash = blake3::hash(plan.as_bytes()).to_hex().to_string();
    let id = MessageId::derived(&["plan", &request_id.to_string()]);
    let body = Body::PlanApprovalRequest { request_id, life, plan, hash: hash.clone(), summary };
    to_lead(desk, who, id, &body)?;
    Ok(Answer::of(json!({"id": request_id, "state": "open", "feedback": null, "hash": hash})))
}

/// Marks one's own mail as read. A member's teammate does this with its own cursor and never comes here.
pub(super) fn ack(desk: &mut Desk, who: &Who, ids: &[MessageId], up_to: Option<u64>) -> Result<Answer, ActError> {
    let dir = desk.mailbox(&who.name)?;
    let read = super::inbox::ack(&dir, ids, up_to)?;
    Ok(Answer::of(json!({"read": read})))
}
