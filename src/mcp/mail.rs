//! Mail: sending it, reading it, and knowing that what was read arrived.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{PingRequest, ServerRequest};
use rmcp::service::Peer;
use serde_json::{Value, json};

use super::answer::{MOST_CHARS, MOST_TEXT, Result, cut};
use super::params::{ReadInbox, SendMessage, Urgency};
use super::session::{Session, lock};
use super::wait::{Call, Waited};
use crate::act::send::read_text;
use crate::act::{ActError, Client, Send, Verb};
use crate::model::address::Address;
use crate::model::id::MessageId;
use crate::model::message::{Lane, Priority};
use crate::model::name::Name;
use crate::store::{MemberDir, TeamDir, cursors, mailbox};
use crate::view::answers::SendView;
use crate::view::inbox::MailView;
use crate::view::letter::{letter, meaning};
use crate::view::mailbox::{Mailbox, is_read};

/// How long `send_message` waits where nothing is said.
const WAIT: Duration = Duration::from_secs(300);
/// Messages in one answer where nothing is said.
const MESSAGES: usize = 20;
/// Most messages in one answer.
const MOST_MESSAGES: usize = 100;
/// How long a client may take to say that an answer arrived.
const PONG: Duration = Duration::from_secs(10);
/// An answer is on its way a moment after it was given.
const ON_ITS_WAY: Duration = Duration::from_millis(20);

pub(super) async fn send(call: &Call, given: SendMessage) -> Result {
    let priority = match given.priority {
        Urgency::Now => Priority::Now,
        Urgency::Next => Priority::Next,
        Urgency::Later => Priority::Later,
    };
    let reply_to = given.reply_to.as_deref().map(id).transpose()?;
    let (to, text, summary) = (given.to, given.text, given.summary);
    let message = Send { to: to.clone(), text, summary, priority, reply_to, ..Send::default() };
    let answer = call.session.perform(Verb::Send(message)).await?;
    let sent: SendView =
        serde_json::from_value(answer.value).map_err(|e| ActError::failed("the answer is odd").cause(e.to_string()))?;
    let deliveries =
        || sent.deliveries.iter().map(|d| json!({"to": d.to, "unread_before_it": d.queued.saturating_sub(1)}));
    let mut out = json!({"id": sent.id, "sent": deliveries().collect::<Vec<_>>()});
    if !answer.notes.is_empty() {
        out["notes"] = json!(answer.notes);
    }
    if given.wait {
        let limit = given.timeout_seconds.map_or(WAIT, Duration::from_secs);
        wait(call, &to, &sent, limit, &mut out).await?;
    }
    Ok(out)
}

/// Waits until every recipient has read it. Sent is sent: that nobody reads it is no error.
async fn wait(call: &Call, to: &str, sent: &SendView, limit: Duration, out: &mut Value) -> Result<()> {
    let desk = call.session.desk()?;
    let team = match to.parse() {
        Ok(Address::At(_, team)) => desk.home.team(&team),
        _ => desk.dir.clone(),
    };
    let mut waiting: Vec<(MemberDir, u64, Name)> =
        sent.deliveries.iter().map(|d| (team.member(&d.to), d.seq, d.to.clone())).collect();
    let dirs: Vec<PathBuf> = waiting.iter().map(|(dir, ..)| dir.state_dir()).collect();
    let mut ended = Vec::new();
    let what = format!("waiting until {to} has read it");
    let waited = call
        .until(&what, &dirs, limit, |_| {
            let mut left = Vec::new();
            for (dir, seq, name) in waiting.drain(..) {
                if is_read(cursors::read(&dir)?.lane(Lane::Inbox), seq, sent.id) {
                    continue;
                }
                if mailbox::closed(&dir, Lane::Inbox)?.is_some() {
                    ended.push(name);
                } else {
                    left.push((dir, seq, name));
                }
            }
            waiting = left;
            Ok(waiting.is_empty().then_some(()))
        })
        .await?;
    let unread: Vec<&Name> = waiting.iter().map(|(.., name)| name).collect();
    out["read"] = json!(waited == Waited::Found(()) && ended.is_empty());
    if !unread.is_empty() {
        out["not_read_yet"] = json!(unread);
    }
    if !ended.is_empty() {
        out["ended_before_reading"] = json!(ended);
    }
    Ok(())
}

/// What an answer shows of a mailbox.
struct Shown {
    text: String,
    /// Shown and unread so far.
    ids: Vec<MessageId>,
}

pub(super) async fn read(call: &Call, peer: Peer<RoleServer>, given: ReadInbox) -> Result {
    let peek = given.peek;
    let shown = call.session.with(move |client| show(client, &given)).await?;
    if !peek && !shown.ids.is_empty() {
        lock(&call.session.shown).extend(&shown.ids);
        tokio::spawn(confirm(Arc::clone(&call.session), peer, shown.ids));
    }
    Ok(Value::String(shown.text))
}

