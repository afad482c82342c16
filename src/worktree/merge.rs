//! Merging a tree's branch into what is checked out where it came from.

use std::path::Path;

use super::git::{Git, Output, Place, failed};
use super::lock::lock;
use super::look::{look, tip};
use super::record::Record;
use crate::act::ActError;
use crate::store::Home;

/// How to merge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum How {
    /// Forward where that is possible, else by a merge commit.
    #[default]
    Any,
    ForwardOnly,
    /// Always by a merge commit.
    Commit,
}

/// What a merge came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merged {
    /// The branch that was merged into.
    pub into: String,
    /// Where that stands now.
    pub head: String,
    /// Commits that came in; none where all of them were there.
    pub commits: u64,
    /// It was moved forward, without a merge commit.
    pub forward: bool,
}

/// Merges the record's branch into the branch that is checked out in the tree it was made from.
///
/// # Errors
/// Work in the tree that is not committed (unless `committed` is enough), changes or an unfinished merge where it goes
/// to, a detached HEAD there; conflicts, each file named, after which everything is as it was.
pub async fn merge(home: &Home, record: &Record, how: How, committed: bool) -> Result<Merged, ActError> {
    let tree = &record.tree;
    let _turn = lock(home, Path::new(&tree.common_dir)).await?;
    let seen = look(record).await?;
    if let Some(why) = seen.unknown.filter(|_| !committed) {
        return Err(ActError::failed(format!("what is in the work tree of `{}` cannot be told", record.name()))
            .cause(why)
            .hint("`--committed` merges the commits of its branch all the same"));
    }
    if !seen.files.is_empty() && !committed {
        let mut error =
            ActError::failed(format!("the work tree of `{}` has changes that are not committed", record.name()));
        error.causes.extend(some(&seen.files));
        return Err(error
            .hint(format!("commit them in {}", tree.path))
            .hint("`--committed` merges what is committed and leaves them where they are"));
    }
    let Some(tip) = tip(tree).await? else {
        return Err(ActError::not_found(format!("the branch `{}` is gone", tree.branch)));
    };
    let top = Place::In(Path::new(&tree.repo));
    let into = target(&tree.repo).await?;
    let before = head(top).await?;
    let commits = Git::new(top, &["rev-list", "--count"]).arg(format!("{before}..{tip}")).run().await?;
    let commits = commits.line().parse().unwrap_or(0);
    if commits == 0 {
        return Ok(Merged { into, head: before, commits, forward: false });
    }
    let word = match how {
        How::Any => "--ff",
        How::ForwardOnly => "--ff-only",
        How::Commit => "--no-ff",
    };
    let message = format!("Merge the work of {} ({})", record.name(), tree.branch);
    let git = Git::new(top, &["merge", "--no-edit", "--no-autostash", word, "-m"]).arg(message);
    let output = git.arg(format!("refs/heads/{}", tree.branch)).output().await?;
    if output.code != 0 {
        return Err(undo(top, record, &into, &before, &output).await);
    }
    let head = head(top).await?;
    Ok(Merged { forward: head == tip, into, head, commits })
}

async fn head(top: Place<'_>) -> Result<String, ActError> {
    Ok(Git::new(top, &["rev-parse", "--verify", "HEAD^{commit}"]).run().await?.line())
}

/// The branch that is merged into; its tree must be one that a failed merge can be undone in.
async fn target(top: &str) -> Result<String, ActError> {
    if !Path::new(top).is_dir() {
        return Err(ActError::not_found(format!("{top}, from which the work tree was made, is gone")));
    }
    let place = Place::In(Path::new(top));
    let said = Git::new(place, &["symbolic-ref", "--quiet", "--short", "HEAD"]).output().await?;
    if said.code != 0 {
        return Err(ActError::failed(format!("{top} has a detached HEAD: there is no branch to merge into"))
            .hint(format!("`git -C {top} switch BRANCH` first")));
    }
    if Git::new(place, &["rev-parse", "--verify", "--quiet", "MERGE_HEAD"]).output().await?.code == 0 {
        return Err(ActError::failed(format!("a merge in {top} is not finished"))
            .hint(format!("commit it, or `git -C {top} merge --abort`")));
    }
    let status = ["status", "--porcelain", "--untracked-files=no", "--ignore-submodules=dirty"];
    let dirty = Git::new(place, &status).run().await?.text();
    if !dirty.is_empty() {
        let files: Vec<String> = dirty.lines().map(|l| l.get(3..).unwrap_or_default().to_owned()).collect();
        let mut error = ActError::failed(format!("{top} has changes that are not committed"));
        error.causes.extend(some(&files));
        return Err(error.hint(format!("commit them, or `git -C {top} stash`; a merge could not be undone over them")));
    }
    Ok(said.line())
}

/// Takes back what a failed merge began; the error that names its conflicts.
async fn undo(top: Place<'_>, record: &Record, into: &str, before: &str, output: &Output) -> ActError {
    let unmerged = Git::new(top, &["diff", "--name-only", "--diff-filter=U", "-z"]).output().await;
    let files: Vec<String> = unmerged
        .map(|u| u.text().split('\0').filter(|f| !f.is_empty()).map(str::to_owned).collect())
        .unwrap_or_default();
    let began = Git::new(top, &["rev-parse", "--verify", "--quiet", "MERGE_HEAD"]).output().await;
    let aborted = match began {
        Ok(Output { code: 0, .. }) => Git::new(top, &["merge", "--abort"]).run().await.map(drop),
        _ => Ok(()),
    };
    let mut error = match files.as_slice() {
        [] => failed("merge", output),
        files => {
            let (name, count) = (record.name(), files.len());
            let what = if count == 1 { "1 file".to_owned() } else { format!("{count} files") };
            let mut error = ActError::conflict(format!("the work of `{name}` conflicts with `{into}` in {what}"));
            error.causes.extend(files.iter().map(|f| format!("conflict in {f}")));
            error.hint(format!("`git -C {} merge {into}` solves it on its side; then merge again", record.tree.path))
        }
    };
    match (aborted, head(top).await) {
        (Ok(()), Ok(now)) if now == before => error.hints.insert(0, format!("`{into}` is as it was")),
        (Err(also), _) => error.causes.push(format!("and it could not be undone: {also}")),
        _ => error.causes.push(format!("`{into}` is no longer at {before}: somebody else moved it")),
    }
    error
}

/// The first few of a list of files.
fn some(files: &[String]) -> Vec<String> {
    const SHOWN: usize = 8;
    let mut out: Vec<String> = files.iter().take(SHOWN).cloned().collect();
    if files.len() > SHOWN {
        out.push(format!("and {} more", files.len() - SHOWN));
    }
    out
}

/// Whether every commit of the tree's branch is in what is checked out where it came from.
///
/// # Errors
/// When git cannot be run.
pub async fn is_merged(record: &Record) -> Result<bool, ActError> {
    let tree = &record.tree;
    let Some(tip) = tip(tree).await? else { return Ok(false) };
    let git = Git::new(Place::In(Path::new(&tree.repo)), &["merge-base", "--is-ancestor"]);
    Ok(git.arg(tip).arg("HEAD").output().await.is_ok_and(|o| o.code == 0))
}
