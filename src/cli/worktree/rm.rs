//! Removes a work tree.

use super::super::args::Globals;
use super::super::error::{CommandError, ErrorKind};
use super::super::output;
use super::{is_in_use, may_change, tree, wait};
use crate::act::ActError;
use crate::store::Home;
use crate::worktree::{Record, Settled, discard, holder, is_merged, lives, look, settle, tidy};

/// Remove a work tree and its branch
///
/// One in which something was changed is refused, unless all of it was committed and merged.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  crewmux worktree rm fix
  crewmux worktree rm fix --discard")]
pub struct Args {
    /// The tree: its member, `MEMBER/agent-…`, its branch or its path
    pub tree: String,
    /// Also with commits and changes that are nowhere else: they are lost
    #[arg(long)]
    pub discard: bool,
}

pub fn run(args: &Args, globals: &Globals) -> Result<(), CommandError> {
    let home = Home::from_env()?;
    let record = tree(globals, &home, &args.tree)?;
    may_change(&home, &record)?;
    if let Some(pid) = holder(&home, &record)? {
        let what = format!("a child of the agent with process {pid} is at work in {}", record.tree.path);
        return Err(CommandError::new(ErrorKind::Conflict, what).hint("wait for its end, or end that agent"));
    }
    if is_in_use(&home, &record)? {
        let member = &record.member;
        return Err(CommandError::new(ErrorKind::Conflict, format!("`{member}` is at work in {}", record.tree.path))
            .hint(format!("`crewmux shutdown {member}` ends it first")));
    }
    if let Some(why) = wait(remove(&home, &record, args.discard))? {
        return Err(CommandError::failed(format!("the work tree of `{}` is not removed", record.name()))
            .because(why)
            .hint(format!("`crewmux worktree diff {}` shows it, `crewmux worktree merge` takes it over", args.tree))
            .hint("`--discard` removes it with all that is in it"));
    }
    if !lives(&home, &record) {
        tidy(&home, &record);
    }
    if globals.json {
        return output::json(&serde_json::json!({
            "name": record.name(), "path": record.tree.path, "branch": record.tree.branch, "removed": true,
        }));
    }
    output::line(format!("the work tree of {} and its branch {} are removed", record.name(), record.tree.branch))
}

/// Why it was not removed.
async fn remove(home: &Home, record: &Record, all: bool) -> Result<Option<String>, ActError> {
    if !all {
        let seen = look(record).await?;
        let nothing_else = seen.files.is_empty() && seen.unknown.is_none() && !seen.gone;
        let on_its_branch = seen.branch.as_ref() == Some(&record.tree.branch);
        let merged = nothing_else && on_its_branch && seen.commits > 0 && is_merged(record).await?;
        if !merged {
            return Ok(match settle(home, record).await? {
                Settled::Removed => None,
                Settled::Kept(why) => Some(why),
            });
        }
    }
    discard(home, record).await.map(|()| None)
}
