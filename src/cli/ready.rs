//! A program says that it is ready.

use super::args::Globals;
use super::error::CommandError;
use super::{output, team};
use crate::act::Verb;

/// Say that this program is ready for mail
///
/// For programs whose mail is pasted into their terminal: the member counts as started when its program has run this.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  crewmux ready")]
pub struct Args {}

pub fn run(_args: &Args, globals: &Globals) -> Result<(), CommandError> {
    let mut client = team::open(globals)?;
    let answer = team::perform(&mut client, Verb::Ready)?;
    if globals.json { output::json(&answer.value) } else { Ok(()) }
}
