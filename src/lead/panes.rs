//! What runs in which pane, and what its border says.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::decide::lead::Start;
use crate::model::name::Name;
use crate::model::team::Member;
use crate::os::process::{ProcessId, own_binary};
use crate::tmux::PaneSpec;

/// The lead's own pane.
///
/// # Errors
/// When the running binary cannot be found.
pub fn lead_pane(home: &Path, team: &Name, cwd: &Path, maker: ProcessId) -> std::io::Result<PaneSpec> {
    let argv: Vec<OsString> = vec![
        own_binary()?.into(),
        "lead".into(),
        "--home".into(),
        home.into(),
        "--team".into(),
        team.as_str().into(),
        "--maker".into(),
        format!("{}:{}", maker.pid, maker.start_time).into(),
    ];
    Ok(PaneSpec {
        argv,
        cwd: cwd.to_owned(),
        env: Vec::new(),
        title: format!("team-lead@{team}"),
        label: format!("team-lead \u{b7} {team}"),
        color: "white".to_owned(),
    })
}

/// A member's pane.
///
/// # Errors
/// When the running binary cannot be found.
pub fn teammate_pane(home: &Path, team: &Name, member: &Member, start: &Start) -> std::io::Result<PaneSpec> {
    let cwd = member.worktree.as_ref().map_or(&member.cwd, |tree| &tree.cwd);
    let argv: Vec<OsString> = vec![
        own_binary()?.into(),
        "teammate".into(),
        "--home".into(),
        home.into(),
        "--team".into(),
        team.as_str().into(),
        "--member".into(),
        member.name.as_str().into(),
        "--life".into(),
        start.life.to_string().into(),
        "--spawn-id".into(),
        start.spawn_id.to_string().into(),
    ];
    Ok(PaneSpec {
        argv,
        // The folder of the member may be gone by a restart; the program's start names it then.
        cwd: Some(PathBuf::from(cwd)).filter(|cwd| cwd.is_dir()).unwrap_or_else(|| "/".into()),
        // From its first moment on, and not only once it has a lease, the process is known to be of this life.
        env: vec![("CREWMUX_LIFE".to_owned(), start.life.to_string())],
        title: member.agent_id.to_string(),
        label: label(&member.name, "starting"),
        color: member.color.clone(),
    })
}

/// `name · state`.
pub(super) fn label(name: &Name, state: &str) -> String {
    format!("{name} \u{b7} {state}")
}
