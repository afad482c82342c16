//! What a tree has that its beginning had not: commits, changes and new files in one patch.

use std::path::Path;

use super::git::{Git, Place};
use super::look::look;
use super::record::Record;
use crate::act::ActError;

/// How to show it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    #[default]
    Patch,
    /// Files and counts.
    Stat,
    /// The names of the files alone.
    Names,
}

/// The patch from the commit that the tree began from to what lies in it now.
///
/// # Errors
/// When git cannot be run, or its configuration was changed from inside the tree.
pub async fn diff(record: &Record, form: Form) -> Result<Vec<u8>, ActError> {
    let tree = &record.tree;
    let seen = look(record).await?;
    if let Some(why) = seen.unknown {
        return Err(ActError::failed(format!("the work tree of `{}` cannot be looked at", record.name())).cause(why));
    }
    let word = match form {
        Form::Patch => "--patch",
        Form::Stat => "--stat",
        Form::Names => "--name-status",
    };
    // Programs that a configuration names for showing differences are not started.
    let plain = ["--no-color", "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty", word];
    if seen.gone {
        let git = Git::new(Place::In(Path::new("/")), &["diff"]).env("GIT_DIR", &tree.common_dir);
        let git = plain.iter().fold(git, Git::arg);
        return Ok(git.arg(&tree.base).arg(&seen.head).arg("--").run().await?.out);
    }
    // New files show when an index knows of them: a copy of it, since the real one is the tree's program's.
    let folder =
        tempfile::tempdir().map_err(|e| ActError::failed("cannot make a temporary folder").cause(e.to_string()))?;
    let index = folder.path().join("index");
    let own = Path::new(&tree.git_dir).join("index");
    std::fs::copy(&own, &index)
        .map_err(|e| ActError::failed(format!("cannot copy {}", own.display())).cause(e.to_string()))?;
    Git::new(Place::Of(tree), &["add", "--intent-to-add", "--", ":/"]).env("GIT_INDEX_FILE", &index).run().await?;
    let git = Git::new(Place::Of(tree), &["diff"]).env("GIT_INDEX_FILE", &index);
    let git = plain.iter().fold(git, Git::arg);
    Ok(git.arg(&tree.base).arg("--").run().await?.out)
}
