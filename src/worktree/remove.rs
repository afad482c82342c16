//! Removing trees: by themselves only those in which nothing was changed.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::git::{Git, Place};
use super::lock::lock;
use super::look::{Look, inner_repository, look, tip};
use super::record::{Record, Stage};
use crate::act::ActError;
use crate::model::tree::Tree;
use crate::store::Home;

/// What became of a tree that nobody works in any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Settled {
    Removed,
    /// Why it stays.
    Kept(String),
}

/// Removes the tree and its branch if it is as it was made; else it stays. Whoever worked in it must have ended.
///
/// # Errors
/// When git cannot be run, or the files cannot be removed. What was not removed is still written down.
pub async fn settle(home: &Home, record: &Record) -> Result<Settled, ActError> {
    let _turn = lock(home, Path::new(&record.tree.common_dir)).await?;
    // Another process may have been quicker.
    let Some(record) = current(home, record)? else { return Ok(Settled::Removed) };
    if record.stage == Stage::Making {
        clear_away(home, &record).await?;
        return Ok(Settled::Removed);
    }
    Ok(match remove_unchanged(home, &record).await? {
        None => Settled::Removed,
        Some(why) => Settled::Kept(why),
    })
}

/// Removes the tree and its branch whatever is in them.
///
/// # Errors
/// As [`settle`].
pub async fn discard(home: &Home, record: &Record) -> Result<(), ActError> {
    let _turn = lock(home, Path::new(&record.tree.common_dir)).await?;
    let Some(mut record) = current(home, record)? else { return Ok(()) };
    record.stage = Stage::Removing;
    record.save(home)?;
    remove_files(&record.tree).await?;
    if let Some(tip) = tip(&record.tree).await? {
        delete_branch(&record.tree, &tip).await?;
    }
    record.forget(home)
}

/// The record as it is now.
fn current(home: &Home, record: &Record) -> Result<Option<Record>, ActError> {
    Record::read(home, &record.team, &record.id8, &record.member, record.agent.as_deref())
}

/// Removes it if it is as it was made; else says why it stays. Call it in one's turn.
pub(super) async fn remove_unchanged(home: &Home, record: &Record) -> Result<Option<String>, ActError> {
    if record.stage == Stage::Ready {
        let seen = look(record).await?;
        if let Some(why) = seen.changes(&record.tree) {
            return Ok(Some(why));
        }
        if let Some(inner) = inner(&record.tree).await {
            return Ok(Some(format!("it holds another repository: {}", inner.display())));
        }
        // From here on it goes, also if this process does not live to see it.
        let mut going = record.clone();
        going.stage = Stage::Removing;
        going.save(home)?;
    }
    clear_away(home, record).await?;
    Ok(None)
}

/// What stands in the way of removing a tree, for a look that changes nothing.
///
/// # Errors
/// When git cannot be run.
pub async fn why_kept(record: &Record) -> Result<(Look, Option<String>), ActError> {
    let seen = look(record).await?;
    let changes = seen.changes(&record.tree);
    let changes = match changes {
        None => inner(&record.tree).await.map(|inner| format!("it holds another repository: {}", inner.display())),
        some => some,
    };
    Ok((seen, changes))
}

async fn inner(tree: &Tree) -> Option<PathBuf> {
    let path = PathBuf::from(&tree.path);
    tokio::task::spawn_blocking(move || inner_repository(&path)).await.ok().flatten()
}

/// Removes a tree that holds nobody's work, as far as it was made, and its branch if that never moved.
pub(super) async fn clear_away(home: &Home, record: &Record) -> Result<(), ActError> {
    remove_files(&record.tree).await?;
    delete_branch(&record.tree, &record.tree.base).await?;
    record.forget(home)
}

async fn remove_files(tree: &Tree) -> Result<(), ActError> {
    let path = PathBuf::from(&tree.path);
    let removed = tokio::task::spawn_blocking(move || remove_tree(&path).map_err(|e| (path, e))).await;
    match removed {
        Ok(Ok(())) => {}
        Ok(Err((path, error))) => {
            return Err(
                ActError::failed(format!("cannot remove the work tree {}", path.display())).cause(error.to_string())
            );
        }
        Err(error) => return Err(ActError::failed("the removal of a work tree was cut off").cause(error.to_string())),
    }
    remove_git_dir(tree)
}

/// Removes what git keeps of the tree. Not by `git worktree prune`, which also forgets trees on disks that are not there.
pub(super) fn remove_git_dir(tree: &Tree) -> Result<(), ActError> {
    let all = Path::new(&tree.common_dir).join("worktrees");
    let own = match tree.git_dir.is_empty() {
        // It was cut off before that was written down.
        true => pointing_to(&all, &Path::new(&tree.path).join(".git")),
        false => Some(PathBuf::from(&tree.git_dir)).filter(|dir| dir.parent() == Some(&all)),
    };
    let Some(own) = own else { return Ok(()) };
    remove_tree(&own).map_err(|e| ActError::failed(format!("cannot remove {}", own.display())).cause(e.to_string()))
}

/// The folder in which git keeps what it knows of the tree with this `.git` file.
fn pointing_to(all: &Path, pointer: &Path) -> Option<PathBuf> {
    let text = pointer.to_string_lossy();
    fs::read_dir(all)
        .ok()?
        .flatten()
        .map(|entry| entry.path())
        .find(|dir| fs::read_to_string(dir.join("gitdir")).is_ok_and(|said| said.trim_end_matches('\n') == text))
}

/// Deletes the branch if it stands at `at`; one that has moved stays.
async fn delete_branch(tree: &Tree, at: &str) -> Result<(), ActError> {
    let common = Path::new(&tree.common_dir);
    if !common.is_dir() || tip(tree).await?.as_deref() != Some(at) {
        return Ok(());
    }
    let git = Git::new(Place::In(Path::new("/")), &["update-ref", "-d"]).env("GIT_DIR", common);
    git.arg(format!("refs/heads/{}", tree.branch)).arg(at).run().await.map(drop)
}

/// Removes a folder and all in it, never through a symlink; folders that may not be written in are opened first.
fn remove_tree(path: &Path) -> std::io::Result<()> {
    let removed = match fs::remove_dir_all(path) {
        Err(e) if e.kind() == std::io::ErrorKind::PermissionDenied => {
            open_up(path);
            fs::remove_dir_all(path)
        }
        other => other,
    };
    match removed {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

fn open_up(folder: &Path) {
    let _ = fs::set_permissions(folder, fs::Permissions::from_mode(0o700));
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|t| t.is_dir()) {
            open_up(&entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_may_not_be_written_in_goes_and_what_a_link_leads_to_stays() {
        let dir = tempfile::tempdir().unwrap();
        let (tree, outside) = (dir.path().join("tree"), dir.path().join("outside"));
        fs::create_dir_all(tree.join("deep/er")).unwrap();
        fs::create_dir_all(&outside).unwrap();
        fs::write(outside.join("file"), "x").unwrap();
        fs::write(tree.join("deep/er/file"), "x").unwrap();
        std::os::unix::fs::symlink(&outside, tree.join("link")).unwrap();
        fs::set_permissions(tree.join("deep/er"), fs::Permissions::from_mode(0o500)).unwrap();
        remove_tree(&tree).unwrap();
        assert!(!tree.exists());
        assert!(outside.join("file").exists());
        remove_tree(&tree).unwrap();
    }
}
