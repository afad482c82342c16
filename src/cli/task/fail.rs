//! Fails a task.

use super::super::args::Globals;
use super::super::error::CommandError;
use super::super::team;
use super::super::text;
use super::super::values::task_id;
use super::{epoch_of, shown};
use crate::act::{Answer, Verb};
use crate::model::id::TaskId;
use crate::model::task::TaskResult;

/// Say that an attempt at a task failed; it is tried again while it has retries
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  crewmux task fail 3 --result 'the build is broken'")]
pub struct Args {
    /// Which task
    #[arg(value_name = "ID", value_parser = task_id)]
    pub id: TaskId,
    /// Why; `-` reads stdin
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
    let result = TaskResult { error: args.result()?, ..TaskResult::default() };
    let mut client = team::open(globals)?;
    let verb = Verb::TaskFail { id: args.id, epoch: epoch_of(args.id, args.epoch), result };
    let answer = team::perform(&mut client, verb)?;
    shown(&answer, after(&answer), globals)
}

/// An attempt that is tried again leaves the task pending.
fn after(answer: &Answer) -> &'static str {
    if answer.value["status"] == "pending" { "failed; it will be tried again" } else { "failed" }
}
