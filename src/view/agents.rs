//! The agent definitions that can be named.

use serde::Serialize;

use super::plain::{Ink, Style};
use super::table::{Cell, Column, render};

/// One of `agents list --json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AgentRow {
    pub name: String,
    pub description: String,
    /// In words: `all`, `Read, Grep`, `all but Bash`.
    pub tools: String,
    pub model: String,
    pub mode: String,
    pub max_turns: u32,
    /// `built-in` or the file's path.
    pub source: String,
    /// Whether a nearer definition has the same name.
    pub hidden: bool,
}

/// The table of `agents list`.
#[must_use]
pub fn table(agents: &[AgentRow], style: &Style) -> String {
    const COLUMNS: [Column; 7] = [
        Column::text("name").shrinks_to(8),
        Column::text("model").drops(3),
        Column::text("mode").drops(2),
        Column::number("turns").drops(4),
        Column::text("tools").shrinks_to(16).drops(1),
        Column::text("description").shrinks_to(20),
        Column::text("source").shrinks_to(12).drops(5),
    ];
    let rows: Vec<Vec<Cell>> = agents
        .iter()
        .map(|agent| {
            vec![
                Cell::inked(&agent.name, if agent.hidden { Ink::Dim } else { Ink::Bold }),
                Cell::new(&agent.model),
                Cell::new(&agent.mode),
                Cell::new(agent.max_turns.to_string()),
                Cell::new(&agent.tools),
                if agent.hidden {
                    Cell::inked("(another of this name comes first)", Ink::Dim)
                } else {
                    Cell::new(&agent.description)
                },
                Cell::inked(&agent.source, Ink::Dim),
            ]
        })
        .collect();
    render(&COLUMNS, &rows, style)
}
