//! Assigns a task.

use super::super::args::Globals;
use super::super::error::CommandError;
use super::super::team;
use super::super::values::task_id;
use super::shown;
use crate::act::Verb;
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

pub fn run(args: &Args, globals: &Globals) -> Result<(), CommandError> {
    let mut client = team::open(globals)?;
    let verb = Verb::TaskAssign { id: args.id, member: Some(args.name.clone()) };
    let answer = team::perform(&mut client, verb)?;
    shown(&answer, &format!("kept for {}", args.name), globals)
}
