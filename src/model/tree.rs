//! A git work tree that crewmux made for a member or for a child of one.

use serde::{Deserialize, Serialize};

use super::message::Worktree;

/// Where a work tree lies and what it began from. All paths are absolute.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tree {
    /// The top of the tree.
    pub path: String,
    /// Its branch, without `refs/heads/`.
    pub branch: String,
    /// The commit that it began from.
    pub base: String,
    /// Where its program works: the folder of the tree that matches the member's own.
    pub cwd: String,
    /// The top of the tree that it was made from.
    pub repo: String,
    /// The repository's folder that all its trees share.
    pub common_dir: String,
    /// What git keeps of this tree, in a folder of the repository.
    pub git_dir: String,
}

impl Tree {
    /// What a report says of it.
    #[must_use]
    pub fn named(&self) -> Worktree {
        Worktree { path: self.path.clone(), branch: self.branch.clone() }
    }
}
