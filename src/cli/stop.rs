//! Ends a member now.

use super::args::Globals;
use super::error::CommandError;
use crate::model::name::Name;

/// End a member now; its task goes back to the board
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  crewmux stop scan")]
pub struct Args {
    /// Who is to end
    pub name: Name,
}

pub fn run(_args: &Args, _globals: &Globals) -> Result<(), CommandError> {
    Err(CommandError::not_wired("stop"))
}
