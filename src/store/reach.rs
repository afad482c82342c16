//! What of the disk a member's programs may write.

use std::path::{Path, PathBuf};

use super::TeamDir;
use crate::model::sandbox::{Fallback, Mode, Network, UnixSockets};
use crate::model::spec::MemberSpec;
use crate::model::tree::Tree;
use crate::sandbox::Policy;

/// The policy of a program that runs in `mode` for the member of `spec`, but for its folder of temporary files.
#[must_use]
pub fn of_member(team: &TeamDir, spec: &MemberSpec, tree: Option<&Tree>, mode: Mode) -> Policy {
    // Always: the verbs go through the outbox.
    let mut writable = team.member(&spec.name).own_words().to_vec();
    writable.extend(spec.state_dirs.iter().map(PathBuf::from));
    if mode == Mode::WorkspaceWrite {
        writable.push(team.scratch());
        match tree {
            Some(tree) => {
                writable.extend(of_commits(tree));
                writable.push(PathBuf::from(&tree.path));
            }
            None => writable.push(PathBuf::from(&spec.cwd)),
        }
    }
    Policy {
        mode,
        writable,
        unix_sockets: spec.unix_sockets == UnixSockets::Allow,
        network: spec.network == Network::On,
        fallback_off: spec.sandbox_fallback == Fallback::Off,
        times: spec.agent.as_ref().and_then(|a| a.preset.as_ref()).is_some_and(|p| p.quirks.sets_times),
    }
}

/// The files and folders outside the tree that a commit in it writes: objects, what git keeps of this tree, and the
/// branches of its team with their logs. Never hooks or the configuration.
#[must_use]
pub fn of_commits(tree: &Tree) -> Vec<PathBuf> {
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
