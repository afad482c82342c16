//! Takes the team down.

use std::path::PathBuf;

use super::args::Globals;
use super::error::CommandError;
use super::{output, team};
use crate::launch::{DownOptions, down};
use crate::model::time::Span;
use crate::store::Home;

/// Take the team down: shutdown handshakes, then its session and live files go
///
/// Members that are at work are asked, and may refuse; --force ends them anyway.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  crewmux down
  crewmux down --grace 5s --archive ~/audits")]
pub struct Args {
    /// How long each member may take to end
    #[arg(long, value_name = "DURATION")]
    pub grace: Option<Span>,
    /// Leave the team's files where they are
    #[arg(long)]
    pub keep_files: bool,
    /// Copy the team's files into this folder, too
    #[arg(long, value_name = "DIR", conflicts_with = "keep_files")]
    pub archive: Option<PathBuf>,
    /// End members that are at work or refuse
    #[arg(long)]
    pub force: bool,
}

pub fn run(args: &Args, globals: &Globals) -> Result<(), CommandError> {
    let home = Home::from_env()?;
    let name = team::resolve(globals, &home)?;
    let options = DownOptions {
        grace: args.grace.map(|g| g.0),
        force: args.force,
        keep_files: args.keep_files,
        archive: args.archive.clone(),
        reason: None,
    };
    let downed = down(&home, &name, &options, None)?;
    for note in &downed.notes {
        output::note(note);
    }
    if globals.json {
        return output::json(&serde_json::json!({
            "team": name, "files": downed.files, "forced": downed.forced,
            "worktrees": downed.worktrees.iter().map(|kept| serde_json::json!({
                "name": kept.record.name(), "path": kept.record.tree.path, "branch": kept.record.tree.branch,
                "why": kept.why,
            })).collect::<Vec<_>>(),
        }));
    }
    if !downed.forced.is_empty() {
        output::note(format!("ended by force: {}", downed.forced.join(", ")));
    }
    output::line(format!("team {name} is down; its files lie in {}", downed.files.display()))
}
