//! What of a repository a program must be able to write so that it can commit in its tree.

use std::path::{Path, PathBuf};

use crate::model::tree::Tree;

/// The files and folders outside the tree that a commit in it writes: objects, what git keeps of this tree, and the
/// branches of its team with their logs. Never hooks or the configuration.
#[must_use]
pub fn writable(tree: &Tree) -> Vec<PathBuf> {
    let common = Path::new(&tree.common_dir);
    // `crewmux/TEAM/MEMBER`: the folder of the team's branches.
    let team = Path::new(&tree.branch).parent().unwrap_or(Path::new(&tree.branch));
    let mut paths = vec![common.join("objects"), PathBuf::from(&tree.git_dir)];
    // Where a repository keeps its references in a table of its own, they are one thing.
    match common.join("reftable") {
        table if table.is_dir() => paths.push(table),
        _ => paths.extend([common.join("refs/heads").join(team), common.join("logs/refs/heads").join(team)]),
    }
    paths
}
