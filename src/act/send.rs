//! `send`: an address resolved against the roster, one line in each recipient's mailbox.

use serde_json::{Value, json};

use super::desk::{Desk, unknown_member};
use super::error::ActError;
use super::limits;
use super::verb::{Answer, Send};
use super::who::Who;
use crate::decide::authority::Authority;
use crate::model::address::Address;
use crate::model::id::MessageId;
use crate::model::message::{Body, Lane, MAX_BLOB_BYTES, MAX_INLINE_BYTES, Message, Priority, Text};
use crate::model::name::Name;
use crate::store::{Durability, StoreError, TeamDir, blob, mailbox};

/// Sends one message to one or to everyone. `id` is the verb's; a sender's own id wins over it.
pub fn send(desk: &mut Desk, who: &Who, id: MessageId, send: Send) -> Result<Answer, ActError> {
    let address: Address =
        send.to.parse().map_err(|e| ActError::not_found(format!("cannot send to {:?}: {e}", send.to)))?;
    if send.text.len() > MAX_BLOB_BYTES {
        let (size, most) = (send.text.len(), MAX_BLOB_BYTES);
        return Err(ActError::usage(format!("the text has {size} bytes, at most {most} can be sent"))
            .hint("put it into a file under $CREWMUX_SCRATCH and send the path"));
    }
    let mut notes = Vec::new();
    let mut send = send;
    if send.priority == Priority::Now && who.authority == Authority::Member {
        send.priority = Priority::Next;
        notes.push("priority `now` is the lead's and the operator's; it was sent as `next`".to_owned());
    }
    let id = send.id.unwrap_or(id);
    let from_team = desk.name.clone();
    let deliveries = match address {
        Address::One(name) => vec![deliver_led(desk, who, &from_team, name, id, &send)?],
        Address::At(name, team) if team == from_team => vec![deliver_led(desk, who, &from_team, name, id, &send)?],
        Address::At(name, team) => {
            let mut other = Desk::open(&desk.home, &team)?;
            vec![deliver_led(&mut other, who, &from_team, name, id, &send)?]
        }
        Address::Everyone => everyone(desk, who, id, &send, &mut notes)?,
    };
    Ok(Answer { value: json!({"id": id, "deliveries": deliveries}), notes })
}

fn everyone(
    desk: &mut Desk,
    who: &Who,
    id: MessageId,
    send: &Send,
    notes: &mut Vec<String>,
) -> Result<Vec<Value>, ActError> {
    let own = if who.name.is_operator() && !desk.team()?.agent_leads() { Name::lead() } else { who.name.clone() };
    let members: Vec<(Name, bool)> =
        desk.team()?.members.iter().map(|m| (m.name.clone(), m.is_active || m.name.is_lead())).collect();
    let team = desk.name.clone();
    let (mut deliveries, mut failed) = (Vec::new(), Vec::new());
    for (name, active) in members.into_iter().filter(|(name, _)| *name != own) {
        if !active {
            notes.push(format!("`{name}` has ended and was left out"));
            continue;
        }
        match deliver(desk, who, &team, &name, id, send) {
            Ok(delivery) => deliveries.push(delivery),
            Err(error) => failed.push(format!("`{name}`: {error}")),
        }
    }
    if failed.is_empty() {
        return Ok(deliveries);
    }
    let reached: Vec<&str> = deliveries.iter().filter_map(|d| d["to"].as_str()).collect();
    let mut error = ActError::failed(format!("the message reached {} of them, not all", reached.len()));
    error.causes = failed;
    Err(error.hint(format!("send it again with `--id {id}`: who has it already gets it once")))
}

/// What is for the lead goes to the agent that leads.
fn deliver_led(
    desk: &mut Desk,
    who: &Who,
    from_team: &Name,
    to: Name,
    id: MessageId,
    send: &Send,
) -> Result<Value, ActError> {
    let to = if to.is_lead() { desk.team()?.reports_to(&who.name) } else { to };
    deliver(desk, who, from_team, &to, id, send)
}

fn deliver(
    desk: &mut Desk,
    who: &Who,
    from_team: &Name,
    to: &Name,
    id: MessageId,
    send: &Send,
) -> Result<Value, ActError> {
    let agent_leads = desk.team()?.agent_leads();
    let to = if to.is_operator() && !agent_leads { Name::lead() } else { to.clone() };
    let mut durable = send.durable;
    if !to.is_operator() {
        let team = desk.team()?;
        let Some(member) = team.member(&to) else { return Err(unknown_member(team, &to)) };
        durable |= member.spec.as_ref().is_some_and(|s| s.durable);
        if !member.is_active && !to.is_lead() && !send.queue {
            return Err(ended(&to));
        }
    }
    let blobs_mib = desk.team()?.settings.limits.blobs_mib;
    let dir = desk.dir.member(&to);
    limits::check(desk, who, &dir, &to)?;
    let body = Body::Text(text(&desk.dir, &send.text, blobs_mib)?);
    let from = crate::model::name::AgentId::new(who.name.clone(), from_team.clone());
    let mut message = Message::new(id, from, to.clone(), &body);
    message.priority = send.priority;
    message.summary.clone_from(&send.summary);
    message.reply_to = send.reply_to;
    let durability = if durable { Durability::Durable } else { Durability::Fast };
    let sent = if send.queue {
        mailbox::deliver_even_closed(&dir, &message, Lane::Inbox, durability)
    } else {
        mailbox::deliver(&dir, &message, Lane::Inbox, durability, send.id.is_some())
    };
    match sent {
        Ok(sent) => {
            if who.authority == Authority::Member {
                desk.sent.entry(to.clone()).or_default().push_back(sent.seq);
            }
            Ok(json!({"to": to, "seq": sent.seq, "queued": sent.queued}))
        }
        Err(StoreError::Closed { .. }) => Err(ended(&to)),
        Err(error) => Err(error.into()),
    }
}

fn text(team: &TeamDir, text: &str, blobs_mib: u64) -> Result<Text, ActError> {
    if text.len() <= MAX_INLINE_BYTES {
        return Ok(Text { content: Some(text.to_owned()), ..Text::default() });
    }
    limits::check_blobs(team, text.len(), blobs_mib)?;
    let hash = blob::put(team, text.as_bytes())?;
    Ok(Text { content: None, blob: Some(hash), bytes: Some(text.len() as u64) })
}

fn ended(name: &Name) -> ActError {
    ActError::forbidden(format!("`{name}` has ended; its mailbox is closed"))
        .hint(format!("`crewmux restart {name}` starts it again; `--queue` keeps the message until then"))
}

/// The text of a message, wherever it lies; `None` for one that has none or whose blob is gone.
#[must_use]
pub fn read_text(team: &TeamDir, message: &Message) -> Option<String> {
    if let Some(content) = message.content() {
        return Some(content.to_owned());
    }
    let hash = message.body.get("blob")?.as_str()?;
    let bytes = blob::get(team, hash).ok()??;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
