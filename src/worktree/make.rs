//! Making a work tree, or finding the one that is there.

use std::path::{Path, PathBuf};

use super::find::lives;
use super::git::{Git, Place, failed};
use super::lock::lock;
use super::look::{config_hash, look, tip};
use super::record::{Record, Stage};
use super::remove::{clear_away, remove_unchanged};
use super::repo::Repo;
use crate::act::ActError;
use crate::model::id::Life;
use crate::model::name::Name;
use crate::model::tree::Tree;
use crate::os::clock;
use crate::store::{Home, make_dirs, reach};

/// For whom a tree is, and from where.
pub struct Ask<'a> {
    pub home: &'a Home,
    pub team: &'a Name,
    pub id8: &'a str,
    pub member: &'a Name,
    /// A child of the member's agent, like `agent-1a2b3c4d`.
    pub agent: Option<&'a str>,
    /// The folder whose repository and place the tree mirrors.
    pub from: &'a Path,
    /// Ending this life ends the making.
    pub life: Option<Life>,
}

/// A tree that is there.
#[derive(Clone, Debug)]
pub struct Made {
    pub record: Record,
    /// It was there already, with whatever its earlier life left in it.
    pub reused: bool,
}

/// The branch of a member's tree, or of a child's.
#[must_use]
pub fn branch(team: &Name, member: &Name, agent: Option<&str>) -> String {
    match agent {
        Some(agent) => format!("crewmux/{}/{}-{agent}", team.component(), member.component()),
        None => format!("crewmux/{}/{}", team.component(), member.component()),
    }
}

/// What a commit in the tree writes outside it, for whoever confines the one that works there. Only what is there can be opened, and git
/// takes empty folders along when it packs branches away.
///
/// # Errors
/// When a folder cannot be made.
pub fn commits(tree: &Tree) -> Result<Vec<PathBuf>, ActError> {
    let paths = reach::of_commits(tree);
    paths.iter().try_for_each(|path| make_dirs(path))?;
    Ok(paths)
}

/// Whether a word names a child's tree: `agent-` and eight digits or small letters.
#[must_use]
pub fn is_agent_word(word: &str) -> bool {
    word.strip_prefix("agent-")
        .is_some_and(|id| id.len() == 8 && id.bytes().all(|b| b.is_ascii_digit() || b.is_ascii_lowercase()))
}

/// Makes the tree that is asked for, or finds it. A fresh one counts as being made until [`Made::ready`].
///
/// # Errors
/// Where the folder has no repository that could give one, where its branch is there already (7), or git fails. Nothing
/// is left then.
pub async fn make(ask: &Ask<'_>) -> Result<Made, ActError> {
    let there = Record::read(ask.home, ask.team, ask.id8, ask.member, ask.agent)?;
    let there = match there {
        Some(record) if record.stage == Stage::Ready && is_whole(&record) => {
            let _turn = lock(ask.home, Path::new(&record.tree.common_dir)).await?;
            drop_stale_locks(&record.tree);
            return Ok(Made { record, reused: true });
        }
        there => there,
    };
    let repo = repo(ask).await?;
    let _turn = lock(ask.home, &repo.common).await?;
    if let Some(record) = there {
        // Cut off while it was made or removed, or taken away by a person.
        match record.stage {
            Stage::Ready if look(&record).await?.changes(&record.tree).is_some() => return checkout(ask, record).await,
            _ => clear_away(ask.home, &record).await?,
        }
    }
    let tree = planned(ask, &repo)?;
    make_way(ask, &tree).await?;
    let team = ask.team.clone();
    let agent = ask.agent.map(str::to_owned);
    let mut record = Record::new(team, ask.id8.to_owned(), ask.member.clone(), agent, tree, clock::now());
    record.save(ask.home)?;
    match add(ask, &mut record).await {
        Ok(()) => Ok(Made { record, reused: false }),
        Err(error) => {
            let cleared = clear_away(ask.home, &record).await;
            Err(match cleared {
                Ok(()) => error,
                Err(also) => error.cause(format!("and what was made could not be removed: {also}")),
            })
        }
    }
}

impl Made {
    /// The tree is set up: from now on what is in it is somebody's work.
    ///
    /// # Errors
    /// When that cannot be written down.
    pub fn ready(&mut self, home: &Home) -> Result<(), ActError> {
        self.record.stage = Stage::Ready;
        self.record.save(home)
    }
}

/// The repository that is asked for: around the folder, or that of the member's own tree for its child.
async fn repo(ask: &Ask<'_>) -> Result<Repo, ActError> {
    let own = match ask.agent {
        Some(_) => Record::read(ask.home, ask.team, ask.id8, ask.member, None)?,
        None => None,
    };
    let Some(own) = own.filter(|r| r.stage == Stage::Ready).map(|r| r.tree) else {
        return Repo::around(ask.from).await;
    };
    // The tree's pointers are its program's to change: only what was written down of it is believed.
    let head = Git::new(Place::Of(&own), &["rev-parse", "--verify", "HEAD^{commit}"]).run().await?.line();
    let prefix = Path::new(&own.cwd).strip_prefix(&own.path).unwrap_or(Path::new(""));
    Ok(Repo {
        prefix: prefix.to_string_lossy().into_owned(),
        top: PathBuf::from(&own.path),
        common: PathBuf::from(&own.common_dir),
        head,
    })
}

