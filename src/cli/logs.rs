//! A member's output.

use super::args::Globals;
use super::error::CommandError;
use super::values::someone;
use crate::model::name::Name;

/// Show what a member's program has printed
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  crewmux logs scan --lines 50
  crewmux logs scan --follow")]
pub struct Args {
    /// Whose output
    #[arg(value_parser = someone)]
    pub name: Name,
    /// Stay, and show output as it comes
    #[arg(long, short)]
    pub follow: bool,
    /// How many of the last lines
    #[arg(long, short = 'n', value_name = "N", default_value_t = 200)]
    pub lines: usize,
}

pub fn run(_args: &Args, _globals: &Globals) -> Result<(), CommandError> {
    Err(CommandError::not_wired("logs"))
}
