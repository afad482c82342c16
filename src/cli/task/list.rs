//! Lists the board.

use super::super::args::Globals;
use super::super::error::CommandError;
use super::super::values::task_status;
use super::super::{output, team};
use crate::model::name::Name;
use crate::model::task::Task;
use crate::model::task::TaskStatus;
use crate::view::tasks::table;

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

pub fn run(args: &Args, globals: &Globals) -> Result<(), CommandError> {
    let mut client = team::open(globals)?;
    let board = &client.desk.board.view()?.board;
    let tasks: Vec<Task> = board.tasks().values().filter(|task| args.wants(task)).cloned().collect();
    if globals.json {
        return output::json(&tasks);
    }
    if tasks.is_empty() {
        output::note("no tasks");
        return Ok(());
    }
    output::text(&table(&tasks, &output::style()))
}

impl Args {
    /// Deleted ones only where they are asked for.
    fn wants(&self, task: &Task) -> bool {
        let status = match self.status.as_slice() {
            [] => task.status != TaskStatus::Deleted,
            some => some.contains(&task.status),
        };
        status && self.owner.as_ref().is_none_or(|owner| task.owner.as_ref() == Some(owner))
    }
}
