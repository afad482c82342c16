//! The lead process; `up` starts it.

use super::args::Globals;
use super::error::CommandError;
use std::path::PathBuf;

/// Run a team's lead in this pane
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The folder that holds all teams' files
    #[arg(long, value_name = "DIR")]
    pub home: PathBuf,
}

pub fn run(_args: &Args, _globals: &Globals) -> Result<(), CommandError> {
    Err(CommandError::not_wired("lead"))
}
