//! Starts work on a task.

use super::super::args::Globals;
use super::super::error::CommandError;
use super::super::values::task_id;
use crate::model::id::TaskId;

/// Say that work on a task begins; claims it where that is not done yet
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  crewmux task start 3")]
pub struct Args {
    /// Which task
    #[arg(value_name = "ID", value_parser = task_id)]
    pub id: TaskId,
    /// The epoch of one's claim; $CREWMUX_EPOCH otherwise. An older one is refused
    #[arg(long, value_name = "N")]
    pub epoch: Option<u64>,
}

pub fn run(_args: &Args, _globals: &Globals) -> Result<(), CommandError> {
    Err(CommandError::not_wired("task start"))
}
