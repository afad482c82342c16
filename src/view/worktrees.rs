//! The work trees of this machine.

use serde::Serialize;

use super::plain::{Ink, Style, ago};
use super::table::{Cell, Column, render};
use crate::model::name::Name;
use crate::model::time::Timestamp;

/// One of `worktree list --json`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WorktreeRow {
    /// The member, or `member/agent-…`.
    pub name: String,
    pub team: Name,
    pub member: Name,
    pub agent: Option<String>,
    /// Whether the team that it was made for is still there.
    pub alive: bool,
    pub path: String,
    pub branch: String,
    pub base: String,
    /// The top of the tree that it was made from, which it is merged into.
    pub repo: String,
    pub created_at: Timestamp,
    /// `making`, `unchanged`, `changed`, or `gone` where its folder is not there.
    pub state: &'static str,
    pub commits: u64,
    /// Files that are changed, new or in conflict.
    pub files: usize,
    /// What would be lost with it, in words.
    pub changes: Option<String>,
    /// Every commit of its branch is in what is checked out in `repo`.
    pub merged: bool,
}

/// The table of `worktree list`.
#[must_use]
pub fn table(rows: &[WorktreeRow], now: Timestamp, style: &Style) -> String {
    const COLUMNS: [Column; 6] = [
        Column::text("tree").shrinks_to(8),
        Column::text("team").shrinks_to(8),
        Column::text("state"),
        Column::text("changes").shrinks_to(12),
        Column::number("age").drops(1),
        Column::text("folder").shrinks_to(16).drops(2),
    ];
    let rows: Vec<Vec<Cell>> = rows
        .iter()
        .map(|row| {
            let state = match row.merged && row.commits > 0 {
                true => "merged",
                false => row.state,
            };
            let ink = if state == "changed" { Ink::Yellow } else { Ink::Dim };
            vec![
                Cell::inked(&row.name, Ink::Bold),
                Cell::inked(row.team.as_str(), if row.alive { Ink::Plain } else { Ink::Dim }),
                Cell::inked(state, ink),
                Cell::new(row.changes.as_deref().unwrap_or_default()),
                Cell::new(ago(now.since(row.created_at))),
                Cell::inked(&row.path, Ink::Dim),
            ]
        })
        .collect();
    render(&COLUMNS, &rows, style)
}
