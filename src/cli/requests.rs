//! Lists requests.

use super::args::Globals;
use super::error::CommandError;

/// List the open requests: plans, shutdowns, permissions
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  crewmux requests
  crewmux requests --all --json")]
pub struct Args {
    /// Those already decided or ended, too
    #[arg(long)]
    pub all: bool,
}

pub fn run(_args: &Args, _globals: &Globals) -> Result<(), CommandError> {
    Err(CommandError::not_wired("requests"))
}
