//! The teams of this machine.

use serde::Serialize;

use super::plain::{Ink, Style, ago};
use super::table::{Cell, Column, render};
use crate::model::name::Name;
use crate::model::time::Timestamp;

/// One of `ls --json`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TeamRow {
    pub team: Name,
    /// Whether its lead's lease is held.
    pub alive: bool,
    pub members: usize,
    pub created_at: Timestamp,
    pub cwd: String,
    pub session: String,
}

/// The table of `ls`.
#[must_use]
pub fn table(teams: &[TeamRow], now: Timestamp, style: &Style) -> String {
    const COLUMNS: [Column; 5] = [
        Column::text("team").shrinks_to(8),
        Column::text("lead"),
        Column::number("members").drops(2),
        Column::number("age").drops(1),
        Column::text("folder").shrinks_to(12).drops(3),
    ];
    let rows: Vec<Vec<Cell>> = teams
        .iter()
        .map(|team| {
            vec![
                Cell::inked(team.team.as_str(), Ink::Bold),
                if team.alive { Cell::inked("● alive", Ink::Green) } else { Cell::inked("· dead", Ink::Dim) },
                Cell::count(team.members as u64),
                Cell::new(ago(now.since(team.created_at))),
                Cell::inked(&team.cwd, Ink::Dim),
            ]
        })
        .collect();
    render(&COLUMNS, &rows, style)
}
