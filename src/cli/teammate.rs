//! The teammate process; the lead starts it.

use std::path::PathBuf;

use super::args::Globals;
use super::error::CommandError;
use crate::model::id::{Life, SpawnId};
use crate::store::Home;
use crate::teammate::{self, Place};

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

pub fn run(args: &Args, globals: &Globals) -> Result<(), CommandError> {
    let (Some(team), Some(member)) = (globals.team.clone(), globals.member.clone()) else {
        return Err(CommandError::usage("a teammate is started with --team and --member"));
    };
    let dir = Home::at(args.home.clone()).team(&team).member(&member);
    super::log::to_file(&dir.path().join("teammate.log"));
    let place =
        Place { home: args.home.clone(), team, member: member.clone(), life: args.life, spawn_id: args.spawn_id };
    let code = teammate::run(place).map_err(|e| CommandError::failed(format!("`{member}` cannot run")).cause(&e))?;
    // The pane shows what tmux makes of this code; whoever needs it reads the exit record.
    std::process::exit(code.into())
}