fn planned(ask: &Ask<'_>, repo: &Repo) -> Result<Tree, ActError> {
    let folder = ask.home.worktrees_of(ask.team, ask.id8, ask.member);
    let path = folder.join(ask.agent.unwrap_or("main"));
    make_dirs(&folder)?;
    let text = |path: &Path| {
        path.to_str()
            .map(str::to_owned)
            .ok_or_else(|| ActError::failed(format!("the path {} is not UTF-8", path.display())))
    };
    Ok(Tree {
        cwd: text(&path.join(&repo.prefix))?,
        path: text(&path)?,
        branch: branch(ask.team, ask.member, ask.agent),
        base: repo.head.clone(),
        repo: text(&repo.top)?,
        common_dir: text(&repo.common)?,
        git_dir: String::new(),
    })
}

/// A branch of that name may be left from an earlier team of this name: one that holds no work makes room.
async fn make_way(ask: &Ask<'_>, tree: &Tree) -> Result<(), ActError> {
    if tip(tree).await?.is_none() {
        return Ok(());
    }
    let branch = &tree.branch;
    let taken = ActError::conflict(format!("the branch `{branch}` exists already"));
    let same = |r: &Record| r.tree.branch == *branch && r.tree.common_dir == tree.common_dir;
    let Some(old) = Record::all(ask.home)?.0.into_iter().find(same) else {
        return Err(taken.cause("no work tree of crewmux has it").hint(format!(
            "`git -C {} branch -m {branch} NEW` keeps it under another name, `branch -D` removes it",
            tree.repo
        )));
    };
    if !lives(ask.home, &old) && remove_unchanged(ask.home, &old).await?.is_none() {
        return Ok(());
    }
    let kept = format!("the work tree {} of an earlier team `{}` was kept with it", old.tree.path, old.team);
    Err(taken
        .cause(kept)
        .hint(format!("`crewmux worktree diff {branch}` shows what is in it"))
        .hint(format!("`crewmux worktree merge {branch}`, then `crewmux worktree rm {branch}`, or `rm --discard`"))
        .hint("`--name NAME` launches the team under another name"))
}

/// Runs `git worktree add` and looks at what it made.
async fn add(ask: &Ask<'_>, record: &mut Record) -> Result<(), ActError> {
    let tree = &record.tree;
    let git = Git::new(Place::In(Path::new(&tree.repo)), &["worktree", "add", "--no-track", "-b"]);
    let git = git.env("GIT_DIR", &tree.common_dir).of_life(ask.life);
    git.arg(&tree.branch).arg("--").arg(&tree.path).arg(&tree.base).run().await?;
    settled_in(ask, record)
}

/// What git put where, written down before anybody else can change it.
fn settled_in(ask: &Ask<'_>, record: &mut Record) -> Result<(), ActError> {
    let pointer = Path::new(&record.tree.path).join(".git");
    let text = std::fs::read_to_string(&pointer)
        .map_err(|e| ActError::failed(format!("cannot read {}", pointer.display())).cause(e.to_string()))?;
    let git_dir = text.trim_end_matches('\n').strip_prefix("gitdir: ").unwrap_or_default();
    let git_dir = Path::new(&record.tree.path).join(git_dir);
    record.tree.git_dir = git_dir.to_string_lossy().into_owned();
    record.config = config_hash(&record.tree);
    if !Path::new(&record.tree.cwd).is_dir() {
        let folder = Path::new(&record.tree.cwd).strip_prefix(&record.tree.path).unwrap_or(Path::new("")).display();
        return Err(ActError::failed(format!("the folder {folder} is not in the commit that a work tree begins from"))
            .hint("commit it, or give the member a `cwd` that is"));
    }
    record.save(ask.home)
}

/// The folder was taken away, but its branch has commits: they come back into a fresh folder.
async fn checkout(ask: &Ask<'_>, mut record: Record) -> Result<Made, ActError> {
    super::remove::remove_git_dir(&record.tree)?;
    let tree = &record.tree;
    make_dirs(&ask.home.worktrees_of(ask.team, ask.id8, ask.member))?;
    let git =
        Git::new(Place::In(Path::new(&tree.common_dir)), &["worktree", "add", "--"]).env("GIT_DIR", &tree.common_dir);
    let output = git.of_life(ask.life).arg(&tree.path).arg(&tree.branch).output().await?;
    if output.code != 0 {
        return Err(failed("worktree add", &output));
    }
    settled_in(ask, &mut record)?;
    Ok(Made { record, reused: true })
}

fn is_whole(record: &Record) -> bool {
    let tree = &record.tree;
    Path::new(&tree.path).join(".git").exists() && Path::new(&tree.git_dir).join("HEAD").exists()
}

/// A program that was killed while it committed left git's locks. Nobody else works in its tree, and all of its processes
/// have ended before it is started again.
fn drop_stale_locks(tree: &Tree) {
    let branch = Path::new(&tree.common_dir).join("refs/heads").join(format!("{}.lock", tree.branch));
    for lock in [Path::new(&tree.git_dir).join("index.lock"), Path::new(&tree.git_dir).join("HEAD.lock"), branch] {
        if std::fs::remove_file(&lock).is_ok() {
            tracing::info!("{} was left by an earlier life and is removed", lock.display());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches_are_told_apart_and_are_names_that_git_takes() {
        let name = |text: &str| Name::parse(text).expect("a name");
        let (team, odd) = (name("My.Team"), name("x.lock"));
        assert_eq!(branch(&team, &odd, None), "crewmux/%4Dy%2E%54eam/x%2Elock");
        assert_eq!(branch(&name("t"), &name("a"), Some("agent-12ab34cd")), "crewmux/t/a-agent-12ab34cd");
        for good in ["agent-12345678", "agent-abcdefgh"] {
            assert!(is_agent_word(good), "{good}");
        }
        for bad in
            ["main", "agent-", "agent-1234567", "agent-123456789", "agent-../../x", "agent-1234567/", "agent-ABCDEFGH"]
        {
            assert!(!is_agent_word(bad), "{bad}");
        }
    }
}
