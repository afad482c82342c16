//! What became of a tree: whether anything in it would be lost with it.

use std::path::{Path, PathBuf};

use super::git::{Git, Place};
use super::record::Record;
use crate::act::ActError;
use crate::model::tree::Tree;

/// What a look at a tree found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// The folder is not there any more.
    pub gone: bool,
    /// The commit that it stands at.
    pub head: String,
    /// The branch that is checked out in it; `None` where its HEAD is detached.
    pub branch: Option<String>,
    /// Commits that are not in what it began from.
    pub commits: u64,
    /// Files that are changed, staged, new or in conflict.
    pub files: Vec<String>,
    /// Why it cannot be told; then it counts as changed.
    pub unknown: Option<String>,
}

impl Look {
    /// What would be lost, in words; `None` where nothing would.
    #[must_use]
    pub fn changes(&self, tree: &Tree) -> Option<String> {
        let mut words = Vec::new();
        if self.commits > 0 {
            words.push(counted(self.commits, "commit"));
        }
        if !self.files.is_empty() {
            words.push(counted(self.files.len() as u64, "changed file"));
        }
        match &self.branch {
            Some(branch) if *branch != tree.branch => words.push(format!("another branch is checked out: {branch}")),
            None if !self.gone && self.unknown.is_none() => words.push("its HEAD is detached".to_owned()),
            _ => {}
        }
        if words.is_empty() && !self.gone && self.unknown.is_none() && self.head != tree.base {
            words.push("its branch was moved back".to_owned());
        }
        words.extend(self.unknown.clone());
        (!words.is_empty()).then(|| words.join(", "))
    }
}

