//! The door: who may do what, and the way to whoever does it.

use super::desk::Desk;
use super::error::ActError;
use super::verb::{Answer, Verb};
use super::who::Who;
use super::{ask, permission, report, send, task};
use crate::decide::authority::Authority;
use crate::model::id::MessageId;
use crate::store::roster;

/// What became of a verb.
#[derive(Clone, Debug, PartialEq)]
pub enum Done {
    /// It is done.
    Answer(Answer),
    /// The lead was asked; its reply names this message.
    Asked(MessageId),
}

/// Does `verb` in the name of `who`, or asks the lead to.
///
/// # Errors
/// Every refusal, with the exit code and the hint that it is to end with.
pub fn act(desk: &mut Desk, who: &Who, id: MessageId, verb: Verb) -> Result<Done, ActError> {
    may(who, &verb)?;
    let dir = desk.dir.clone();
    roster::check_version(&dir, desk.team()?)?;
    match verb {
        Verb::Send(send) => send::send(desk, who, id, send).map(Done::Answer),
        Verb::TaskAdd { .. }
        | Verb::TaskClaim { .. }
        | Verb::TaskDone { .. }
        | Verb::TaskFail { .. }
        | Verb::TaskRelease { .. }
        | Verb::TaskAssign { .. }
        | Verb::TaskRm { .. } => task::task(desk, who, verb).map(Done::Answer),
        Verb::SubmitPlan { request_id, plan, summary } => {
            ask::submit_plan(desk, who, request_id, plan, summary).map(Done::Answer)
        }
        Verb::RequestPermission { request_id, tool, input, reason, scope, expires_ms } => {
            let wanted = permission::Wanted { tool, input, reason, scope };
            permission::ask(desk, who, request_id, wanted, expires_ms).map(Done::Answer)
        }
        Verb::Report { status, summary, result, error, output_file } => {
            let said = report::Said { status, summary, result, error, output_file };
            report::report(desk, who, id, said).map(Done::Answer)
        }
        Verb::Withdraw { request_id } => permission::withdraw(desk, who, request_id).map(Done::Answer),
        Verb::Ping { name } => ask::ping(desk, who, id, &name).map(Done::Answer),
        Verb::Ack { ids, up_to } => ask::ack(desk, who, &ids, up_to).map(Done::Answer),
        // A teammate answers this itself; nobody else has a program that could be ready.
        Verb::Ready => Err(ActError::forbidden("only a member's program says that it is ready")),
        // So is this: only a member has children.
        Verb::WorktreeAdd { .. } | Verb::WorktreeRemove { .. } => {
            Err(ActError::forbidden("only a member's agent asks for work trees of its children")
                .hint("`crewmux worktree` looks at trees, merges and removes them"))
        }
        Verb::Spawn { .. } | Verb::Stop { .. } | Verb::Restart { .. } | Verb::Shutdown { .. } | Verb::Decide { .. } => {
            ask::lead(desk, who, id, verb).map(Done::Asked)
        }
    }
}

/// The whole table of rights. A member's word about its own shutdown never comes here: its teammate takes it.
pub(super) fn may(who: &Who, verb: &Verb) -> Result<(), ActError> {
    let member = who.authority == Authority::Member;
    let refuse =
        |text: &str| Err(ActError::forbidden(text.to_owned()).hint("ask the lead: `crewmux send team-lead …`"));
    match verb {
        Verb::Spawn { .. } if member => {
            Err(ActError::forbidden("the team roster is flat: members do not start members")
                .hint("ask the lead: `crewmux send team-lead …`"))
        }
        Verb::Ping { .. } if member => refuse("the answer to a ping is the lead's"),
        Verb::Stop { .. } | Verb::Restart { .. } | Verb::Shutdown { .. } if member => {
            refuse("members cannot end or restart each other or the lead; the lead and the operator can")
        }
        Verb::Decide { .. } if member => {
            refuse("only the lead and the operator decide requests; a member decides only its own shutdown")
        }
        Verb::TaskAssign { .. } if member => refuse("only the lead and the operator assign tasks"),
        Verb::SubmitPlan { .. } if !member => {
            Err(ActError::forbidden("only a member submits a plan").hint("act for one with `--member NAME`"))
        }
        Verb::RequestPermission { .. } | Verb::Withdraw { .. } if !member => {
            Err(ActError::forbidden("only a member asks for permission").hint("act for one with `--member NAME`"))
        }
        Verb::Report { .. } if !member => {
            Err(ActError::forbidden("only a member reports to the lead").hint("act for one with `--member NAME`"))
        }
        Verb::TaskClaim { .. } if !member => {
            Err(ActError::forbidden("a claim belongs to a member's life").hint("act for one with `--member NAME`"))
        }
        _ => Ok(()),
    }
}
