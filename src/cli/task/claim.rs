//! Claims a task.

use super::super::args::Globals;
use super::super::error::CommandError;
use super::super::values::task_id;
use crate::model::id::TaskId;

/// Take a task: the one named, or the next that is free
///
/// Prints the task; exits 7 where there is none to be had.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  crewmux task claim
  crewmux task claim 3 --json")]
pub struct Args {
    /// Which task; the next free one otherwise
    #[arg(value_name = "ID", value_parser = task_id)]
    pub id: Option<TaskId>,
}

pub fn run(_args: &Args, _globals: &Globals) -> Result<(), CommandError> {
    Err(CommandError::not_wired("task claim"))
}
