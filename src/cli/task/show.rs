//! Shows a task.

use super::super::args::Globals;
use super::super::error::CommandError;
use super::super::values::task_id;
use super::super::{output, team};
use crate::model::id::TaskId;
use crate::view::tasks::page;

/// Show one task
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  crewmux task show 3")]
pub struct Args {
    /// Which task
    #[arg(value_name = "ID", value_parser = task_id)]
    pub id: TaskId,
}

pub fn run(args: &Args, globals: &Globals) -> Result<(), CommandError> {
    let mut client = team::open(globals)?;
    let board = &client.desk.board.view()?.board;
    let Some(task) = board.get(args.id) else {
        return Err(CommandError::not_found(format!("no task {}", args.id)).hint("`crewmux task list` shows the board"));
    };
    if globals.json { output::json(task) } else { output::text(&page(task, &output::style())) }
}
