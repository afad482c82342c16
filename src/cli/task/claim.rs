//! Claims a task.

use super::super::args::Globals;
use super::super::error::CommandError;
use super::super::error::ErrorKind;
use super::super::values::task_id;
use super::super::{output, team};
use super::shown;
use crate::act::Verb;
use crate::model::id::TaskId;
use serde_json::Value;

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

pub fn run(args: &Args, globals: &Globals) -> Result<(), CommandError> {
    let mut client = team::open(globals)?;
    match team::perform(&mut client, Verb::TaskClaim { id: args.id }) {
        Ok(answer) => shown(&answer, "claimed", globals),
        Err(error) => {
            if globals.json && error.kind == ErrorKind::Conflict {
                output::json(&Value::Null)?;
            }
            Err(error)
        }
    }
}
