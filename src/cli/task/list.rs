//! Lists the board.

use super::super::args::Globals;
use super::super::error::CommandError;
use super::super::values::task_status;
use crate::model::name::Name;
use crate::model::task::TaskStatus;

/// List the tasks
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  crewmux task list --status pending
  crewmux task list --json")]
pub struct Args {
    /// Only tasks of this status; may be repeated
    #[arg(long, value_parser = task_status())]
    pub status: Vec<TaskStatus>,
    /// Only tasks of this owner
    #[arg(long, value_name = "NAME")]
    pub owner: Option<Name>,
}

pub fn run(_args: &Args, _globals: &Globals) -> Result<(), CommandError> {
    Err(CommandError::not_wired("task list"))
}
