//! Shows what was done in a work tree.

use super::super::args::Globals;
use super::super::error::CommandError;
use super::super::output;
use super::{tree, wait};
use crate::store::Home;
use crate::view::{Lines, safe};
use crate::worktree::{Form, diff};

/// Show what a work tree has that its beginning had not: commits, changes and new files in one patch
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  crewmux worktree diff fix
  crewmux worktree diff fix --stat")]
pub struct Args {
    /// The tree: its member, `MEMBER/agent-…`, its branch or its path
    pub tree: String,
    /// Only files and counts
    #[arg(long, conflicts_with = "name_only")]
    pub stat: bool,
    /// Only the files and how each was changed
    #[arg(long)]
    pub name_only: bool,
}

pub fn run(args: &Args, globals: &Globals) -> Result<(), CommandError> {
    let home = Home::from_env()?;
    let record = tree(globals, &home, &args.tree)?;
    let form = match (args.stat, args.name_only) {
        (true, _) => Form::Stat,
        (_, true) => Form::Names,
        _ => Form::Patch,
    };
    let patch = wait(diff(&record, form))?;
    if globals.json {
        return output::json(&serde_json::json!({
            "name": record.name(), "branch": record.tree.branch, "base": record.tree.base,
            "diff": String::from_utf8_lossy(&patch),
        }));
    }
    if output::stdout_width().is_some() {
        // What a program wrote into its files must not act on the terminal.
        return output::text(&safe(&String::from_utf8_lossy(&patch), Lines::Keep));
    }
    output::bytes(&patch)
}
