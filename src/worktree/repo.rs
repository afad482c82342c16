//! The repository that a folder lies in, or why no work tree can be made of it.

use std::path::{Path, PathBuf};

use super::git::{Git, Place, check_version, failed};
use crate::act::ActError;

/// A repository, seen from a folder of one of its trees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repo {
    /// The top of the tree that the folder lies in.
    pub top: PathBuf,
    /// What all trees of the repository share.
    pub common: PathBuf,
    /// The folder's place below the top; empty for the top itself.
    pub prefix: String,
    /// The commit that is checked out there.
    pub head: String,
}

impl Repo {
    /// The repository around `folder`.
    ///
    /// # Errors
    /// Where a work tree cannot be made: no repository, a bare one, one without a commit, inside `.git`, or names that
    /// git cannot tell us.
    pub async fn around(folder: &Path) -> Result<Self, ActError> {
        let shown = folder.display();
        let asked = [
            "rev-parse",
            "--is-bare-repository",
            "--is-inside-work-tree",
            "--git-common-dir",
            "--show-toplevel",
            "--show-prefix",
            "HEAD^{commit}",
        ];
        let output = Git::new(Place::In(folder), &asked).output().await?;
        let text = String::from_utf8(output.out.clone()).map_err(|_| {
            ActError::failed(format!("the repository around {shown} lies below a name that is not UTF-8"))
        })?;
        // What git knows it has printed, also where it then fails.
        let lines: Vec<&str> = text.lines().collect();
        match (output.code, lines.as_slice()) {
            (0, [_, "true", common, top, prefix, head]) => {
                let common = folder.join(common);
                Ok(Self {
                    top: PathBuf::from(top),
                    common: common.canonicalize().unwrap_or(common),
                    prefix: prefix.trim_end_matches('/').to_owned(),
                    head: (*head).to_owned(),
                })
            }
            (0, [_, "true", ..]) => {
                Err(ActError::failed(format!("the repository around {shown} has a line break in its path"))
                    .hint("rename the folder; git's answers cannot be told apart there"))
            }
            (_, ["true", ..]) => Err(ActError::failed(format!("the repository at {shown} is bare: it has no files"))
                .hint("make a clone of it, and launch the team there")),
            (_, [_, "false", ..]) => {
                Err(ActError::failed(format!("{shown} lies inside git's own folder, not in a work tree")))
            }
            (_, [_, "true", _, top, ..]) if output.err.contains("HEAD") => {
                Err(ActError::failed(format!("the repository {top} has no commit yet, so nothing can be checked out"))
                    .hint("`git commit` once, `git commit --allow-empty` where there are no files"))
            }
            _ if output.err.contains("not a git repository") => {
                Err(ActError::failed(format!("{shown} is not in a git repository, so it has no work trees"))
                    .hint("`git init` and a first commit make it one; `isolation = \"none\"` shares the folder"))
            }
            _ => {
                check_version().await?;
                Err(failed("rev-parse", &output))
            }
        }
    }
}
