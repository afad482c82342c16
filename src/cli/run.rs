//! Runs a team from launch to end.

use super::args::Globals;
use super::error::CommandError;
use super::up::Launch;
use crate::model::time::Span;

/// Run a team: launch it, wait until every task has ended, take it down
///
/// Exits 0 only if all tasks completed. Ctrl-C runs the shutdown handshakes and takes the team down; a second one
/// ends it at once.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  crewmux run audit --cwd ~/src/project
  crewmux run checks --timeout 10m --json")]
pub struct Args {
    /// The team spec: a path or a name
    #[arg(value_name = "SPEC")]
    pub spec: String,
    #[command(flatten)]
    pub launch: Launch,
    /// Give up after this long (exit 5)
    #[arg(long, value_name = "DURATION")]
    pub timeout: Option<Span>,
    /// Leave the team running when its tasks have ended
    #[arg(long)]
    pub keep: bool,
}

pub fn run(_args: &Args, _globals: &Globals) -> Result<(), CommandError> {
    Err(CommandError::not_wired("run"))
}
