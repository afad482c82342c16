//! Gives a task back.

use super::super::args::Globals;
use super::super::error::CommandError;
use super::super::team;
use super::super::values::task_id;
use super::{epoch_of, shown};
use crate::act::Verb;
use crate::model::id::TaskId;

/// Give a task back to the board
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  crewmux task release 3")]
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
    let verb = Verb::TaskRelease { id: args.id, epoch: epoch_of(args.id, args.epoch) };
    let answer = team::perform(&mut client, verb)?;
    shown(&answer, "released", globals)
}
