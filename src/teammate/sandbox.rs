//! What this member's programs may touch.

use std::io;

use super::context::Context;
use crate::model::sandbox::Mode;
use crate::sandbox::Policy;
use crate::store::reach;

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
    Ok(policy)
}

/// Whether this life's programs are confined at all.
pub(super) fn confines(context: &Context) -> bool {
    mode(context) != Mode::Off
}

fn mode(context: &Context) -> Mode {
    context.spec.sandbox.now(context.planning)
}