fn counted(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// Looks at a tree without changing anything in it.
///
/// # Errors
/// When git cannot be run at all.
pub async fn look(record: &Record) -> Result<Look, ActError> {
    let tree = &record.tree;
    if !Path::new(&tree.path).is_dir() {
        return look_at_branch(tree).await;
    }
    if config_hash(tree) != record.config {
        // Git would run what stands there.
        return Ok(Look { unknown: Some("its own git configuration was changed".to_owned()), ..Look::default() });
    }
    let status =
        ["status", "--porcelain=v2", "--branch", "-z", "--untracked-files=normal", "--ignore-submodules=dirty"];
    let said = Git::new(Place::Of(tree), &status).output().await?;
    if said.code != 0 {
        return Ok(Look { unknown: Some(format!("git cannot look at it: {}", said.err)), ..Look::default() });
    }
    let mut look = parse(&said.text());
    look.commits = ahead(tree, &look.head).await?;
    Ok(look)
}

/// The folder is gone; its branch may hold work.
async fn look_at_branch(tree: &Tree) -> Result<Look, ActError> {
    let mut look = Look { gone: true, head: tree.base.clone(), ..Look::default() };
    if let Some(tip) = tip(tree).await? {
        look.commits = ahead(tree, &tip).await?;
        look.head = tip;
        look.branch = Some(tree.branch.clone());
    }
    Ok(look)
}

/// The commit that the tree's branch stands at.
pub(super) async fn tip(tree: &Tree) -> Result<Option<String>, ActError> {
    let reference = format!("refs/heads/{}^{{commit}}", tree.branch);
    let git = Git::new(Place::In(Path::new("/")), &["rev-parse", "--verify", "--quiet"]);
    let said = git.env("GIT_DIR", &tree.common_dir).arg(reference).output().await?;
    Ok((said.code == 0).then(|| said.line()))
}

async fn ahead(tree: &Tree, head: &str) -> Result<u64, ActError> {
    if head == tree.base || head.is_empty() {
        return Ok(0);
    }
    let git = Git::new(Place::In(Path::new("/")), &["rev-list", "--count"]).env("GIT_DIR", &tree.common_dir);
    let said = git.arg(format!("{}..{head}", tree.base)).output().await?;
    // A count that git cannot give is no reason to think that there is nothing.
    Ok(if said.code == 0 { said.line().parse().unwrap_or(1) } else { 1 })
}

/// Reads `git status --porcelain=v2 --branch -z`.
fn parse(text: &str) -> Look {
    let mut look = Look::default();
    let mut entries = text.split('\0');
    while let Some(entry) = entries.next() {
        let Some((kind, rest)) = entry.split_once(' ') else { continue };
        let field = |n: usize| rest.splitn(n + 1, ' ').nth(n).unwrap_or_default().to_owned();
        match kind {
            "#" => match rest.split_once(' ') {
                Some(("branch.oid", oid)) => look.head = oid.to_owned(),
                Some(("branch.head", head)) => look.branch = (head != "(detached)").then(|| head.to_owned()),
                _ => {}
            },
            "1" => look.files.push(field(7)),
            "2" => {
                look.files.push(field(8));
                // The path that it had before is an entry of its own.
                entries.next();
            }
            "u" => look.files.push(field(9)),
            "?" => look.files.push(rest.to_owned()),
            _ => {}
        }
    }
    look
}

/// How many files of the tree at `top` are in no commit. A look that fails counts none.
pub async fn left_behind(top: &Path) -> usize {
    let status = ["status", "--porcelain=v2", "-z", "--untracked-files=normal", "--ignore-submodules=dirty"];
    match Git::new(Place::In(top), &status).output().await {
        Ok(said) if said.code == 0 => parse(&said.text()).files.len(),
        _ => 0,
    }
}

/// The hash of the configuration that belongs to the tree alone. Its program can write it.
pub(super) fn config_hash(tree: &Tree) -> Option<String> {
    let bytes = std::fs::read(Path::new(&tree.git_dir).join("config.worktree")).ok()?;
    Some(blake3::hash(&bytes).to_hex().to_string())
}

/// A repository inside the tree, a submodule that was filled or one that somebody cloned there: git says nothing of
/// what lies in it, and it would go with the tree. Blocks: it walks through all of it.
pub(super) fn inner_repository(tree: &Path) -> Option<PathBuf> {
    let mut folders = vec![tree.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if entry.file_name() == ".git" && folder != tree {
                return Some(folder);
            }
            // Never through a symlink.
            if entry.file_type().is_ok_and(|t| t.is_dir()) {
                folders.push(path);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_change_is_a_file() {
        let text = "# branch.oid abc\0# branch.head crewmux/t/a\0\
                    1 .M N... 100644 100644 100644 a a with space.txt\0\
                    2 R. N... 100644 100644 100644 a a R100 new name\0old\0\
                    u UU N... 1 1 1 1 a a a both.txt\0? new/\0";
        let look = parse(text);
        assert_eq!(look.files, ["with space.txt", "new name", "both.txt", "new/"]);
        assert_eq!((look.head.as_str(), look.branch.as_deref()), ("abc", Some("crewmux/t/a")));
        let detached = parse("# branch.oid abc\0# branch.head (detached)\0");
        assert_eq!(detached.branch, None);
        assert!(detached.files.is_empty());
    }

    #[test]
    fn only_a_tree_that_is_as_it_was_made_loses_nothing() {
        let tree = Tree {
            path: "/t".into(),
            branch: "b".into(),
            base: "abc".into(),
            cwd: "/t".into(),
            repo: "/r".into(),
            common_dir: "/r/.git".into(),
            git_dir: "/r/.git/worktrees/t".into(),
        };
        let same = Look { head: "abc".into(), branch: Some("b".into()), ..Look::default() };
        assert_eq!(same.changes(&tree), None);
        let changed = |change: fn(&mut Look)| {
            let mut look = same.clone();
            change(&mut look);
            look.changes(&tree)
        };
        assert_eq!(changed(|l| l.commits = 2), Some("2 commits".to_owned()));
        assert_eq!(changed(|l| l.files = vec!["x".into()]), Some("1 changed file".to_owned()));
        assert_eq!(changed(|l| l.branch = None), Some("its HEAD is detached".to_owned()));
        assert!(changed(|l| l.branch = Some("c".into())).is_some());
        assert!(changed(|l| l.head = "000".into()).is_some());
        assert!(changed(|l| l.unknown = Some("?".into())).is_some());
    }
}
