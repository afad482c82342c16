//! A program says that it is ready.

use super::args::Globals;
use super::error::CommandError;

/// Say that this program is ready for mail
///
/// For programs whose mail is pasted into their terminal: the member counts as started when its program has run this.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  crewmux ready")]
pub struct Args {}

pub fn run(_args: &Args, _globals: &Globals) -> Result<(), CommandError> {
    Err(CommandError::not_wired("ready"))
}
