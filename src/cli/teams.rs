//! Team specs that can be launched.

use super::args::Globals;
use super::error::CommandError;
use super::{output, specs};
use crate::view::specs::table;

/// List the team specs that `up` and `run` find by name, and where
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  crewmux teams
  crewmux teams --json")]
pub struct Args {}

pub fn run(_args: &Args, globals: &Globals) -> Result<(), CommandError> {
    let found = specs::all();
    if globals.json {
        return output::json(&found);
    }
    if found.is_empty() {
        output::note("no team specs found; looked in:");
        for dir in specs::folders() {
            output::note(format!("  {}", dir.display()));
        }
        return Ok(());
    }
    output::text(&table(&found, &output::style()))
}
