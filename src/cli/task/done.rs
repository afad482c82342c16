//! Completes a task.

use super::super::args::Globals;
use super::super::error::CommandError;
use super::super::team;
use super::super::text;
use super::super::values::task_id;
use super::{epoch_of, shown};
use crate::act::Verb;
use crate::model::id::TaskId;
use crate::model::task::TaskResult;

/// Complete a task
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  crewmux task done 3 --result 'no unwraps left'
  ./count.sh | crewmux task done 3 --result -")]
pub struct Args {
    /// Which task
    #[arg(value_name = "ID", value_parser = task_id)]
    pub id: TaskId,
    /// What came of it; `-` reads stdin
    #[arg(long, value_name = "TEXT")]
    pub result: Option<String>,
    /// The epoch of one's claim; $CREWMUX_EPOCH otherwise. An older one is refused
    #[arg(long, value_name = "N")]
    pub epoch: Option<u64>,
}

impl Args {
    /// What came of it, as given or from stdin.
    pub fn result(&self) -> Result<Option<String>, CommandError> {
        self.result.as_deref().map(text::given_or_stdin).transpose()
    }
}

pub fn run(args: &Args, globals: &Globals) -> Result<(), CommandError> {
    let result = TaskResult { text: args.result()?.unwrap_or_default(), ..TaskResult::default() };
    let mut client = team::open(globals)?;
    let verb = Verb::TaskDone { id: args.id, epoch: epoch_of(args.id, args.epoch), result };
    let answer = team::perform_past_hooks(&mut client, verb)?;
    shown(&answer, "completed", globals)
}
