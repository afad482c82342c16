//! The teammate process; the lead starts it.

use std::path::PathBuf;

use super::args::Globals;
use super::error::CommandError;
use crate::model::id::{Life, SpawnId};

/// Run a teammate in this pane
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The folder that holds all teams' files
    #[arg(long, value_name = "DIR")]
    pub home: PathBuf,
    /// The life this start is
    #[arg(long, value_name = "UUID")]
    pub life: Life,
    /// The place in the roster that waits for this life
    #[arg(long, value_name = "UUID")]
    pub spawn_id: SpawnId,
}

pub fn run(_args: &Args, _globals: &Globals) -> Result<(), CommandError> {
    Err(CommandError::not_wired("teammate"))
}
