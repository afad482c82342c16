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
