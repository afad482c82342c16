//! Whether a condition of `wait` holds.

use super::condition::Condition;
use super::error::CommandError;
use crate::act::{self, Client, Desk};
use crate::decide::authority::Authority;
use crate::decide::board::{Board, Caller};
use crate::model::id::TaskId;
use crate::model::name::Name;
use crate::model::spec::{Deliver, EngineKind};
use crate::model::task::TaskStatus;
use crate::model::team::Member;
use crate::view::inbox::MailView;
use crate::view::mailbox::{Mailbox, is_read};
use crate::view::status::Alive;
use crate::view::{MemberView, RequestView, gather};

/// What a condition found, where there is something to show.
#[derive(Clone, Debug, PartialEq)]
pub enum Found {
    Mail(MailView),
    Request(RequestView),
}

/// One condition, and what it needs to be looked at.
#[derive(Debug)]
pub struct Asked {
    pub condition: Condition,
    /// Whether it held at the last look.
    pub held: bool,
    mailbox: Option<Mailbox>,
    mail: Vec<MailView>,
}

impl Asked {
    /// Refuses a condition about a member or task that is not there: it would be waited for in vain.
    pub fn new(condition: Condition, client: &mut Client, member: Option<&Name>) -> Result<Self, CommandError> {
        let mailbox = match &condition {
            Condition::Message(_) => Some(Mailbox::of(client, member)?),
            _ => None,
        };
        match &condition {
            Condition::Member { name, .. } if client.desk.team()?.reserved.iter().all(|m| m.name != *name) => {
                client.desk.member(name)?;
            }
            Condition::Task { id, .. } if client.desk.board.view()?.board.get(*id).is_none() => {
                return Err(
                    CommandError::not_found(format!("no task {id}")).hint("`crewmux task list` shows the board")
                );
            }
            _ => {}
        }
        Ok(Self { condition, held: false, mailbox, mail: Vec::new() })
    }

    /// What was found, where the condition holds.
    pub fn look(&mut self, desk: &mut Desk) -> Result<Option<Vec<Found>>, CommandError> {
        // A team that was taken down is said so, whatever is waited for.
        desk.team()?;
        let holds = match &self.condition {
            Condition::Idle => is_idle(desk)?,
            Condition::Done => act::outlook(desk)?.done,
            Condition::Member { name, state } => member_is(desk, name, state)?,
            Condition::Task { id, status } => task_is(desk, *id, *status)?,
            Condition::Message(from) => {
                let Some(mailbox) = &mut self.mailbox else { return Ok(None) };
                let new = mailbox.read(desk)?;
                self.mail.extend(new.into_iter().filter(|view| !view.read && view.message.from.name == *from));
                let cursor = mailbox.cursor()?;
                self.mail.retain(|view| !is_read(&cursor, view.seq, view.message.id));
                let found = self.mail.iter().cloned().map(Found::Mail).collect();
                return Ok((!self.mail.is_empty()).then_some(found));
            }
            Condition::Request => {
                let open = desk.ledger.view()?.0.open_requests();
                let found: Vec<Found> = open.into_iter().map(|r| Found::Request(RequestView::from(r))).collect();
                return Ok((!found.is_empty()).then_some(found));
            }
        };
        Ok(holds.then(Vec::new))
    }
}

fn member_is(desk: &mut Desk, name: &Name, state: &str) -> Result<bool, CommandError> {
    let status = gather::status(desk)?;
    if name.is_lead() {
        return Ok(state == if status.lead.alive { "idle" } else { "exited" });
    }
    Ok(status.members.iter().any(|m| m.name == *name && m.state == state))
}

fn task_is(desk: &mut Desk, id: TaskId, wanted: TaskStatus) -> Result<bool, CommandError> {
    let Some(task) = desk.board.view()?.board.get(id) else { return Ok(false) };
    // What has ended stays as it ended, unless it is deleted.
    if task.status.ended() && task.status != wanted && wanted != TaskStatus::Deleted {
        let error = task.result.as_ref().and_then(|r| r.error.clone());
        let failed = CommandError::failed(format!("task {id} is {}", task.status.as_str()));
        return Err(error.into_iter().fold(failed, CommandError::because));
    }
    Ok(task.status == wanted)
}

fn is_idle(desk: &mut Desk) -> Result<bool, CommandError> {
    let status = gather::status(desk)?;
    let team = desk.team()?.clone();
    let board = &desk.board.view()?.board;
    let rests = |view: &MemberView| match view.state.as_str() {
        "exited" | "failed" => team.member(&view.name).is_none_or(|m| !m.is_active),
        // What comes and goes by itself is waited for by nobody.
        "away" => true,
        "idle" | "waiting" => team.member(&view.name).is_some_and(|m| !has_work(m, view, board)),
        _ => false,
    };
    Ok(status.tasks.in_progress == 0 && status.members.iter().all(rests))
}

/// Whether something waits that this member will take up without being told: mail that is pushed to its program, or a
/// task that a worker claims.
fn has_work(member: &Member, view: &MemberView, board: &Board) -> bool {
    let Some(spec) = member.spec.as_ref().filter(|_| view.alive == Alive::Yes) else { return false };
    let works = spec.engine == EngineKind::Worker;
    let caller = Caller {
        name: member.name.clone(),
        life: member.life,
        authority: Authority::Member,
        capabilities: &spec.capabilities,
        claim_limit: 1,
    };
    let pushed = match spec.engine {
        EngineKind::Command => spec.deliver != Deliver::Mailbox,
        EngineKind::Worker | EngineKind::Acp => true,
        EngineKind::Mcp => false,
    };
    (pushed && view.unread > 0) || (works && runs(board, &caller))
}

/// Whether a worker would claim one: of what it may take, it takes what has a program to run.
fn runs(board: &Board, caller: &Caller<'_>) -> bool {
    board.claimable_by(caller).into_iter().any(|id| board.get(id).is_some_and(|task| task.run.is_some()))
}

#[cfg(test)]
#[path = "met_tests.rs"]
mod tests;
