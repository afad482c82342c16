//! Waits for a condition.

use super::args::Globals;
use super::condition::Condition;
use super::error::CommandError;
use crate::model::time::Span;

/// Wait until something is so
///
/// Conditions:
///   idle                nobody works and no mail is unread
///   done                no task is in progress and none can still be claimed
///   member:NAME=STATE   a member is in a state (idle, busy, exited, …)
///   task:ID=STATUS      a task has a status (completed, failed, …)
///   message:FROM        mail from FROM is unread in one's own mailbox
///   request             a request is open
///
/// Given more than once, all must hold. Exits 5 when the time runs out.
#[derive(clap::Args, Debug)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  crewmux wait --for done --timeout 10m
  crewmux wait --for task:3=completed --for member:scan=idle"
)]
pub struct Args {
    /// What to wait for; may be repeated
    #[arg(long = "for", value_name = "COND", required = true)]
    pub conditions: Vec<Condition>,
    /// Give up after this long (exit 5)
    #[arg(long, value_name = "DURATION")]
    pub timeout: Option<Span>,
}

pub fn run(_args: &Args, _globals: &Globals) -> Result<(), CommandError> {
    Err(CommandError::not_wired("wait"))
}
