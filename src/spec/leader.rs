//! `[lead]`: what is decided without asking, and the agent that leads where one does.

use super::error::{Mistake, quote};
use super::load::Places;
use super::member::{self, Read};
use super::section::Section;
use super::suggest::words;
use super::team::LEAD_KEYS;
use crate::model::request::RequestKind;
use crate::model::spec::{EngineKind, LeadSpec, Policy};

/// What may be said of the agent that leads, as of any member.
const AGENT_KEYS: [&str; 19] = [
    "name",
    "agent",
    "command",
    "prompt",
    "mode",
    "mcp",
    "load",
    "cwd",
    "env",
    "pass_env",
    "clean_env",
    "model",
    "color",
    "restart",
    "sandbox",
    "state_dirs",
    "unix_sockets",
    "network",
    "sandbox_fallback",
];
const POLICIES: [(&str, Policy); 3] = [("ask", Policy::Ask), ("approve", Policy::Approve), ("reject", Policy::Reject)];
const KINDS: [(&str, RequestKind); 2] = [("plans", RequestKind::Plan), ("permissions", RequestKind::Permission)];
const ENGINES: [(&str, EngineKind); 1] = [("acp", EngineKind::Acp)];
/// The name of the agent that leads, where the spec gives it none.
const NAME: &str = "chief";

/// The table, and the member that leads as one reads every member.
pub(super) fn read(top: &Section<'_, '_>, places: &Places) -> (LeadSpec, Option<Read>) {
    let Some(table) = top.table("lead") else { return (LeadSpec::default(), None) };
    let leads = table.word("engine", &ENGINES, &[]).is_some();
    if leads {
        table.check_keys("`[lead]`", &[&LEAD_KEYS[..], &AGENT_KEYS[..]].concat());
    } else {
        table.check_keys("`[lead]`", &LEAD_KEYS);
    }
    let leader = leads.then(|| {
        // In this table `permissions` is a word, and a member's type is a word about the member.
        let mut own = table.top.clone();
        for key in ["permissions", "plans", "reserved"] {
            own.remove(key);
        }
        let section = Section { desk: table.desk, top: &own, under: None, at: table.at.clone() };
        member::read_leader(&section, NAME, places)
    });
    let spec = LeadSpec {
        plans: table.word("plans", &POLICIES, &[]).unwrap_or_default(),
        permissions: table.word("permissions", &POLICIES, &[]).unwrap_or_default(),
        agent_type: table.string("agent_type"),
        engine: None,
        agent: leader.as_ref().and_then(|l| l.spec.as_ref()).map(|spec| spec.name.clone()),
        reserved: reserved(&table, leads),
    };
    (spec, leader)
}

/// What only people decide.
fn reserved(table: &Section<'_, '_>, leads: bool) -> Vec<RequestKind> {
    let list = table.list("reserved").unwrap_or_default();
    if let (Some((entry, _)), false) = (table.entry("reserved"), leads) {
        let mistake = Mistake::at(entry.span(), "`reserved` without an agent that leads", "");
        table.desk.note(mistake.help("without `engine = \"acp\"` in `[lead]` people decide everything"));
    }
    let mut out = Vec::new();
    for word in list {
        match KINDS.iter().find(|(known, _)| *known == word.value) {
            Some((_, kind)) => out.push(*kind),
            None => {
                let all: Vec<&str> = KINDS.iter().map(|(known, _)| *known).collect();
                let message = format!("{} is nothing that can be reserved", quote(&word.value));
                table.desk.note(Mistake::at(word.at, message, "").help(format!("it supports {}", words(&all))));
            }
        }
    }
    out
}

/// The members with the one that leads at their head.
pub(super) fn first(top: &Section<'_, '_>, leader: Option<Read>, members: Vec<Read>) -> Vec<Read> {
    let Some(leader) = leader else { return members };
    if let Some(spec) = &leader.spec
        && let Some(twin) = members.iter().filter_map(|m| m.name.as_ref()).find(|n| n.value == spec.name.as_str())
    {
        let message = format!("{} is the name of the agent that leads", quote(&twin.value));
        top.desk.note(Mistake::at(twin.at.clone(), message, "").help("give one of them another `name`"));
    }
    std::iter::once(leader).chain(members).collect()
}
