//! The environment of a member's programs.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::context::Context;
use super::sandbox;
use crate::model::id::{Life, RequestId, TaskId};
use crate::model::name::{AgentId, Name};
use crate::model::spec::MemberSpec;
use crate::model::tree::Tree;
use crate::os::own::path_with_own_folder;
use crate::store::launcher_env;

/// Writes the launcher's environment as `state/env` holds it: `NAME=value` pairs, each ended by a NUL,
/// so that every value that exec(2) allows survives. What is tmux's or crewmux's own is left out.
#[must_use]
pub fn pack(vars: impl Iterator<Item = (OsString, OsString)>) -> Vec<u8> {
    let mut out = Vec::new();
    for (name, value) in vars.filter(|(name, _)| !is_ours(name)) {
        out.extend_from_slice(name.as_bytes());
        out.push(b'=');
        out.extend_from_slice(value.as_bytes());
        out.push(0);
    }
    out
}

fn is_ours(name: &OsStr) -> bool {
    let name = name.as_bytes();
    name.starts_with(b"TMUX") || name.starts_with(b"CREWMUX_")
}

/// For whom a program runs, as its environment tells it.
pub struct Identity<'a> {
    pub home: &'a Path,
    pub team: &'a Name,
    pub scratch: PathBuf,
    pub member: &'a Name,
    pub agent_id: &'a AgentId,
    pub color: &'a str,
    pub life: Life,
    pub lead_life: Life,
    /// It is the agent that leads.
    pub leads: bool,
    pub planning: bool,
    pub plan_id: Option<RequestId>,
    pub tree: Option<&'a Tree>,
    /// Where it may put passing files, where it may not do so anywhere.
    pub tmp: Option<PathBuf>,
}

/// The whole environment of a program of this member; for one that runs a task, with the task's id and epoch.
pub(super) fn of_program(context: &Context, task: Option<(TaskId, u64)>) -> std::io::Result<Vec<(OsString, OsString)>> {
    let who = Identity {
        home: &context.place.home,
        team: &context.place.team,
        scratch: context.desk.scratch(),
        member: &context.place.member,
        agent_id: &context.agent_id,
        color: &context.color,
        life: context.place.life,
        lead_life: context.lead_life,
        leads: context.leads,
        planning: context.planning,
        plan_id: context.plan_id,
        tree: context.tree.as_ref(),
        tmp: sandbox::confines(context).then(|| context.dir.tmp()),
    };
    whole(&who, &context.spec, &context.dir.env(), task)
}

/// One variable as the member's programs get it.
pub(super) fn launcher_var(context: &Context, name: &str) -> std::io::Result<Option<OsString>> {
    if let Some(own) = context.spec.env.get(name) {
        return Ok(Some(own.into()));
    }
    let stored = launcher_env(&context.dir.env())?;
    Ok(stored.into_iter().find(|(n, _)| n == name).map(|(_, value)| value))
}

/// The environment of a program that runs for a member; `launcher` is the file that holds the launcher's.
///
/// # Errors
/// When that file cannot be read.
pub fn whole(
    who: &Identity<'_>,
    spec: &MemberSpec,
    launcher: &Path,
    task: Option<(TaskId, u64)>,
) -> std::io::Result<Vec<(OsString, OsString)>> {
    let mut env: BTreeMap<OsString, OsString> = BTreeMap::new();
    let stored = launcher_env(launcher)?;
    let preset = spec.agent.as_ref().and_then(|agent| agent.preset.as_ref());
    let of_preset = preset.map_or(&[][..], |p| &p.pass_env);
    let passes = |name: &OsStr| spec.pass_env.iter().chain(of_preset).any(|p| OsStr::new(p) == name);
    env.extend(stored.into_iter().filter(|(name, _)| !spec.clean_env || passes(name) || name == "PATH"));
    // The pane's terminal is not the launcher's.
    if let Some(term) = std::env::var_os("TERM") {
        env.insert("TERM".into(), term);
    }
    let of_mode = spec.agent.as_ref().map(|agent| agent.mode_word(who.planning, who.plan_id.is_some()));
    let of_mode = preset.zip(of_mode).and_then(|(preset, word)| preset.mode_env.get(word));
    let given = preset.iter().flat_map(|p| &p.env).chain(of_mode.into_iter().flatten()).chain(&spec.env);
    env.extend(given.map(|(k, v)| (k.into(), v.into())));
    let path = path_with_own_folder(env.get(OsStr::new("PATH")).map(OsString::as_os_str));
    env.insert("PATH".into(), path);

    // Where everyone's temporary files lie is closed to it; whoever names a place of its own opens it by `state_dirs`.
    for name in ["TMPDIR", "TMP", "TEMP"].into_iter().filter(|name| !spec.env.contains_key(*name)) {
        env.extend(who.tmp.iter().map(|tmp| (name.into(), tmp.into())));
    }

    let mut set = |name: &str, value: &dyn ToString| {
        env.insert(name.into(), value.to_string().into());
    };
    set("CREWMUX_TEAM", who.team);
    set("CREWMUX_MEMBER", who.member);
    set("CREWMUX_AGENT_ID", who.agent_id);
    set("CREWMUX_ROLE", &if who.leads { "lead" } else { "teammate" });
    set("CREWMUX_COLOR", &who.color);
    set("CREWMUX_LIFE", &who.life);
    set("CREWMUX_LEAD_LIFE", &who.lead_life);
    set(
        "CREWMUX_PLAN_MODE",
        &match (who.planning, who.plan_id) {
            (true, _) => "plan",
            (false, Some(_)) => "execute",
            (false, None) => "off",
        },
    );
    if let Some(plan) = who.plan_id {
        set("CREWMUX_PLAN_ID", &plan);
    }
    if let Some((id, epoch)) = task {
        set("CREWMUX_TASK", &id);
        set("CREWMUX_EPOCH", &epoch);
    }
    if let Some(tree) = who.tree {
        set("CREWMUX_WORKTREE", &tree.path);
        set("CREWMUX_BRANCH", &tree.branch);
    }
    env.insert("CREWMUX_HOME".into(), who.home.into());
    env.insert("CREWMUX_SCRATCH".into(), who.scratch.clone().into());
    Ok(env.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_survives_and_ours_are_left_out() {
        let odd = OsStr::from_bytes(b"\xff=\n'").to_owned();
        let vars = [("A".into(), odd.clone()), ("TMUX".into(), "x".into()), ("CREWMUX_MEMBER".into(), "y".into())];
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), pack(vars.into_iter())).unwrap();
        assert_eq!(launcher_env(file.path()).unwrap(), [(OsString::from("A"), odd)]);
    }
}
