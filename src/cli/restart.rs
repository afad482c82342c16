//! Starts a member again.

use super::args::Globals;
use super::error::CommandError;
use crate::model::name::Name;

/// Start a member again: same name, same mailbox, a new life
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  crewmux restart scan")]
pub struct Args {
    /// Who is to start again
    pub name: Name,
}

pub fn run(_args: &Args, _globals: &Globals) -> Result<(), CommandError> {
    Err(CommandError::not_wired("restart"))
}
