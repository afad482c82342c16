//! Approves a request.

use super::args::Globals;
use super::error::CommandError;
use super::values::RequestRef;

/// Approve a request
///
/// ID is a request's id, or 4 or more characters of its beginning or end, as `crewmux requests` shows them.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  crewmux approve 9c41d7aa
  crewmux approve 9c41d7aa --feedback 'mind the lock file'")]
pub struct Args {
    /// Which request
    #[arg(value_name = "ID")]
    pub id: RequestRef,
    /// A word to whoever asked
    #[arg(long, value_name = "TEXT")]
    pub feedback: Option<String>,
    /// Only if the plan still has this hash
    #[arg(long, value_name = "HASH")]
    pub hash: Option<String>,
    /// A permission: for the rest of this team, too
    #[arg(long)]
    pub always: bool,
}

pub fn run(_args: &Args, _globals: &Globals) -> Result<(), CommandError> {
    Err(CommandError::not_wired("approve"))
}
