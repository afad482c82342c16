//! The board as a table, one task as a page. `--json` shows the tasks as they are on file.

use std::fmt::Write as _;

use super::plain::{Ink, Lines, Style, safe};
use super::table::{Cell, Column, render};
use crate::model::task::{Task, TaskStatus};

/// The mark and colour of a status.
#[must_use]
pub fn mark(status: TaskStatus) -> (&'static str, Ink) {
    match status {
        TaskStatus::Pending => ("○", Ink::Dim),
        TaskStatus::InProgress => ("●", Ink::Green),
        TaskStatus::Completed => ("✓", Ink::Green),
        TaskStatus::Failed => ("✗", Ink::Red),
        TaskStatus::Deleted => ("·", Ink::Dim),
    }
}

/// The table of `task list`.
#[must_use]
pub fn table(tasks: &[Task], style: &Style) -> String {
    const COLUMNS: [Column; 6] = [
        Column::number("id"),
        Column::text("status"),
        Column::text("subject").shrinks_to(12),
        Column::text("owner").shrinks_to(6).drops(2),
        Column::text("after").shrinks_to(5).drops(3),
        Column::number("tries").drops(4),
    ];
    let rows: Vec<Vec<Cell>> = tasks
        .iter()
        .map(|task| {
            let (mark, ink) = mark(task.status);
            vec![
                Cell::new(task.id.to_string()),
                Cell::inked(format!("{mark} {}", task.status.as_str().replace('_', " ")), ink),
                Cell::new(&task.subject),
                Cell::maybe(task.owner.as_ref().map(|name| name.as_str())),
                Cell::maybe((!task.blocked_by.is_empty()).then(|| ids(&task.blocked_by))),
                Cell::count(u64::from(task.attempts)),
            ]
        })
        .collect();
    render(&COLUMNS, &rows, style)
}

fn ids(ids: &[crate::model::id::TaskId]) -> String {
    ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

/// The page of `task show`.
#[must_use]
pub fn page(task: &Task, style: &Style) -> String {
    let (mark, ink) = mark(task.status);
    let head = format!("#{} {}", task.id, safe(&task.subject, Lines::Escape));
    let mut out = Ink::Bold.paint(&head, style.color) + "\n";
    let mut field = |name: &str, value: &str| {
        let _ = writeln!(out, "{} {}", Ink::Dim.paint(&format!("{name:<9}"), style.color), value);
    };
    field("status", &ink.paint(&format!("{mark} {}", task.status.as_str().replace('_', " ")), style.color));
    if let Some(owner) = &task.owner {
        field("owner", owner.as_str());
    }
    for (name, list) in [("after", &task.blocked_by), ("before", &task.blocks)] {
        if !list.is_empty() {
            field(name, &ids(list));
        }
    }
    if !task.requires.is_empty() {
        field("requires", &safe(&task.requires.join(", "), Lines::Escape));
    }
    if let Some(run) = &task.run {
        field("run", &safe(&run.join(" "), Lines::Escape));
    }
    if let Some(timeout) = &task.timeout {
        field("timeout", &timeout.to_string());
    }
    field("attempts", &format!("{} of {}, epoch {}", task.attempts, task.retries.saturating_add(1), task.epoch));
    for (key, value) in &task.metadata {
        field("meta", &safe(&format!("{key}={value}"), Lines::Escape));
    }
    if let Some(result) = &task.result {
        if let Some(code) = result.exit_code {
            field("exit", &code.to_string());
        }
        if let Some(error) = &result.error {
            field("error", &safe(error, Lines::Escape));
        }
        if let Some(file) = &result.output_file {
            field("output", &safe(file, Lines::Escape));
        }
    }
    for text in [Some(&task.description), task.result.as_ref().map(|r| &r.text)].into_iter().flatten() {
        if !text.trim().is_empty() {
            let _ = writeln!(out, "\n{}", safe(text.trim_end(), Lines::Keep));
        }
    }
    out
}
