//! Lists the teams of this machine.

use super::args::Globals;
use super::error::CommandError;

/// List the teams on this machine, living and dead
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  crewmux ls
  crewmux ls --json")]
pub struct Args {}

pub fn run(_args: &Args, _globals: &Globals) -> Result<(), CommandError> {
    Err(CommandError::not_wired("ls"))
}
