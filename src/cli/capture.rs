//! A pane's screen.

use super::args::Globals;
use super::error::CommandError;
use super::values::someone;
use crate::model::name::Name;

/// Show what a member's pane shows now
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  crewmux capture scan
  crewmux capture team-lead")]
pub struct Args {
    /// Whose pane
    #[arg(value_parser = someone)]
    pub name: Name,
}

pub fn run(_args: &Args, _globals: &Globals) -> Result<(), CommandError> {
    Err(CommandError::not_wired("capture"))
}
