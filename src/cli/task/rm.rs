//! Deletes a task.

use super::super::args::Globals;
use super::super::error::CommandError;
use super::super::team;
use super::super::values::task_id;
use super::shown;
use crate::act::Verb;
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

pub fn run(args: &Args, globals: &Globals) -> Result<(), CommandError> {
    let mut client = team::open(globals)?;
    let answer = team::perform(&mut client, Verb::TaskRm { id: args.id })?;
    shown(&answer, "deleted", globals)
}
