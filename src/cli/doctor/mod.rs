//! Checks this machine and a team's files.

mod agents;
mod files;
mod fix;
mod inotify;
mod machine;
mod members;
mod panes;
mod ping;

use super::args::Globals;
use super::error::CommandError;
use super::{output, pane, team};
use crate::act::{Descent, Desk};
use crate::model::name::Name;
use crate::store::Home;
use crate::view::answers::{Finding, Severity, findings};
use crate::worktree::Record;

/// Check this machine and the teams' files, and say what to do
///
/// Looks, asks every living teammate whether it hears, and starts each agent that is installed and has a preset, up to its
/// answer to `initialize`. With --fix it also puts right what can be put right without anybody losing anything. With --team
/// (or $CREWMUX_TEAM) one team is checked, else every team there is. Exits 1 when something is broken; a warning is no
/// failure. What dead teams left over is for `crewmux gc`.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  crewmux doctor
  crewmux doctor --team audit --json
  crewmux doctor --fix")]
pub struct Args {
    /// End half-written lines, remove what dead writers left, take away others' rights
    #[arg(long)]
    pub fix: bool,
}

pub fn run(args: &Args, globals: &Globals) -> Result<(), CommandError> {
    let home = Home::from_env()?;
    let mut found = pane::block_on(async {
        let mut found = machine::look(&home).await;
        found.extend(agents::look().await);
        Ok(found)
    })?;
    found.extend(trees(&home)?);
    for name in teams(globals, &home)? {
        if args.fix {
            found.extend(fix::team(&home, &name)?);
        }
        found.extend(team_findings(&home, &name));
    }
    if globals.json {
        output::json(&found)?;
    } else {
        output::text(&findings(&found, &output::style()))?;
    }
    match found.iter().filter(|f| f.severity == Severity::Broken).count() {
        0 => Ok(()),
        1 => Err(CommandError::failed("one thing is broken")),
        n => Err(CommandError::failed(format!("{n} things are broken"))),
    }
}

/// Records of work trees that cannot be read: nothing removes those trees, nor looks into them.
fn trees(home: &Home) -> Result<Vec<Finding>, CommandError> {
    let (_, unreadable) = Record::all(home)?;
    let found = unreadable.into_iter().map(|path| {
        let text = format!("{} cannot be read, or a newer crewmux wrote it", path.display());
        Finding::new(Severity::Warning, "work trees", text)
            .hint("its tree stays; `git worktree list` in the repository names it")
    });
    Ok(found.collect())
}

/// The team that is named, which must be there; else all.
fn teams(globals: &Globals, home: &Home) -> Result<Vec<Name>, CommandError> {
    if globals.named_team()?.is_some() {
        let name = team::resolve(globals, home)?;
        Desk::open(home, &name)?;
        return Ok(vec![name]);
    }
    Ok(home.teams()?)
}

/// A team that cannot be read is itself what was found.
fn team_findings(home: &Home, name: &Name) -> Vec<Finding> {
    let looked = Desk::open(home, name).map_err(CommandError::from).and_then(|mut desk| {
        let mut found = members::look(&mut desk)?;
        // A member has no way to the tmux server, and its panes are none of its business.
        if Descent::find().is_none() {
            found.extend(panes::look(&mut desk)?);
        }
        found.extend(ping::look(home, name)?);
        found.extend(files::look(&mut desk)?);
        Ok(found)
    });
    looked.unwrap_or_else(|error| {
        let hint = error.hints.first().cloned().unwrap_or_else(|| {
            format!("`crewmux down --force --team {name}` ends what is left of it; its files go to dead/")
        });
        vec![Finding::new(Severity::Broken, format!("team {name}"), error.message).hint(hint)]
    })
}
