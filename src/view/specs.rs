//! The team specs that can be launched by name.

use serde::Serialize;

use super::plain::{Ink, Style};
use super::table::{Cell, Column, render};

/// One of `teams --json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SpecRow {
    /// What `up` and `run` take: the file's name without `.toml`.
    pub spec: String,
    pub description: String,
    pub members: usize,
    pub tasks: usize,
    pub path: String,
    /// Why it cannot be read, where it cannot.
    pub error: Option<String>,
    /// Whether a spec of the same name is found earlier.
    pub hidden: bool,
}

/// The table of `teams`.
#[must_use]
pub fn table(specs: &[SpecRow], style: &Style) -> String {
    const COLUMNS: [Column; 5] = [
        Column::text("spec").shrinks_to(8),
        Column::number("members").drops(2),
        Column::number("tasks").drops(1),
        Column::text("description").shrinks_to(20),
        Column::text("path").shrinks_to(16).drops(3),
    ];
    let rows: Vec<Vec<Cell>> = specs
        .iter()
        .map(|spec| {
            let about = match &spec.error {
                Some(error) => Cell::inked(error, Ink::Red),
                None if spec.hidden => Cell::inked("(another of this name comes first)", Ink::Dim),
                None => Cell::new(&spec.description),
            };
            vec![
                Cell::inked(&spec.spec, if spec.hidden { Ink::Dim } else { Ink::Bold }),
                Cell::count(spec.members as u64),
                Cell::count(spec.tasks as u64),
                about,
                Cell::inked(&spec.path, Ink::Dim),
            ]
        })
        .collect();
    render(&COLUMNS, &rows, style)
}
