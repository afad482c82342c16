//! Launches a team.

use std::path::PathBuf;

use super::args::Globals;
use super::error::CommandError;
use super::values::key_value;
use crate::model::name::Name;

/// Launch a team: session, lead, a pane for each member
///
/// SPEC is a path, or a name that is looked for as teams/NAME.toml here and in the folders above up to the root of
/// the repository, then in ~/.config/crewmux/teams. Returns when every member has said that it is ready, and prints how to attach.
/// A dead team of the same name is moved aside; a living one is a conflict.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  crewmux up audit   # launch teams/audit.toml
  crewmux up ./my.toml --set out=/tmp/report.md --attach
  crewmux up --resume audit   # take over what lives, restart the rest")]
pub struct Args {
    /// The team spec: a path or a name
    #[arg(value_name = "SPEC", required_unless_present = "resume")]
    pub spec: Option<String>,
    /// Take over what lives of this team and restart the rest
    #[arg(long, value_name = "TEAM", conflicts_with_all = ["spec", "name", "cwd", "dry_run", "set"])]
    pub resume: Option<Name>,
    #[command(flatten)]
    pub launch: Launch,
    /// Show the team's session once it is up
    #[arg(long)]
    pub attach: bool,
    /// Check the spec, print what would be launched, start nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// How a spec becomes a team; `up` and `run` share it.
#[derive(clap::Args, Debug, Clone, Default)]
pub struct Launch {
    /// Call the team NAME instead of what the spec says
    #[arg(long, value_name = "NAME")]
    pub name: Option<Name>,
    /// The folder the team works in, instead of this one
    #[arg(long, value_name = "DIR")]
    pub cwd: Option<PathBuf>,
    /// Fill in a variable of the spec; may be repeated
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_value)]
    pub set: Vec<(String, String)>,
}

pub fn run(_args: &Args, _globals: &Globals) -> Result<(), CommandError> {
    Err(CommandError::not_wired("up"))
}
