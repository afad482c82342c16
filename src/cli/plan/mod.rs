//! A plan's verbs.

pub mod show;
pub mod submit;

use super::args::Globals;
use super::error::CommandError;

/// Submit a plan for approval, or read one
#[derive(clap::Args, Debug)]
#[command(
    subcommand_value_name = "VERB",
    subcommand_help_heading = "Verbs",
    after_help = "\
Examples:
  crewmux plan submit plan.md --wait
  crewmux plan show 9c41d7aa"
)]
pub struct Args {
    #[command(subcommand)]
    pub verb: Verb,
}

#[derive(clap::Subcommand, Debug)]
pub enum Verb {
    Submit(submit::Args),
    Show(show::Args),
}

pub fn run(args: &Args, globals: &Globals) -> Result<(), CommandError> {
    match &args.verb {
        Verb::Submit(args) => submit::run(args, globals),
        Verb::Show(args) => show::run(args, globals),
    }
}
