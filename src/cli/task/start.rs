//! Starts work on a task.

use super::super::args::Globals;
use super::super::error::CommandError;
use super::super::team;
use super::super::values::task_id;
use super::{epoch_of, shown};
use crate::act::{Answer, Verb};
use crate::model::id::TaskId;
use crate::model::task::TaskStatus;
use serde_json::json;

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

pub fn run(args: &Args, globals: &Globals) -> Result<(), CommandError> {
    let mut client = team::open(globals)?;
    let me = client.name();
    let epoch = epoch_of(args.id, args.epoch);
    let task = client.desk.board.view()?.board.get(args.id).cloned();
    let mine = task.filter(|task| {
        task.status == TaskStatus::InProgress && task.claim.as_ref().is_some_and(|claim| claim.member == me)
    });
    match mine {
        Some(task) if epoch.is_none_or(|epoch| epoch == task.epoch) => {
            shown(&Answer::of(json!(task)), "in progress", globals)
        }
        Some(task) => Err(CommandError::conflict(format!(
            "task {} is at epoch {}, not {}; drop the work",
            task.id,
            task.epoch,
            epoch.unwrap_or_default()
        ))),
        None => {
            let answer = team::perform(&mut client, Verb::TaskClaim { id: Some(args.id) })?;
            shown(&answer, "in progress", globals)
        }
    }
}
