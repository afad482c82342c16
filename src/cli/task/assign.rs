//! Assigns a task.

use super::super::args::Globals;
use super::super::error::CommandError;
use super::super::values::task_id;
use crate::model::id::TaskId;
use crate::model::name::Name;

/// Fix who alone may take a task
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  crewmux task assign 3 scan")]
pub struct Args {
    /// Which task
    #[arg(value_name = "ID", value_parser = task_id)]
    pub id: TaskId,
    /// Who is to take it
    pub name: Name,
}

pub fn run(_args: &Args, _globals: &Globals) -> Result<(), CommandError> {
    Err(CommandError::not_wired("task assign"))
}
