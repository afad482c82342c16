//! `[[task]]`: what the team is to do, blockers first.

use super::desk::At;
use super::error::{Mistake, quote};
use super::load::Places;
use super::member::{self, argv};
use super::order::order;
use super::program::SearchPath;
use super::section::Section;
use super::suggest::did_you_mean;
use crate::model::name::Name;
use crate::model::spec::TaskSpec;
use crate::model::task::NewTask;

pub(super) const TASK_KEYS: [&str; 11] = [
    "key",
    "subject",
    "description",
    "run",
    "blocked_by",
    "owner",
    "requires",
    "timeout",
    "retries",
    "active_form",
    "metadata",
];

struct Read {
    /// As written; a task without one is `#N`, which nobody can write.
    key: At<String>,
    blocked_by: Vec<At<String>>,
    task: NewTask,
}

pub(super) fn read_all(top: &Section<'_, '_>, members: &[member::Read], places: &Places) -> Vec<TaskSpec> {
    let sections = top.tables("task");
    let tasks: Vec<Read> = sections.iter().enumerate().map(|(i, s)| read(s, i, members, places)).collect();
    check_keys_differ(top, &tasks);
    let keys: Vec<&str> = tasks.iter().map(|t| t.key.value.as_str()).collect();
    let blockers: Vec<Vec<usize>> = tasks.iter().map(|t| blockers(top, t, &keys)).collect();
    let order = match order(&blockers) {
        Ok(order) => order,
        Err(cycle) => {
            note_cycle(top, &tasks, &cycle);
            return Vec::new();
        }
    };
    let specs: Vec<TaskSpec> = tasks
        .iter()
        .map(|t| TaskSpec {
            key: t.key.value.clone(),
            blocked_by: t.blocked_by.iter().map(|b| b.value.clone()).collect(),
            task: t.task.clone(),
        })
        .collect();
    order.into_iter().filter_map(|i| specs.get(i).cloned()).collect()
}

fn read(section: &Section<'_, '_>, index: usize, members: &[member::Read], places: &Places) -> Read {
    section.check_keys("`[[task]]`", &TASK_KEYS);
    let unnamed = At { value: format!("#{}", index + 1), at: section.at.clone() };
    let key = section.text("key").map_or(unnamed, |key| {
        if let Err(why) = Name::parse_any(&key.value) {
            let message = format!("{} is not a key for a task: {why}", quote(&key.value));
            section.desk.note(Mistake::at(key.at.clone(), message, "").help("a key keeps the rules of names"));
        }
        key
    });
    if section.entry("subject").is_none() {
        section.desk.note(Mistake::at(section.at.clone(), "a task has no `subject`", "this task"));
    }
    let subject = section.text("subject").map_or_else(String::new, |s| {
        if s.value.trim().is_empty() {
            section
                .desk
                .note(Mistake::at(s.at, "`subject` is empty", "").help("say in a few words what is to be done"));
        }
        s.value
    });
    let (owner, search) = owner(section, members, places);
    let task = NewTask {
        subject,
        description: section.string("description").unwrap_or_default(),
        active_form: section.string("active_form"),
        owner,
        run: argv(section, "run", places, &search),
        requires: section.strings("requires"),
        timeout: section.span("timeout", false),
        retries: section.number("retries", 0..=1_000).and_then(|n| u32::try_from(n).ok()).unwrap_or_default(),
        metadata: metadata(section),
        ..NewTask::default()
    };
    let mut blocked_by: Vec<At<String>> = Vec::new();
    for blocker in section.list("blocked_by").unwrap_or_default() {
        if !blocked_by.iter().any(|b| b.value == blocker.value) {
            blocked_by.push(blocker);
        }
    }
    Read { key, blocked_by, task }
}

/// The owner, and where the task's program may be looked for: at the owner's, or at any member's.
fn owner(section: &Section<'_, '_>, members: &[member::Read], places: &Places) -> (Option<Name>, Vec<SearchPath>) {
    let mut anywhere: Vec<SearchPath> = members.iter().map(|m| m.search.clone()).collect();
    anywhere.push(SearchPath { path: places.path.clone(), cwd: places.cwd.clone() });
    let Some(text) = section.text("owner") else { return (None, anywhere) };
    let known = |m: &&member::Read| m.name.as_ref().is_some_and(|n| n.value == text.value);
    let Some(member) = members.iter().find(known) else {
        let names: Vec<&str> = members.iter().filter_map(|m| m.name.as_ref()).map(|n| n.value.as_str()).collect();
        let message = format!("the owner {} is no member of this team", quote(&text.value));
        section.desk.note(Mistake::at(text.at, message, "").help(did_you_mean(&text.value, "members", &names)));
        return (None, anywhere);
    };
    (member.spec.as_ref().map(|s| s.name.clone()), vec![member.search.clone()])
}

fn metadata(section: &Section<'_, '_>) -> serde_json::Map<String, serde_json::Value> {
    let Some((entry, _)) = section.entry("metadata") else { return serde_json::Map::new() };
    if section.table("metadata").is_none() {
        return serde_json::Map::new();
    }
    match section.desk.json_of("metadata", entry) {
        Some(serde_json::Value::Object(map)) => map,
        _ => serde_json::Map::new(),
    }
}

fn check_keys_differ(top: &Section<'_, '_>, tasks: &[Read]) {
    for (i, task) in tasks.iter().enumerate() {
        if let Some(first) = tasks[..i].iter().find(|t| t.key.value == task.key.value) {
            let message = format!("two tasks have the key {}", quote(&task.key.value));
            top.desk
                .note(Mistake::at(task.key.at.clone(), message, "again here").and(first.key.at.clone(), "first here"));
        }
    }
}

fn blockers(top: &Section<'_, '_>, task: &Read, keys: &[&str]) -> Vec<usize> {
    let mut out = Vec::new();
    for blocker in &task.blocked_by {
        match keys.iter().position(|k| *k == blocker.value && !k.starts_with('#')) {
            Some(i) => out.push(i),
            None => {
                let others: Vec<&str> =
                    keys.iter().copied().filter(|k| *k != task.key.value && !k.starts_with('#')).collect();
                let message = format!("no task has the key {}", quote(&blocker.value));
                top.desk.note(Mistake::at(blocker.at.clone(), message, "").help(did_you_mean(
                    &blocker.value,
                    "other tasks with a key",
                    &others,
                )));
            }
        }
    }
    out
}

fn note_cycle(top: &Section<'_, '_>, tasks: &[Read], cycle: &[usize]) {
    let round: Vec<&Read> = cycle.iter().chain(cycle.first()).filter_map(|&i| tasks.get(i)).collect();
    let path: Vec<String> = round.iter().map(|t| quote(&t.key.value)).collect();
    let message = format!("tasks wait for each other in a circle: {}", path.join(" → "));
    let mut mistake = Mistake::nowhere(message).help("an arrow reads \"waits for\"; take one of them away");
    for pair in round.windows(2) {
        let [waiting, blocker] = pair else { continue };
        if let Some(place) = waiting.blocked_by.iter().find(|b| b.value == blocker.key.value) {
            let label = format!("{} waits for {}", quote(&waiting.key.value), quote(&blocker.key.value));
            mistake = mistake.and(place.at.clone(), label);
        }
    }
    top.desk.note(mistake);
}
