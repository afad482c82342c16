//! Deletes a task.

use super::super::args::Globals;
use super::super::error::CommandError;
use super::super::values::task_id;
use crate::model::id::TaskId;

/// Delete a task; what waits for it fails
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  crewmux task rm 3")]
pub struct Args {
    /// Which task
    #[arg(value_name = "ID", value_parser = task_id)]
    pub id: TaskId,
}

pub fn run(_args: &Args, _globals: &Globals) -> Result<(), CommandError> {
    Err(CommandError::not_wired("task rm"))
}
