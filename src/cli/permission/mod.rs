//! A permission's verbs.

pub mod ask;
pub mod list;

use super::args::Globals;
use super::error::CommandError;

/// Ask for permission, or see what was allowed for always
#[derive(clap::Args, Debug)]
#[command(
    subcommand_value_name = "VERB",
    subcommand_help_heading = "Verbs",
    after_help = "\
Examples:
  crewmux permission ask deploy --reason 'the tests are green' --wait
  crewmux permission list"
)]
pub struct Args {
    #[command(subcommand)]
    pub verb: Verb,
}

#[derive(clap::Subcommand, Debug)]
pub enum Verb {
    Ask(ask::Args),
    List(list::Args),
}

pub fn run(args: &Args, globals: &Globals) -> Result<(), CommandError> {
    match &args.verb {
        Verb::Ask(args) => ask::run(args, globals),
        Verb::List(args) => list::run(args, globals),
    }
}
