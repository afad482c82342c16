//! Lists the teams of this machine.

use super::args::Globals;
use super::error::CommandError;
use super::output;
use crate::model::name::Name;
use crate::os::clock;
use crate::store::{Home, TeamDir, lease, roster};
use crate::view::TeamRow;
use crate::view::teams::table;

/// List the teams on this machine, living and dead
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  crewmux ls
  crewmux ls --json")]
pub struct Args {}

pub fn run(_args: &Args, globals: &Globals) -> Result<(), CommandError> {
    let rows = rows(&Home::from_env()?)?;
    if globals.json {
        return output::json(&rows);
    }
    if rows.is_empty() {
        output::note("no teams; `crewmux up SPEC` launches one");
        return Ok(());
    }
    output::text(&table(&rows, clock::now(), &output::style()))
}

/// The living ones by name, then those that were taken down, oldest first.
fn rows(home: &Home) -> Result<Vec<TeamRow>, CommandError> {
    let living = home.teams()?.into_iter().map(|name| {
        let dir = home.team(&name);
        (name, dir)
    });
    let dead = home.dead()?.into_iter().map(|dead| (dead.name, dead.dir));
    Ok(living.chain(dead).filter_map(|(name, dir)| row(name, &dir)).collect())
}

/// A team that cannot be read is named, and the others are shown.
fn row(name: Name, dir: &TeamDir) -> Option<TeamRow> {
    let team = match roster::read_team(dir) {
        Ok(team) => team,
        Err(error) => {
            output::note(format!("note: {error}"));
            return None;
        }
    };
    Some(TeamRow {
        team: name,
        alive: lease::is_held(&dir.lead_lease()).unwrap_or(false),
        members: team.teammates().count(),
        created_at: team.created_at,
        cwd: team.cwd,
        session: team.tmux.session,
    })
}
