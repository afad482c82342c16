//! The board's verbs.

pub mod add;
pub mod assign;
pub mod claim;
pub mod done;
pub mod fail;
pub mod graph;
pub mod list;
pub mod release;
pub mod rm;
pub mod show;
pub mod start;

use super::args::Globals;
use super::error::CommandError;
use super::output;
use crate::act::Answer;
use crate::model::id::TaskId;
use crate::view::plain::{Lines, safe};

/// Work with the team's board of tasks
#[derive(clap::Args, Debug)]
#[command(
    subcommand_value_name = "VERB",
    subcommand_help_heading = "Verbs",
    after_help = "\
Examples:
  crewmux task add 'Count lines' --run -- ./count.sh src
  crewmux task list"
)]
pub struct Args {
    #[command(subcommand)]
    pub verb: Verb,
}

#[derive(clap::Subcommand, Debug)]
pub enum Verb {
    Add(add::Args),
    List(list::Args),
    Show(show::Args),
    Claim(claim::Args),
    Start(start::Args),
    Done(done::Args),
    Fail(fail::Args),
    Release(release::Args),
    Assign(assign::Args),
    Rm(rm::Args),
    Graph(graph::Args),
}

pub fn run(args: &Args, globals: &Globals) -> Result<(), CommandError> {
    match &args.verb {
        Verb::Add(args) => add::run(args, globals),
        Verb::List(args) => list::run(args, globals),
        Verb::Show(args) => show::run(args, globals),
        Verb::Claim(args) => claim::run(args, globals),
        Verb::Start(args) => start::run(args, globals),
        Verb::Done(args) => done::run(args, globals),
        Verb::Fail(args) => fail::run(args, globals),
        Verb::Release(args) => release::run(args, globals),
        Verb::Assign(args) => assign::run(args, globals),
        Verb::Rm(args) => rm::run(args, globals),
        Verb::Graph(args) => graph::run(args, globals),
    }
}

/// The epoch of the caller's claim: as given, else as the environment of what runs this very task has it.
fn epoch_of(id: TaskId, given: Option<u64>) -> Option<u64> {
    let var = |name: &str| std::env::var(name).ok();
    given.or_else(|| {
        let own: TaskId = var("CREWMUX_TASK")?.parse().ok()?;
        var("CREWMUX_EPOCH").filter(|_| own == id)?.parse().ok()
    })
}

/// Prints the task that a verb was about: whole as JSON, else `#3 claimed: Count lines`.
fn shown(answer: &Answer, what: &str, globals: &Globals) -> Result<(), CommandError> {
    if globals.json {
        return output::json(&answer.value);
    }
    let text = |key: &str| answer.value[key].as_str().unwrap_or_default();
    output::line(format!("#{} {what}: {}", text("id"), safe(text("subject"), Lines::Escape)))
}
