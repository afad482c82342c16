//! Starts a member again.

use super::args::Globals;
use super::error::CommandError;
use super::values::someone;
use super::{output, team};
use crate::act::Verb;
use crate::model::name::Name;

/// Start a member again: same name, same mailbox, a new life
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  crewmux restart scan")]
pub struct Args {
    /// Who is to start again
    #[arg(value_name = "NAME", value_parser = someone)]
    pub name: Name,
}

pub fn run(args: &Args, globals: &Globals) -> Result<(), CommandError> {
    let mut client = team::open(globals)?;
    let answer = team::perform(&mut client, Verb::Restart { name: args.name.clone() })?;
    if globals.json {
        return output::json(&answer.value);
    }
    // Whose program somebody else starts has nothing yet that could be up.
    let what = if answer.value["pid"].is_null() { "has its place again" } else { "is up again" };
    output::line(format!("{} {what}", args.name))
}
