//! Merges a work tree's branch.

use super::super::args::Globals;
use super::super::error::CommandError;
use super::super::output;
use super::{may_change, tree, wait};
use crate::store::Home;
use crate::view::count;
use crate::worktree::{How, merge};

/// Merge a work tree's branch into the branch that is checked out where it was made from
///
/// Forward where that is possible, else by a merge commit. A conflict is named file by file and taken back.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  crewmux worktree merge fix
  crewmux worktree merge fix --no-ff")]
pub struct Args {
    /// The tree: its member, `MEMBER/agent-…`, its branch or its path
    pub tree: String,
    /// Only if no merge commit is needed
    #[arg(long, conflicts_with = "no_ff")]
    pub ff_only: bool,
    /// Always by a merge commit
    #[arg(long)]
    pub no_ff: bool,
    /// Also where changes in the tree are not committed; they stay there
    #[arg(long)]
    pub committed: bool,
}

pub fn run(args: &Args, globals: &Globals) -> Result<(), CommandError> {
    let home = Home::from_env()?;
    let record = tree(globals, &home, &args.tree)?;
    may_change(&home, &record)?;
    let how = match (args.ff_only, args.no_ff) {
        (true, _) => How::ForwardOnly,
        (_, true) => How::Commit,
        _ => How::Any,
    };
    let merged = wait(merge(&home, &record, how, args.committed))?;
    if globals.json {
        return output::json(&serde_json::json!({
            "name": record.name(), "branch": record.tree.branch, "into": merged.into, "head": merged.head,
            "commits": merged.commits, "forward": merged.forward,
        }));
    }
    let short = merged.head.get(..10).unwrap_or(&merged.head);
    let what = usize::try_from(merged.commits).unwrap_or(usize::MAX);
    output::line(match merged.commits {
        0 => format!("{} has all of {} already", merged.into, record.tree.branch),
        _ => format!("{} of {} merged into {}, now at {short}", count(what, "commit"), record.name(), merged.into),
    })
}
