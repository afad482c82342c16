//! Shows the team's session.

use super::args::Globals;
use super::error::CommandError;
use super::values::someone;
use crate::model::name::Name;

/// Show the team's tmux session, at a member's pane
///
/// From inside another tmux, one new window there holds the team's session.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  crewmux attach scan
  crewmux attach --print   # the command that does it, for a script")]
pub struct Args {
    /// Whose pane to show; the lead's otherwise
    #[arg(value_name = "MEMBER", value_parser = someone)]
    pub pane: Option<Name>,
    /// Look only: keys do nothing
    #[arg(long)]
    pub read_only: bool,
    /// Print the tmux command instead of running it
    #[arg(long)]
    pub print: bool,
}

pub fn run(_args: &Args, _globals: &Globals) -> Result<(), CommandError> {
    Err(CommandError::not_wired("attach"))
}
