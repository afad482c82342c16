//! The tables of a spec that concern the team as a whole.

use toml::de::DeTable;

use super::agent;
use super::error::Mistake;
use super::hooks::{self, HOOKS_KEYS};
use super::leader;
use super::load::Places;
use super::member::{self, MEMBER_KEYS};
use super::section::Section;
use super::task::{self, TASK_KEYS};
use crate::model::name::Name;
use crate::model::spec::{LayoutSpec, LimitsSpec, TeamSpec};

const TEAM_KEYS: [&str; 13] = [
    "v",
    "name",
    "description",
    "report",
    "vars",
    "lead",
    "limits",
    "layout",
    "permissions",
    "defaults",
    "member",
    "task",
    "hooks",
];
pub(super) const LEAD_KEYS: [&str; 5] = ["plans", "permissions", "agent_type", "engine", "reserved"];
const LIMITS_KEYS: [&str; 8] =
    ["max_members", "claims_per_member", "queue_depth", "sender_depth", "queue_mib", "blobs_mib", "hello", "worktree"];
const LAYOUT_KEYS: [&str; 1] = ["panes_per_window"];
/// The most that any count of a spec may say: far above what a machine carries, far below an overflow.
const MOST: u64 = 1_000_000;

/// Where a key of another table belongs, for people who wrote it in `place`.
pub(super) fn home_of(key: &str, place: &str) -> Option<&'static str> {
    let homes: [(&'static str, &[&str]); 7] = [
        ("`[lead]`", &LEAD_KEYS),
        ("`[limits]`", &LIMITS_KEYS),
        ("`[layout]`", &LAYOUT_KEYS),
        ("`[[member]]`", &MEMBER_KEYS),
        ("`[[task]]`", &TASK_KEYS),
        ("`[hooks]`", &HOOKS_KEYS),
        ("the top of the spec, above the first table", &["report", "vars"]),
    ];
    homes.into_iter().find(|(home, keys)| *home != place && keys.contains(&key)).map(|(home, _)| home)
}

/// The spec's own name for the team, taken as it is written.
pub(super) fn name(top: &Section<'_, '_>) -> Option<Name> {
    let Some((entry, _)) = top.entry("name") else {
        top.desk.note(
            Mistake::nowhere("the spec has no `name`").help("write `name = \"…\"` at its top, or give `--name NAME`"),
        );
        return None;
    };
    let toml::de::DeValue::String(text) = entry.get_ref() else {
        top.desk.wrong_type("name", entry, "a string");
        return None;
    };
    let text = super::desk::At { value: text.to_string(), at: entry.span() };
    top.desk.name_of("team name", &text)
}

/// The whole spec; `None`, and the mistakes on the desk, where a part is missing.
pub(super) fn read(top: &Section<'_, '_>, name: Option<Name>, places: &Places) -> Option<TeamSpec> {
    top.check_keys("a team spec", &TEAM_KEYS);
    let description = top.string("description").unwrap_or_default();
    let report = top.text("report").and_then(|r| {
        if r.value.is_empty() {
            top.desk.note(Mistake::at(r.at, "`report` is empty", "").help("leave it out, or name a file"));
            return None;
        }
        places.cwd.join(&r.value).to_str().map(str::to_owned)
    });
    let (lead, leader) = leader::read(top, places);
    let limits = limits(top);
    let layout = layout(top);
    let permissions = agent::rules(top);
    let empty = DeTable::new();
    let defaults = top.table("defaults");
    if let Some(defaults) = &defaults {
        member::check_defaults(defaults, places);
    }
    let members = member::read_all(top, defaults.as_ref().map_or(&empty, |d| d.top), &limits, places);
    let members = leader::first(top, leader, members);
    let tasks = task::read_all(top, &members, places);
    let members = members.into_iter().filter_map(|m| m.spec).collect();
    let hooks = hooks::read(top, places);
    Some(TeamSpec {
        name: name?,
        cwd: places.cwd.to_str()?.to_owned(),
        description,
        lead,
        limits,
        layout,
        hooks,
        permissions,
        report,
        members,
        tasks,
    })
}

fn limits(top: &Section<'_, '_>) -> LimitsSpec {
    let base = LimitsSpec::default();
    let Some(table) = top.table("limits") else { return base };
    table.check_keys("`[limits]`", &LIMITS_KEYS);
    let count =
        |key: &str, base: usize| table.number(key, 1..=MOST).and_then(|n| usize::try_from(n).ok()).unwrap_or(base);
    LimitsSpec {
        max_members: count("max_members", base.max_members),
        claims_per_member: count("claims_per_member", base.claims_per_member),
        queue_depth: table.number("queue_depth", 1..=1_000 * MOST).unwrap_or(base.queue_depth),
        sender_depth: table.number("sender_depth", 1..=1_000 * MOST).unwrap_or(base.sender_depth),
        queue_mib: table.number("queue_mib", 1..=MOST).unwrap_or(base.queue_mib),
        blobs_mib: table.number("blobs_mib", 1..=MOST).unwrap_or(base.blobs_mib),
        hello: table.span("hello", false).unwrap_or(base.hello),
        worktree: table.span("worktree", false).unwrap_or(base.worktree),
    }
}

fn layout(top: &Section<'_, '_>) -> LayoutSpec {
    let base = LayoutSpec::default();
    let Some(table) = top.table("layout") else { return base };
    table.check_keys("`[layout]`", &LAYOUT_KEYS);
    let panes = table.number("panes_per_window", 1..=64).and_then(|n| usize::try_from(n).ok());
    LayoutSpec { panes_per_window: panes.unwrap_or(base.panes_per_window) }
}

#[cfg(test)]
pub(super) fn every_key() -> Vec<&'static str> {
    let tables: [&[&str]; 7] =
        [&TEAM_KEYS, &LEAD_KEYS, &LIMITS_KEYS, &LAYOUT_KEYS, &MEMBER_KEYS, &TASK_KEYS, &HOOKS_KEYS];
    tables.concat()
}
