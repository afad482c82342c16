//! Ends a member now.

use super::args::Globals;
use super::error::CommandError;
use super::values::someone;
use super::{output, team};
use crate::act::Verb;
use crate::model::name::Name;

/// End a member now; its task goes back to the board
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  crewmux stop scan")]
pub struct Args {
    /// Who is to end
    #[arg(value_name = "NAME", value_parser = someone)]
    pub name: Name,
}

pub fn run(args: &Args, globals: &Globals) -> Result<(), CommandError> {
    let mut client = team::open(globals)?;
    let answer = team::perform(&mut client, Verb::Stop { name: args.name.clone() })?;
    if globals.json { output::json(&answer.value) } else { output::line(format!("{} has ended", args.name)) }
}
