//! Checks machine and team.

use super::args::Globals;
use super::error::CommandError;

/// Check this machine and the team's files, and say what to do
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  crewmux doctor
  crewmux doctor --team audit --json")]
pub struct Args {}

pub fn run(_args: &Args, _globals: &Globals) -> Result<(), CommandError> {
    Err(CommandError::not_wired("doctor"))
}
