//! The environment of a member's programs.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use super::context::Context;
use crate::model::id::TaskId;

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

fn unpack(bytes: &[u8]) -> Vec<(OsString, OsString)> {
    let pair = |entry: &[u8]| {
        let at = entry.iter().position(|b| *b == b'=')?;
        Some((OsString::from_vec(entry[..at].to_vec()), OsString::from_vec(entry[at + 1..].to_vec())))
    };
    bytes.split(|b| *b == 0).filter_map(pair).collect()
}

fn is_ours(name: &OsStr) -> bool {
    let name = name.as_bytes();
    name.starts_with(b"TMUX") || name.starts_with(b"CREWMUX_")
}

/// The whole environment of a program of this member; for one that runs a task, with the task's id and epoch.
pub(super) fn of_program(context: &Context, task: Option<(TaskId, u64)>) -> std::io::Result<Vec<(OsString, OsString)>> {
    let spec = &context.spec;
    let mut env: BTreeMap<OsString, OsString> = BTreeMap::new();
    let stored = unpack(&std::fs::read(context.dir.env())?);
    let passes = |name: &OsStr| spec.pass_env.iter().any(|p| OsStr::new(p) == name);
    env.extend(stored.into_iter().filter(|(name, _)| !spec.clean_env || passes(name) || name == "PATH"));
    // The pane's terminal is not the launcher's.
    if let Some(term) = std::env::var_os("TERM") {
        env.insert("TERM".into(), term);
    }
    env.extend(spec.env.iter().map(|(k, v)| (k.into(), v.into())));
    let path = with_own_folder(env.get(OsStr::new("PATH")));
    env.insert("PATH".into(), path);

    let mut set = |name: &str, value: &dyn ToString| {
        env.insert(name.into(), value.to_string().into());
    };
    set("CREWMUX_TEAM", &context.place.team);
    set("CREWMUX_MEMBER", &context.place.member);
    set("CREWMUX_AGENT_ID", &context.agent_id);
    set("CREWMUX_ROLE", &"teammate");
    set("CREWMUX_COLOR", &context.color);
    set("CREWMUX_LIFE", &context.place.life);
    set("CREWMUX_LEAD_LIFE", &context.lead_life);
    set(
        "CREWMUX_PLAN_MODE",
        &match (context.planning, context.plan_id) {
            (true, _) => "plan",
            (false, Some(_)) => "execute",
            (false, None) => "off",
        },
    );
    if let Some(plan) = context.plan_id {
        set("CREWMUX_PLAN_ID", &plan);
    }
    if let Some((id, epoch)) = task {
        set("CREWMUX_TASK", &id);
        set("CREWMUX_EPOCH", &epoch);
    }
    env.insert("CREWMUX_HOME".into(), context.place.home.clone().into());
    env.insert("CREWMUX_SCRATCH".into(), context.desk.scratch().into());
    Ok(env.into_iter().collect())
}

/// `PATH` with the running binary's folder first.
fn with_own_folder(path: Option<&OsString>) -> OsString {
    let own = std::env::current_exe().ok().and_then(|exe| exe.parent().map(Path::to_path_buf));
    let rest = path
        .map(|p| std::env::split_paths(p).collect())
        .unwrap_or_else(|| ["/usr/local/bin", "/usr/bin", "/bin"].iter().map(Into::into).collect::<Vec<_>>());
    let all = own.iter().cloned().chain(rest.into_iter().filter(|p| Some(p) != own.as_ref()));
    std::env::join_paths(all).unwrap_or_else(|_| path.cloned().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_survives_and_ours_are_left_out() {
        let odd = OsString::from_vec(b"\xff=\n'".to_vec());
        let vars = [("A".into(), odd.clone()), ("TMUX".into(), "x".into()), ("CREWMUX_MEMBER".into(), "y".into())];
        assert_eq!(unpack(&pack(vars.into_iter())), [(OsString::from("A"), odd)]);
    }
}
