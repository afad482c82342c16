//! Git work trees of members: looked at, merged, removed.

pub mod diff;
pub mod list;
pub mod merge;
pub mod rm;

use super::args::Globals;
use super::error::{CommandError, ErrorKind};
use super::team;
use crate::act::{ActError, Descent};
use crate::store::{Home, lease};
use crate::worktree::{Record, find, lives};

/// Look at the members' git work trees, merge and remove them
///
/// A member with `isolation = "worktree"` works in a tree and on a branch of its own. One in which something was
/// changed stays after its member and its team have ended.
#[derive(clap::Args, Debug)]
#[command(
    subcommand_value_name = "VERB",
    subcommand_help_heading = "Verbs",
    after_help = "\
Examples:
  crewmux worktree list
  crewmux worktree merge fix"
)]
pub struct Args {
    #[command(subcommand)]
    pub verb: Verb,
}

#[derive(clap::Subcommand, Debug)]
pub enum Verb {
    List(list::Args),
    Diff(diff::Args),
    Merge(merge::Args),
    Rm(rm::Args),
}

pub fn run(args: &Args, globals: &Globals) -> Result<(), CommandError> {
    match &args.verb {
        Verb::List(args) => list::run(args, globals),
        Verb::Diff(args) => diff::run(args, globals),
        Verb::Merge(args) => merge::run(args, globals),
        Verb::Rm(args) => rm::run(args, globals),
    }
}

/// The tree that a person means.
fn tree(globals: &Globals, home: &Home, word: &str) -> Result<Record, CommandError> {
    Ok(find(home, globals.named_team()?.as_ref(), word)?)
}

/// Merging and removing are the operator's and the lead's.
fn may_change(home: &Home, record: &Record) -> Result<(), CommandError> {
    match Descent::find().filter(|own| own.is_of(home, &record.team)) {
        Some(own) if !own.member.is_lead() => {
            Err(CommandError::new(ErrorKind::Forbidden, "only the lead and the operator merge and remove work trees")
                .hint("ask the lead: `crewmux send team-lead …`"))
        }
        _ => Ok(()),
    }
}

/// Whether its member is at work in it.
fn is_in_use(home: &Home, record: &Record) -> Result<bool, CommandError> {
    let dir = home.team(&record.team).member(&record.member);
    Ok(lives(home, record) && lease::is_held(&dir.lease())?)
}

/// Carries out what waits for git.
fn wait<T>(work: impl Future<Output = Result<T, ActError>>) -> Result<T, CommandError> {
    Ok(team::runtime()?.block_on(work)?)
}
