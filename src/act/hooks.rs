//! Hooks that come before a verb: what they are asked, and what their answer means.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::desk::Desk;
use super::door::may;
use super::error::ActError;
use super::task;
use super::verb::Verb;
use super::who::Who;
use crate::decide::authority::Authority;
use crate::hook::{About, Call, call};
use crate::model::hook::{HookKind, Said};
use crate::model::id::{MessageId, TaskId};
use crate::model::message::{Body, Lane, Message, Text};
use crate::model::name::Name;
use crate::os::clock;
use crate::store::{Durability, mailbox};

/// The exit code of what was interrupted.
const INTERRUPTED: u8 = 130;

/// The hook that must not object before `verb` is done. What would be refused anyway is refused at once, and no hook
/// hears of it.
///
/// # Errors
/// Why the verb cannot be done.
pub fn before(desk: &mut Desk, who: &Who, verb: &Verb) -> Result<Option<Call>, ActError> {
    let Some(kind) = hook_of(desk, verb)? else { return Ok(None) };
    may(who, verb)?;
    let would_be = task::tried(desk, who, verb)?;
    let facts = Map::from_iter([("task".to_owned(), json!(would_be))]);
    prepared(desk, &who.name, kind, facts)
}

/// The hook that the team has for a verb.
fn hook_of(desk: &mut Desk, verb: &Verb) -> Result<Option<HookKind>, ActError> {
    let kind = match verb {
        Verb::TaskAdd { .. } => HookKind::TaskCreated,
        Verb::TaskDone { .. } => HookKind::TaskCompleted,
        _ => return Ok(None),
    };
    Ok(desk.team()?.settings.hooks.run.contains_key(&kind).then_some(kind))
}

/// Runs the hook that must not object before a person's verb, and waits for it.
///
/// # Errors
/// The refusal; interrupted (130).
pub(super) fn run(desk: &mut Desk, verb: &Verb, interrupted: Option<&AtomicBool>) -> Result<(), ActError> {
    not_within_itself(desk, verb)?;
    let who = Who::operator();
    let Some(call) = before(desk, &who, verb)? else { return Ok(()) };
    let kind = call.kind;
    match call.run_blocking(interrupted) {
        Some(said) => after(desk, &who, verb, kind, &said),
        None => Err(ActError::new(INTERRUPTED, format!("interrupted while the hook `{kind}` ran"))),
    }
}

/// How much longer a member's verb may take, since its teammate asks a hook first.
///
/// # Errors
/// When the verb comes from that hook itself.
pub(super) fn patience(desk: &mut Desk, verb: &Verb) -> Result<Duration, ActError> {
    not_within_itself(desk, verb)?;
    Ok(match hook_of(desk, verb)? {
        Some(_) => desk.team()?.settings.hooks.timeout.0,
        None => Duration::ZERO,
    })
}

/// A hook that does what it is asked about would start itself, without end.
fn not_within_itself(desk: &mut Desk, verb: &Verb) -> Result<(), ActError> {
    let Some(kind) = hook_of(desk, verb)? else { return Ok(()) };
    let says = |name: &str, value: &str| std::env::var_os(name).is_some_and(|v| v == value);
    match says("CREWMUX_HOOK", kind.as_str()) && says("CREWMUX_TEAM", desk.name.as_str()) {
        true => Err(ActError::conflict(format!("the hook `{kind}` would start itself"))),
        false => Ok(()),
    }
}

/// A hook of the team, about somebody of it; `None` where it has none of this kind.
///
/// # Errors
/// When the roster cannot be read.
pub fn prepared(
    desk: &mut Desk,
    about: &Name,
    kind: HookKind,
    facts: Map<String, Value>,
) -> Result<Option<Call>, ActError> {
    let home = desk.home.clone();
    let team = desk.team()?;
    let about = match team.member(about) {
        Some(member) if !member.name.is_lead() => About::Member(member),
        _ => About::Operator,
    };
    Ok(call(&home, team, kind, about, facts))
}

/// What follows from what a hook said: an objection refuses the verb, and whoever has the task hears why; a hook that
/// failed stops nobody. The lead is told of either.
///
/// # Errors
/// The refusal.
pub fn after(desk: &mut Desk, who: &Who, verb: &Verb, kind: HookKind, said: &Said) -> Result<(), ActError> {
    let task_id = match verb {
        Verb::TaskDone { id, .. } => Some(*id),
        _ => None,
    };
    told(desk, who, kind, said, task_id);
    let why = match said {
        Said::Vetoed(why) => why,
        Said::CutOff(why) => return Err(cut_off(kind).cause(why)),
        Said::Passed | Said::Failed(_) => return Ok(()),
    };
    if let Some(id) = task_id {
        let holder = desk.board.view()?.board.get(id).and_then(|t| t.claim.as_ref()).map(|c| c.member.clone());
        if let Some(holder) = holder {
            feedback(desk, kind, &holder, &format!("task {id} is not done yet"), why)?;
        }
    }
    Err(refusal(kind, why))
}

/// The error of a verb that a hook objected to.
#[must_use]
pub fn refusal(kind: HookKind, why: &str) -> ActError {
    ActError::forbidden(format!("the hook `{kind}` refused it")).cause(why)
}

/// The error of a verb whose hook was ended from outside: it let nothing through.
#[must_use]
pub fn cut_off(kind: HookKind) -> ActError {
    ActError::conflict(format!("the hook `{kind}` was cut off"))
        .hint("do it again, if there is still somebody to do it")
}

/// A hook's words as work for a member.
///
/// # Errors
/// When its mailbox cannot be written.
pub fn feedback(desk: &mut Desk, kind: HookKind, to: &Name, summary: &str, why: &str) -> Result<(), ActError> {
    let from = desk.team()?.lead_agent_id.clone();
    let body = Body::Text(Text { content: Some(why.to_owned()), ..Text::default() });
    let mut message = Message::new(clock::new_message_id(), from, to.clone(), &body);
    message.summary = Some(format!("hook {kind}: {summary}"));
    mailbox::deliver(&desk.dir.member(to), &message, Lane::Inbox, Durability::Fast, true)?;
    Ok(())
}

/// Tells the lead, for the events, of a hook that objected or failed.
pub fn told(desk: &mut Desk, who: &Who, hook: HookKind, said: &Said, task_id: Option<TaskId>) {
    let (vetoed, text) = match said {
        Said::Passed => return,
        Said::Vetoed(why) => (true, why.clone()),
        Said::Failed(why) | Said::CutOff(why) => (false, why.clone()),
    };
    let body = Body::HookReport { hook, vetoed, said: text, task_id };
    let from = if who.authority == Authority::Member { who.name.clone() } else { Name::operator() };
    let from = crate::model::name::AgentId::new(from, desk.name.clone());
    let message = Message::new(MessageId(clock::new_message_id().0), from, Name::lead(), &body);
    let lead = desk.dir.member(&Name::lead());
    if let Err(error) = mailbox::deliver(&lead, &message, Lane::Control, Durability::Fast, false) {
        tracing::warn!("cannot tell the lead of a hook: {error}");
    }
}
