//! Rejects a request.

use super::approve::{Said, decide};
use super::args::Globals;
use super::error::CommandError;
use super::values::RequestRef;

/// Reject a request, and say why
///
/// ID is a request's id, or 4 or more characters of its beginning or end, as `crewmux requests` shows them.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  crewmux reject 9c41d7aa --reason 'still compiling; ask again in a minute'")]
pub struct Args {
    /// Which request
    #[arg(value_name = "ID")]
    pub id: RequestRef,
    /// Why, for whoever asked; a plan's author reads it as feedback
    #[arg(long, visible_alias = "feedback", value_name = "TEXT")]
    pub reason: Option<String>,
    /// Only if the plan still has this hash
    #[arg(long, value_name = "HASH")]
    pub hash: Option<String>,
}

pub fn run(args: &Args, globals: &Globals) -> Result<(), CommandError> {
    let said = Said { approve: false, feedback: args.reason.as_ref(), hash: args.hash.as_ref(), always: false };
    decide(&args.id, &said, globals)
}