/// Marks what was shown as read once the answer has arrived: the client's word after it says so. One that was killed
/// in between finds its mail again.
async fn confirm(session: Arc<Session>, peer: Peer<RoleServer>, ids: Vec<MessageId>) {
    tokio::time::sleep(ON_ITS_WAY).await;
    let ping = peer.send_request(ServerRequest::PingRequest(PingRequest::default()));
    // Any answer will do; a client of a version without pings says so by its next call.
    if let Ok(Ok(_)) = tokio::time::timeout(PONG, ping).await {
        let _ = mark_read(&session, &ids).await;
    }
}

/// Marks everything that was shown before: the client has gone on.
pub(super) async fn confirm_earlier(session: &Arc<Session>) {
    let ids = lock(&session.shown).clone();
    if !ids.is_empty() {
        let _ = mark_read(session, &ids).await;
    }
}

async fn mark_read(session: &Arc<Session>, ids: &[MessageId]) -> Result<()> {
    session.perform(Verb::Ack { ids: ids.to_vec(), up_to: None }).await?;
    lock(&session.shown).retain(|id| !ids.contains(id));
    Ok(())
}

fn show(client: &mut Client, given: &ReadInbox) -> Result<Shown> {
    let own = client.name();
    let dir = client.desk.mailbox(&own)?;
    let wanted = given.id.as_deref().map(id).transpose()?;
    let everything = given.all || wanted.is_some();
    let mut mailbox = if everything { Mailbox::open(dir) } else { Mailbox::unread(dir)? };
    let from = given.from.as_deref().map(someone).transpose()?;
    let mut mail = mailbox.read(&mut client.desk)?;
    mail.retain(|m| everything || !m.read);
    mail.retain(|m| from.as_ref().is_none_or(|from| m.message.from.name == *from));
    if let Some(wanted) = wanted {
        return one(&client.desk.dir, mail, wanted, given.offset);
    }
    Ok(several(&client.desk.dir, &mail, given))
}

fn several(team: &TeamDir, mail: &[MailView], given: &ReadInbox) -> Shown {
    let limit = given.limit.unwrap_or(MESSAGES).clamp(1, MOST_MESSAGES);
    let (mut blocks, mut ids, mut chars) = (Vec::new(), Vec::new(), 0);
    for view in mail.iter().take(limit) {
        let text = whole(team, view);
        let (part, more) = cut(&text, MOST_TEXT);
        let mut block = block(view, part);
        if more > 0 {
            let (id, offset) = (view.message.id, part.chars().count());
            block += &format!("\n… {more} more characters: read_inbox with id {id} and offset {offset}");
        }
        chars += block.chars().count();
        if chars > MOST_CHARS - 500 && !blocks.is_empty() {
            break;
        }
        blocks.push(block);
        if !view.read {
            ids.push(view.message.id);
        }
    }
    let more = mail.len() - blocks.len();
    let kind = if given.all { "messages" } else { "unread messages" };
    let head = match (blocks.len(), more) {
        (0, _) => format!("no {kind}"),
        (n, 0) => format!("{n} {kind}:"),
        (n, more) if given.all || given.peek => format!("{n} {kind}, and {more} more; ask with a greater limit:"),
        (n, more) => format!("{n} {kind}, and {more} more; call read_inbox again for them:"),
    };
    blocks.insert(0, head);
    Shown { text: blocks.join("\n"), ids }
}

fn one(team: &TeamDir, mail: Vec<MailView>, wanted: MessageId, offset: usize) -> Result<Shown> {
    let Some(view) = mail.into_iter().find(|view| view.message.id == wanted) else {
        return Err(ActError::not_found(format!("no message {wanted} in your mailbox")));
    };
    let text = whole(team, &view);
    let rest: String = text.chars().skip(offset).collect();
    let (part, more) = cut(&rest, MOST_CHARS - 1_000);
    let mut text = block(&view, part);
    if more > 0 {
        text += &format!("\n… {more} more characters: offset {}", offset + part.chars().count());
    }
    // A part of a message is not the message: it is read when its end was shown.
    let ids = if more == 0 && !view.read { vec![wanted] } else { Vec::new() };
    Ok(Shown { text, ids })
}

fn whole(team: &TeamDir, view: &MailView) -> String {
    meaning(&view.message)
        .or_else(|| read_text(team, &view.message))
        .unwrap_or_else(|| view.message.summary.clone().unwrap_or_default())
}

fn block(view: &MailView, text: &str) -> String {
    letter(&view.message, text, false).unwrap_or_default()
}

pub(super) fn id(text: &str) -> Result<MessageId> {
    text.trim().parse().map_err(|_| ActError::usage(format!("`{text}` is no id of a message")))
}

/// A member, the lead or the operator.
pub(super) fn someone(text: &str) -> Result<Name> {
    match text {
        crate::model::name::LEAD_ALIAS => Ok(Name::lead()),
        _ => Name::parse_any(text).map_err(|e| ActError::not_found(format!("`{text}` is nobody: {e}"))),
    }
}
