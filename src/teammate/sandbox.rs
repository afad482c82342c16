//! What this member's programs may touch.

use std::io;
use std::path::PathBuf;

use super::context::Context;
use crate::model::sandbox::{Fallback, Mode, Network, UnixSockets};
use crate::model::tree::Tree;
use crate::sandbox::Policy;
use crate::worktree;

/// The policy of every program of this life: read-only while it plans, else the member's own.
///
/// # Errors
/// When a folder that a commit needs cannot be made.
pub(super) fn policy(context: &Context) -> io::Result<Policy> {
    let spec = &context.spec;
    let mode = mode(context);
    // Always: the verbs go through the outbox, and few programs do without a place for passing files.
    let mut writable = context.dir.own_words().to_vec();
    writable.push(context.dir.tmp());
    writable.extend(spec.state_dirs.iter().map(PathBuf::from));
    if mode == Mode::WorkspaceWrite {
        writable.push(context.desk.scratch());
        match &context.tree {
            Some(tree) => writable.extend(of_tree(tree)?),
            None => writable.push(PathBuf::from(&spec.cwd)),
        }
    }
    Ok(Policy {
        mode,
        writable,
        unix_sockets: spec.unix_sockets == UnixSockets::Allow,
        network: spec.network == Network::On,
        fallback_off: spec.sandbox_fallback == Fallback::Off,
    })
}

/// Whether this life's programs are confined at all.
pub(super) fn confines(context: &Context) -> bool {
    mode(context) != Mode::Off
}

fn mode(context: &Context) -> Mode {
    context.spec.sandbox.now(context.planning)
}

/// The whole tree, and what a commit in it writes elsewhere.
fn of_tree(tree: &Tree) -> io::Result<Vec<PathBuf>> {
    let mut paths = worktree::writable(tree);
    // Git packs branches away and takes the empty folders along; only what is there can be opened.
    for path in &paths {
        std::fs::create_dir_all(path)?;
    }
    paths.push(PathBuf::from(&tree.path));
    Ok(paths)
}
