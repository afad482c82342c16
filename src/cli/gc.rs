//! Shows what teams left over, and removes it.

use super::args::Globals;
use super::error::CommandError;
use super::output;
use crate::act::Descent;
use crate::launch::{Kind, Leftover, find_leftovers, remove_leftovers};
use crate::store::Home;
use crate::view::leftovers::{self, LeftoverRow};

/// Show what dead teams left over, and remove it
///
/// Lists dead teams, launches that were cut off, processes and tmux servers that outlived their team, work trees without a
/// team, and sockets that nobody listens on. With --yes they go: a dead team's files move to dead/, and what runs is ended if
/// the team's own files name it by life, pid, start time and boot. Teams that live, changed work trees and what a person
/// opened stay.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  crewmux gc
  crewmux gc --yes")]
pub struct Args {
    /// Remove what is listed
    #[arg(long)]
    pub yes: bool,
}

pub fn run(args: &Args, globals: &Globals) -> Result<(), CommandError> {
    let home = Home::from_env()?;
    if args.yes && Descent::find().is_some() {
        return Err(CommandError::forbidden("a member cannot remove what teams left; the operator can"));
    }
    let found = if args.yes { remove_leftovers(&home)? } else { find_leftovers(&home)? };
    let failed = found.iter().filter(|item| item.failed).count();
    let rows: Vec<LeftoverRow> = found.into_iter().map(row).collect();
    if globals.json {
        output::json(&rows)?;
    } else if rows.is_empty() {
        output::note("nothing is left over");
    } else {
        output::text(&leftovers::text(&rows, &output::style()))?;
        if !args.yes && rows.iter().any(|row| row.stays.is_none()) {
            output::note("`crewmux gc --yes` removes what has no reason to stay");
        }
    }
    match failed {
        0 => Ok(()),
        1 => Err(CommandError::failed("one thing could not be removed")),
        n => Err(CommandError::failed(format!("{n} things could not be removed"))),
    }
}

fn row(found: Leftover) -> LeftoverRow {
    let Leftover { kind, team, path, pids, detail, stays, removed, failed: _ } = found;
    let kind = match kind {
        Kind::DeadTeam => "dead_team",
        Kind::Team => "team",
        Kind::Staging => "staging",
        Kind::Processes => "processes",
        Kind::Server => "server",
        Kind::Worktree => "worktree",
        Kind::Socket => "socket",
    };
    LeftoverRow { kind, team, path: path.display().to_string(), pids, detail, stays, removed }
}
