//! Lists the work trees.

use super::super::args::Globals;
use super::super::error::CommandError;
use super::super::output;
use super::wait;
use crate::act::ActError;
use crate::os::clock;
use crate::store::Home;
use crate::view::worktrees::{WorktreeRow, table};
use crate::worktree::{Record, Stage, is_merged, lives, why_kept};

/// List the work trees, also those that ended teams left
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  crewmux worktree list
  crewmux worktree list --team audit --json")]
pub struct Args {}

pub fn run(_args: &Args, globals: &Globals) -> Result<(), CommandError> {
    let home = Home::from_env()?;
    let team = globals.named_team()?;
    let (records, bad) = Record::all(&home)?;
    for path in bad {
        output::note(format!("note: {} cannot be read, or is of a newer version", path.display()));
    }
    let wanted: Vec<Record> = records.into_iter().filter(|r| team.as_ref().is_none_or(|t| r.team == *t)).collect();
    let rows = wait(rows(&home, wanted))?;
    if globals.json {
        return output::json(&rows);
    }
    if rows.is_empty() {
        output::note("no work trees");
        return Ok(());
    }
    output::text(&table(&rows, clock::now(), &output::style()))
}

async fn rows(home: &Home, records: Vec<Record>) -> Result<Vec<WorktreeRow>, ActError> {
    let mut rows = Vec::new();
    for record in records {
        let (seen, changes) = why_kept(&record).await?;
        let state = match (record.stage, seen.gone, &changes) {
            (Stage::Making, _, _) => "making",
            (_, true, _) => "gone",
            (_, _, Some(_)) => "changed",
            (_, _, None) => "unchanged",
        };
        rows.push(WorktreeRow {
            name: record.name(),
            alive: lives(home, &record),
            merged: is_merged(&record).await?,
            team: record.team,
            member: record.member,
            agent: record.agent,
            path: record.tree.path,
            branch: record.tree.branch,
            base: record.tree.base,
            repo: record.tree.repo,
            created_at: record.created_at,
            state,
            commits: seen.commits,
            files: seen.files.len(),
            changes,
        });
    }
    Ok(rows)
}
