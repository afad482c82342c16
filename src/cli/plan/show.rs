//! Shows a plan.

use super::super::args::Globals;
use super::super::error::CommandError;
use super::super::values::RequestRef;

/// Show a plan as it was submitted
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  crewmux plan show 9c41d7aa")]
pub struct Args {
    /// The request the plan came with
    #[arg(value_name = "ID")]
    pub id: RequestRef,
}

pub fn run(_args: &Args, _globals: &Globals) -> Result<(), CommandError> {
    Err(CommandError::not_wired("plan show"))
}
