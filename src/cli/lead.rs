//! The lead process; `up` starts it.

use super::args::Globals;
use super::error::CommandError;
use crate::launch::start_take_down;
use crate::lead::{self, Outcome, Place};
use crate::os::process::ProcessId;
use crate::store::Home;
use std::path::PathBuf;

/// Run a team's lead in this pane
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The folder that holds all teams' files
    #[arg(long, value_name = "DIR")]
    pub home: PathBuf,
    /// The process that makes the team, as PID:START
    #[arg(long, value_name = "PID:START", value_parser = process_id)]
    pub maker: Option<ProcessId>,
}

fn process_id(text: &str) -> Result<ProcessId, String> {
    let wrong = || format!("`{text}` is not PID:START");
    let (pid, start) = text.split_once(':').ok_or_else(wrong)?;
    Ok(ProcessId { pid: pid.parse().map_err(|_| wrong())?, start_time: start.parse().map_err(|_| wrong())? })
}

pub fn run(args: &Args, globals: &Globals) -> Result<(), CommandError> {
    let team = globals.team.clone().ok_or_else(|| CommandError::usage("a lead is started with --team"))?;
    let home = Home::at(args.home.clone());
    super::log::to_file(&home.team(&team).path().join("lead.log"));
    let place = Place { home: args.home.clone(), team: team.clone(), maker: args.maker };
    match lead::run(place).map_err(|e| CommandError::failed(format!("cannot lead {team}")).cause(&e))? {
        Outcome::Left | Outcome::LaunchFailed(_) => Ok(()),
        Outcome::TakeDown => Ok(start_take_down(&home, &team)?),
    }
}
