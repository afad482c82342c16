//! What happened.

use super::args::Globals;
use super::condition::Since;
use super::error::CommandError;

/// Show what happened in the team
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  crewmux events --follow
  crewmux events --since 10m --type member_exited --json")]
pub struct Args {
    /// Stay, and show events as they come
    #[arg(long)]
    pub follow: bool,
    /// Only events after this: a length of time, an RFC 3339 time, or the number of an event
    #[arg(long, value_name = "WHEN")]
    pub since: Option<Since>,
    /// Only events of this type; may be repeated
    #[arg(long = "type", value_name = "TYPE")]
    pub kind: Vec<String>,
}

pub fn run(_args: &Args, _globals: &Globals) -> Result<(), CommandError> {
    Err(CommandError::not_wired("events"))
}
