//! What this member's programs may touch.

use std::io;
use std::path::PathBuf;

use super::context::Context;
use super::env;
use crate::model::sandbox::Mode;
use crate::sandbox::Policy;
use crate::store::{make_dirs, reach};

/// The preset of our own agent, which starts children.
const OWN_AGENT: &str = "crewmux";

/// The policy of every program of this life: read-only while it plans, else the member's own.
///
/// # Errors
/// When a folder that a commit needs cannot be made.
pub(super) fn policy(context: &Context) -> io::Result<Policy> {
    let mode = mode(context);
    let tree = context.tree.as_ref().filter(|_| mode == Mode::WorkspaceWrite);
    // Git packs branches away and takes the empty folders along; only what is there can be opened.
    for path in tree.map(reach::of_commits).unwrap_or_default() {
        std::fs::create_dir_all(path)?;
    }
    let mut policy = reach::of_member(&context.desk.dir, &context.spec, tree, mode);
    // Few programs do without a place for passing files.
    policy.writable.push(context.dir.tmp());
    policy.writable.extend(of_preset(context)?);
    if mode == Mode::WorkspaceWrite {
        policy.writable.extend(of_children(context)?);
    }
    Ok(policy)
}

/// Where the work trees of its agent's children will lie. They come later, and a sandbox cannot be widened.
fn of_children(context: &Context) -> io::Result<Option<PathBuf>> {
    let preset = context.spec.agent.as_ref().and_then(|agent| agent.preset.as_ref());
    if preset.is_none_or(|preset| preset.name != OWN_AGENT) {
        return Ok(None);
    }
    let folder = context.desk.home.worktrees_of(&context.place.team, &context.id8, &context.place.member);
    make_dirs(&folder).map_err(io::Error::other)?;
    Ok(Some(folder))
}

/// Where the agent of the member's preset keeps its own state: without it most do not start. Folders of its own are made,
/// which in the sandbox it could not; a file that is not there cannot be opened to it.
fn of_preset(context: &Context) -> io::Result<Vec<PathBuf>> {
    let preset = context.spec.agent.as_ref().and_then(|agent| agent.preset.as_ref());
    let Some(preset) = preset.filter(|p| !p.state_dirs.is_empty()) else { return Ok(Vec::new()) };
    let home = env::launcher_var(context, "HOME")?.map(PathBuf::from);
    let full = |dir: &String| match (dir.strip_prefix("~/"), &home) {
        (Some(rest), Some(home)) => Some(home.join(rest)),
        (Some(_), None) => None,
        (None, _) => Some(PathBuf::from(dir)),
    };
    // Our own agent's lies with its team.
    let scratch = context.desk.dir.scratch().to_string_lossy().into_owned();
    let named = |dir: &String| dir.replace("${scratch}", &scratch).replace("${member}", context.place.member.as_str());
    let dirs: Vec<String> = preset.state_dirs.iter().map(named).collect();
    for dir in dirs.iter().filter(|dir| dir.ends_with('/')).filter_map(full) {
        std::fs::create_dir_all(dir)?;
    }
    Ok(dirs.iter().filter_map(full).filter(|path| path.is_absolute() && path.exists()).collect())
}

/// Whether this life's programs are confined at all.
pub(super) fn confines(context: &Context) -> bool {
    mode(context) != Mode::Off
}

fn mode(context: &Context) -> Mode {
    context.spec.sandbox.now(context.planning)
}
