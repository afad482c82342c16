//! How the team is.

use super::args::Globals;
use super::error::CommandError;

/// Show the roster, states, tasks, open requests and unread mail
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  crewmux status
  crewmux status --watch   # redrawn when something changes
  crewmux status --json")]
pub struct Args {
    /// Stay, and show each change; with --json one object a line
    #[arg(long)]
    pub watch: bool,
}

pub fn run(_args: &Args, _globals: &Globals) -> Result<(), CommandError> {
    Err(CommandError::not_wired("status"))
}
