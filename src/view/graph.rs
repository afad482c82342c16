//! The tasks and what waits for what: as text in levels, as DOT, as Mermaid. Deleted tasks are left out.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::model::id::TaskId;
use crate::model::task::{Task, TaskStatus};

/// In levels: each task stands one level below the last of those it waits for.
#[must_use]
pub fn text<'a>(tasks: impl IntoIterator<Item = &'a Task>) -> String {
    let tasks = shown(tasks);
    let mut levels: BTreeMap<usize, Vec<&Task>> = BTreeMap::new();
    for (id, level) in levels_of(&tasks) {
        levels.entry(level).or_default().push(tasks[&id]);
    }
    let mut out = String::new();
    for (level, tasks_here) in levels {
        let _ = writeln!(out, "level {level}");
        for task in tasks_here {
            let _ = write!(out, "  {} {} {}", mark(task.status), task.id, one_line(&task.subject));
            if let Some(owner) = &task.owner {
                let _ = write!(out, " [{owner}]");
            }
            let blockers: Vec<String> = blockers(task, &tasks).map(|b| b.to_string()).collect();
            if !blockers.is_empty() {
                let _ = write!(out, " ← {}", blockers.join(", "));
            }
            if let Some(error) = task.result.as_ref().and_then(|r| r.error.as_ref()) {
                let _ = write!(out, " ({})", one_line(error));
            }
            out.push('\n');
        }
    }
    out
}

/// For Graphviz.
#[must_use]
pub fn dot<'a>(tasks: impl IntoIterator<Item = &'a Task>) -> String {
    let tasks = shown(tasks);
    let mut out = String::from("digraph tasks {\n  rankdir=LR;\n  node [shape=box, style=\"rounded,filled\"];\n");
    for task in tasks.values() {
        let _ = writeln!(
            out,
            "  t{} [label=\"{}\", fillcolor=\"{}\"];",
            task.id,
            lines(task).iter().map(|l| dot_text(l)).collect::<Vec<_>>().join("\\n"),
            color(task.status)
        );
    }
    for (blocker, id) in edges(&tasks) {
        let _ = writeln!(out, "  t{blocker} -> t{id};");
    }
    out.push_str("}\n");
    out
}

/// For Mermaid, as README files show it.
#[must_use]
pub fn mermaid<'a>(tasks: impl IntoIterator<Item = &'a Task>) -> String {
    let tasks = shown(tasks);
    let mut out = String::from("flowchart LR\n");
    for task in tasks.values() {
        let label = lines(task).iter().map(|l| mermaid_text(l)).collect::<Vec<_>>().join("<br/>");
        let _ = writeln!(out, "  t{}[\"{label}\"]:::{}", task.id, task.status.as_str());
    }
    for (blocker, id) in edges(&tasks) {
        let _ = writeln!(out, "  t{blocker} --> t{id}");
    }
    for status in [TaskStatus::Pending, TaskStatus::InProgress, TaskStatus::Completed, TaskStatus::Failed] {
        if tasks.values().any(|t| t.status == status) {
            let _ = writeln!(out, "  classDef {} fill:{},color:#000000", status.as_str(), color(status));
        }
    }
    out
}

/// One character for a status.
#[must_use]
pub fn mark(status: TaskStatus) -> char {
    match status {
        TaskStatus::Pending => '○',
        TaskStatus::InProgress => '◐',
        TaskStatus::Completed => '●',
        TaskStatus::Failed => '✗',
        TaskStatus::Deleted => '–',
    }
}

fn color(status: TaskStatus) -> &'static str {
    match status {
        TaskStatus::Pending | TaskStatus::Deleted => "#eeeeee",
        TaskStatus::InProgress => "#fff2b3",
        TaskStatus::Completed => "#c8e6c9",
        TaskStatus::Failed => "#ffcdd2",
    }
}

type Shown<'a> = BTreeMap<TaskId, &'a Task>;

fn shown<'a>(tasks: impl IntoIterator<Item = &'a Task>) -> Shown<'a> {
    tasks.into_iter().filter(|t| t.status != TaskStatus::Deleted).map(|t| (t.id, t)).collect()
}

fn blockers(task: &Task, shown: &Shown<'_>) -> impl Iterator<Item = TaskId> {
    task.blocked_by.iter().copied().filter(|b| shown.contains_key(b))
}

fn edges<'a>(shown: &'a Shown<'_>) -> impl Iterator<Item = (TaskId, TaskId)> + 'a {
    shown.values().flat_map(move |t| blockers(t, shown).map(move |b| (b, t.id)))
}

/// Each task's level, in id order. Tasks are taken off once all that they wait for is, so a file that somebody
/// bent into a circle ends this too: what is in the circle stands at level 0.
fn levels_of(shown: &Shown<'_>) -> BTreeMap<TaskId, usize> {
    let mut waits: BTreeMap<TaskId, usize> = shown.keys().map(|id| (*id, 0)).collect();
    let mut waiters: BTreeMap<TaskId, Vec<TaskId>> = BTreeMap::new();
    for (blocker, id) in edges(shown) {
        waiters.entry(blocker).or_default().push(id);
        *waits.entry(id).or_default() += 1;
    }
    let mut levels: BTreeMap<TaskId, usize> = shown.keys().map(|id| (*id, 0)).collect();
    let mut free: Vec<TaskId> = waits.iter().filter(|(_, n)| **n == 0).map(|(id, _)| *id).collect();
    while let Some(id) = free.pop() {
        let below = levels.get(&id).map_or(0, |l| l + 1);
        for waiter in waiters.get(&id).into_iter().flatten() {
            if let Some(level) = levels.get_mut(waiter) {
                *level = below.max(*level);
            }
            if let Some(n) = waits.get_mut(waiter) {
                *n -= 1;
                if *n == 0 {
                    free.push(*waiter);
                }
            }
        }
    }
    levels
}

/// What a node says.
fn lines(task: &Task) -> Vec<String> {
    let mut state = task.status.as_str().replace('_', " ");
    if let Some(owner) = &task.owner {
        let _ = write!(state, ", {owner}");
    }
    vec![format!("{}: {}", task.id, one_line(&task.subject)), state]
}

/// Line breaks become spaces; what would steer a terminal or turn the text around becomes U+FFFD.
fn one_line(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\n' | '\r' | '\t' | '\u{2028}' | '\u{2029}' => ' ',
            c if c.is_control() => '\u{FFFD}',
            '\u{061C}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' => '\u{FFFD}',
            c => c,
        })
        .collect()
}

/// For a double-quoted DOT string. Backslashes begin escapes there, and `&` an HTML entity.
fn dot_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '&' => out.push_str("&amp;"),
            c => out.push(c),
        }
    }
    out
}

/// For a quoted Mermaid label, where everything but words and plain marks is written as `#code;`.
fn mermaid_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_alphanumeric() || matches!(c, ' ' | '.' | ',' | ':' | '-' | '_' | '/' | '+' | '=') || !c.is_ascii() {
            out.push(c);
        } else {
            let _ = write!(out, "#{};", u32::from(c));
        }
    }
    out
}

#[cfg(test)]
mod tests;
