//! A pane's screen.

use super::args::Globals;
use super::error::CommandError;
use super::pane::{Place, block_on};
use super::values::someone;
use super::{output, team};
use crate::model::name::Name;
use serde_json::json;

/// Show what a member's pane shows now
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  crewmux capture scan
  crewmux capture team-lead")]
pub struct Args {
    /// Whose pane
    #[arg(value_parser = someone)]
    pub name: Name,
}

pub fn run(args: &Args, globals: &Globals) -> Result<(), CommandError> {
    let mut client = team::open(globals)?;
    let screen = block_on(async {
        let place = Place::of(&mut client.desk)?;
        let pane = place.pane(&mut client.desk, &args.name).await?;
        Ok(place.tmux.capture(&pane, None).await?)
    })?;
    if globals.json {
        return output::json(&json!({"name": args.name, "screen": screen}));
    }
    // What lies below the last line was never written to.
    output::line(screen.trim_end())
}
