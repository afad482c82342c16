//! Trees made, cut off, worked in and removed, without any team.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::*;
use crate::act::ActError;
use crate::model::name::Name;
use crate::store::{Home, reach};

/// A repository with one commit, and a home.
struct World {
    dir: tempfile::TempDir,
}

fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

fn wait<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

impl World {
    fn new() -> Self {
        let world = Self { dir: tempfile::tempdir().unwrap() };
        fs::create_dir_all(world.repo().join("sub")).unwrap();
        world.git(&["init", "-q", "-b", "main"]);
        for (key, value) in [("user.name", "A"), ("user.email", "a@b"), ("commit.gpgSign", "false")] {
            world.git(&["config", key, value]);
        }
        world.write(&world.repo().join("a.txt"), "one\n");
        world.write(&world.repo().join("sub/b.txt"), "two\n");
        world.commit(&world.repo(), "first");
        world
    }

    fn repo(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join("repo")
    }

    fn home(&self) -> Home {
        Home::at(self.dir.path().canonicalize().unwrap().join("home"))
    }

    fn write(&self, path: &Path, text: &str) {
        fs::write(path, text).unwrap();
    }

    fn git(&self, args: &[&str]) -> String {
        self.git_in(&self.repo(), args)
    }

    fn git_in(&self, dir: &Path, args: &[&str]) -> String {
        let mut command = Command::new("git");
        command.args(args).current_dir(dir).env("GIT_CONFIG_NOSYSTEM", "1").env("HOME", self.dir.path());
        for inherited in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
            command.env_remove(inherited);
        }
        let ran = command.output().unwrap();
        assert!(ran.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&ran.stderr));
        String::from_utf8(ran.stdout).unwrap()
    }

    fn commit(&self, dir: &Path, message: &str) {
        self.git_in(dir, &["add", "-A"]);
        self.git_in(dir, &["commit", "-q", "-m", message]);
    }

    fn ask(&self, agent: Option<&str>, from: &Path) -> Result<Made, ActError> {
        let (home, team, member) = (self.home(), name("t"), name("m"));
        let ask = Ask { home: &home, team: &team, id8: "12345678", member: &member, agent, from, life: None };
        let mut made = wait(make(&ask))?;
        made.ready(&home)?;
        Ok(made)
    }

    fn tree(&self) -> Record {
        self.ask(None, &self.repo()).unwrap_or_else(|e| panic!("{e}: {:?}", e.causes)).record
    }

    fn settle(&self, record: &Record) -> Settled {
        wait(settle(&self.home(), record)).unwrap()
    }

    fn branches(&self) -> String {
        self.git(&["branch", "--list", "crewmux/*", "--format=%(refname:short)"])
    }

    /// Nothing of any tree is left, in the home or in the repository.
    fn is_clean(&self) {
        assert_eq!(self.branches(), "");
        let list = self.git(&["worktree", "list", "--porcelain"]);
        assert_eq!(list.matches("worktree ").count(), 1, "{list}");
        let left: Vec<_> =
            fs::read_dir(self.home().worktrees_dir()).unwrap().flatten().map(|e| e.file_name()).collect();
        assert_eq!(left, [".locks"]);
    }
}

#[test]
fn a_tree_mirrors_its_folder_and_goes_without_a_trace() {
    let world = World::new();
    let made = world.ask(None, &world.repo().join("sub")).unwrap();
    let tree = &made.record.tree;
    assert!(!made.reused);
    assert_eq!(tree.branch, "crewmux/t/m");
    assert_eq!(Path::new(&tree.cwd), Path::new(&tree.path).join("sub"));
    assert_eq!(fs::read_to_string(Path::new(&tree.cwd).join("b.txt")).unwrap(), "two\n");
    assert_eq!(world.git_in(Path::new(&tree.path), &["rev-parse", "HEAD"]).trim(), tree.base);
    for path in reach::of_commits(tree) {
        assert!(path.exists(), "{}", path.display());
    }
    assert!(world.ask(None, &world.repo()).unwrap().reused, "it is found again");
    assert_eq!(world.settle(&made.record), Settled::Removed);
    assert_eq!(world.settle(&made.record), Settled::Removed, "twice is once");
    world.is_clean();
}

#[test]
fn whatever_would_be_lost_keeps_the_tree() {
    type Change = fn(&World, &Path);
    let changes: [(&str, Change); 7] = [
        ("1 changed file", |w, tree| w.write(&tree.join("a.txt"), "other\n")),
        ("1 changed file", |w, tree| w.write(&tree.join("new"), "x")),
        ("1 changed file", |w, tree| {
            w.write(&tree.join("a.txt"), "staged\n");
            w.git_in(tree, &["add", "a.txt"]);
            w.write(&tree.join("a.txt"), "one\n");
        }),
        ("1 commit", |w, tree| {
            w.write(&tree.join("new"), "x");
            w.commit(tree, "work");
        }),
        ("its HEAD is detached", |w, tree| drop(w.git_in(tree, &["checkout", "-q", "--detach"]))),
        ("another branch is checked out: other", |w, tree| drop(w.git_in(tree, &["checkout", "-q", "-b", "other"]))),
        ("it holds another repository", |w, tree| {
            w.write(&tree.join(".gitignore"), "*\n");
            fs::create_dir(tree.join("inner")).unwrap();
            w.git_in(&tree.join("inner"), &["init", "-q"]);
        }),
    ];
    for (why, change) in changes {
        let world = World::new();
        let record = world.tree();
        change(&world, Path::new(&record.tree.path));
        match world.settle(&record) {
            Settled::Kept(said) => assert!(said.contains(why), "{said} instead of {why}"),
            Settled::Removed => panic!("removed in spite of {why}"),
        }
        assert!(Path::new(&record.tree.path).exists());
        wait(discard(&world.home(), &record)).unwrap();
        world.is_clean();
    }
}

#[test]
fn what_git_ignores_is_no_change() {
    let world = World::new();
    world.write(&world.repo().join(".gitignore"), "target\n");
    world.commit(&world.repo(), "ignore");
    let record = world.tree();
    let target = Path::new(&record.tree.path).join("target");
    fs::create_dir(&target).unwrap();
    world.write(&target.join("out"), "x");
    assert_eq!(world.settle(&record), Settled::Removed);
    world.is_clean();
}

#[test]
fn a_making_that_was_cut_off_anywhere_is_begun_anew() {
    let world = World::new();
    let home = world.home();
    // Written down, and killed before git began; before it wrote where it keeps the tree; and before `setup` was over.
    for cut in 0..3 {
        let mut record = world.tree();
        let path = PathBuf::from(&record.tree.path);
        record.stage = Stage::Making;
        match cut {
            0 => {
                fs::remove_dir_all(&path).unwrap();
                fs::remove_dir_all(&record.tree.git_dir).unwrap();
                world.git(&["branch", "-q", "-D", &record.tree.branch]);
                record.tree.git_dir = String::new();
            }
            1 => {
                record.tree.git_dir = String::new();
                world.write(&path.join("half"), "x");
            }
            _ => world.write(&path.join("left by setup"), "x"),
        }
        record.save(&home).unwrap();
        let again = world.ask(None, &world.repo()).unwrap();
        assert!(!again.reused, "cut {cut}");
        assert!(!path.join("half").exists() && !path.join("left by setup").exists());
        assert_eq!(world.settle(&again.record), Settled::Removed);
        world.is_clean();
    }
}

#[test]
fn a_removal_that_was_cut_off_is_finished() {
    let world = World::new();
    let mut record = world.tree();
    record.stage = Stage::Removing;
    record.save(&world.home()).unwrap();
    fs::remove_file(Path::new(&record.tree.path).join("a.txt")).unwrap();
    assert_eq!(world.settle(&record), Settled::Removed);
    world.is_clean();
}

#[test]
fn a_folder_that_a_person_took_away_comes_back_with_its_commits() {
    let world = World::new();
    let record = world.tree();
    let path = Path::new(&record.tree.path);
    world.write(&path.join("new"), "x");
    world.commit(path, "work");
    fs::remove_dir_all(path).unwrap();
    let seen = wait(look(&record)).unwrap();
    assert!(seen.gone && seen.commits == 1, "{seen:?}");
    assert!(matches!(world.settle(&record), Settled::Kept(why) if why == "1 commit"));
    let again = world.ask(None, &world.repo()).unwrap();
    assert!(again.reused);
    assert_eq!(fs::read_to_string(path.join("new")).unwrap(), "x");
    wait(discard(&world.home(), &again.record)).unwrap();
    world.is_clean();
}

#[test]
fn git_s_locks_that_a_killed_program_left_do_not_stop_its_next_life() {
    let world = World::new();
    let record = world.tree();
    world.write(&Path::new(&record.tree.git_dir).join("index.lock"), "");
    world.write(&Path::new(&record.tree.common_dir).join("refs/heads/crewmux/t/m.lock"), "");
    assert!(world.ask(None, &world.repo()).unwrap().reused);
    let path = Path::new(&record.tree.path);
    world.write(&path.join("new"), "x");
    world.commit(path, "work");
}

#[test]
fn a_child_begins_where_its_member_is() {
    let world = World::new();
    let own = world.tree();
    world.write(&Path::new(&own.tree.path).join("new"), "x");
    world.commit(Path::new(&own.tree.path), "work");
    let child = world.ask(Some("agent-1a2b3c4d"), &world.repo()).unwrap().record;
    assert_eq!(child.tree.branch, "crewmux/t/m-agent-1a2b3c4d");
    assert_eq!(Path::new(&child.tree.path).parent(), Path::new(&own.tree.path).parent());
    assert!(Path::new(&child.tree.path).join("new").exists());
    assert_eq!(child.name(), "m/agent-1a2b3c4d");
    assert_eq!(find(&world.home(), None, "m/agent-1a2b3c4d").unwrap(), child);
    assert_eq!(world.settle(&child), Settled::Removed);
    assert!(Path::new(&own.tree.path).exists());
}

#[test]
fn nothing_that_a_tree_says_of_itself_is_believed() {
    let world = World::new();
    let record = world.tree();
    let path = Path::new(&record.tree.path);
    // Its program makes it a repository of its own, whose monitor git would start in any look at it.
    let (trap, sprung) = (world.dir.path().join("trap.sh"), world.dir.path().join("sprung"));
    world.write(&trap, &format!("#!/bin/sh\ntouch {}\n", sprung.display()));
    fs::set_permissions(&trap, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    fs::remove_file(path.join(".git")).unwrap();
    world.git_in(path, &["init", "-q"]);
    world.git_in(path, &["config", "core.fsmonitor", trap.to_str().unwrap()]);
    world.git_in(path, &["config", "filter.x.clean", trap.to_str().unwrap()]);
    world.write(&path.join(".gitattributes"), "* filter=x\n");
    world.write(&path.join("a.txt"), "changed\n");
    assert!(matches!(world.settle(&record), Settled::Kept(_)));
    drop(wait(diff(&record, Form::Patch)));
    assert!(!sprung.exists(), "something that the tree brought was started");
    // Its own part of the configuration counts as a change too.
    world.write(&Path::new(&record.tree.git_dir).join("config.worktree"), "[core]\n\tfsmonitor = x\n");
    assert!(matches!(world.settle(&record), Settled::Kept(why) if why.contains("configuration")));
    assert!(wait(merge(&world.home(), &record, How::Any, false)).is_err());
}

#[test]
fn hooks_of_the_repository_are_not_run() {
    let world = World::new();
    let sprung = world.dir.path().join("sprung");
    for hook in ["post-checkout", "post-merge", "pre-merge-commit", "commit-msg", "reference-transaction"] {
        let path = world.repo().join(".git/hooks").join(hook);
        world.write(&path, &format!("#!/bin/sh\ntouch {}\n", sprung.display()));
        fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }
    let record = world.tree();
    let path = Path::new(&record.tree.path);
    world.write(&path.join("new"), "x");
    world.git_in(path, &["-c", "core.hooksPath=/dev/null", "add", "new"]);
    world.git_in(path, &["-c", "core.hooksPath=/dev/null", "commit", "-q", "-m", "work"]);
    let merged = wait(merge(&world.home(), &record, How::Commit, false)).unwrap();
    assert!(!merged.forward);
    wait(discard(&world.home(), &record)).unwrap();
    assert!(!sprung.exists(), "a hook was run");
}

#[test]
fn a_merge_goes_forward_or_makes_a_commit_and_takes_a_conflict_back() {
    let world = World::new();
    let (home, repo) = (world.home(), world.repo());
    let record = world.tree();
    let path = PathBuf::from(&record.tree.path);
    let nothing = wait(merge(&home, &record, How::Any, false)).unwrap();
    assert_eq!(nothing.commits, 0);

    world.write(&path.join("new"), "x\n");
    let error = wait(merge(&home, &record, How::Any, false)).unwrap_err();
    assert!(error.message.contains("not committed") && error.causes == ["new"], "{error:?}");
    world.commit(&path, "work");
    let merged = wait(merge(&home, &record, How::Any, false)).unwrap();
    assert!(merged.forward && merged.into == "main" && merged.commits == 1, "{merged:?}");
    assert!(repo.join("new").exists());
    assert!(wait(is_merged(&record)).unwrap());

    // Both went on.
    world.write(&repo.join("a.txt"), "ours\n");
    world.commit(&repo, "ours");
    world.write(&path.join("sub/b.txt"), "theirs\n");
    world.commit(&path, "theirs");
    assert!(wait(merge(&home, &record, How::ForwardOnly, false)).is_err());
    let merged = wait(merge(&home, &record, How::Any, false)).unwrap();
    assert!(!merged.forward);

    world.write(&path.join("a.txt"), "theirs\n");
    world.commit(&path, "against ours");
    let before = world.git(&["rev-parse", "HEAD"]);
    let error = wait(merge(&home, &record, How::Any, false)).unwrap_err();
    assert_eq!((error.code, error.causes.as_slice()), (7, &["conflict in a.txt".to_owned()][..]), "{error:?}");
    assert!(error.hints.iter().any(|h| h.contains("as it was")), "{error:?}");
    assert_eq!(world.git(&["rev-parse", "HEAD"]), before);
    assert_eq!(world.git(&["status", "--porcelain"]), "");
    assert_eq!(fs::read_to_string(repo.join("a.txt")).unwrap(), "ours\n");

    // What could not be taken back is not begun.
    world.write(&repo.join("a.txt"), "not committed\n");
    let error = wait(merge(&home, &record, How::Any, false)).unwrap_err();
    assert!(error.message.contains("not committed") && error.causes == ["a.txt"], "{error:?}");
    world.git(&["checkout", "-q", "--", "a.txt"]);
    world.git(&["checkout", "-q", "--detach"]);
    let error = wait(merge(&home, &record, How::Any, false)).unwrap_err();
    assert!(error.message.contains("detached"), "{error:?}");
}

#[test]
fn a_diff_shows_commits_changes_and_new_files_and_leaves_the_index_alone() {
    let world = World::new();
    let record = world.tree();
    let path = Path::new(&record.tree.path);
    world.write(&path.join("committed"), "1\n");
    world.commit(path, "work");
    world.write(&path.join("a.txt"), "2\n");
    world.write(&path.join("untracked"), "3\n");
    let before = world.git_in(path, &["status", "--porcelain"]);
    let patch = String::from_utf8(wait(diff(&record, Form::Patch)).unwrap()).unwrap();
    for line in ["+++ b/committed", "+++ b/a.txt", "+++ b/untracked", "+1", "+2", "+3", "-one"] {
        assert!(patch.lines().any(|l| l == line), "{line} is not in\n{patch}");
    }
    let names = String::from_utf8(wait(diff(&record, Form::Names)).unwrap()).unwrap();
    assert_eq!(names, "M\ta.txt\nA\tcommitted\nA\tuntracked\n");
    assert_eq!(world.git_in(path, &["status", "--porcelain"]), before);
}

#[test]
fn a_folder_that_can_have_no_tree_is_refused_by_what_it_is() {
    let world = World::new();
    let root = world.dir.path().canonicalize().unwrap();
    let folder = |name: &str| {
        fs::create_dir_all(root.join(name)).unwrap();
        root.join(name)
    };
    let (none, bare, unborn) = (folder("none"), folder("bare"), folder("unborn"));
    world.git_in(&bare, &["init", "-q", "--bare"]);
    world.git_in(&unborn, &["init", "-q"]);
    fs::create_dir(world.repo().join("untracked")).unwrap();
    let broken = folder("line\nbreak");
    world.git_in(&broken, &["init", "-q"]);
    world.git_in(&broken, &["-c", "user.name=a", "-c", "user.email=b", "commit", "-q", "--allow-empty", "-m", "x"]);
    for (from, why) in [
        (none, "is not in a git repository"),
        (bare, "is bare"),
        (unborn, "has no commit yet"),
        (world.repo().join(".git"), "inside git's own folder"),
        (world.repo().join("untracked"), "is not in the commit"),
        (broken, "line break in its path"),
    ] {
        let error = world.ask(None, &from).expect_err(why);
        assert!(error.message.contains(why), "{from:?}: {error:?}");
        assert_ne!(error.code, 0);
    }
    assert_eq!(world.branches(), "");
    assert!(Record::all(&world.home()).unwrap().0.is_empty());
}

#[test]
fn detached_heads_linked_trees_and_submodules_have_trees() {
    let world = World::new();
    world.git(&["checkout", "-q", "--detach"]);
    let record = world.tree();
    assert_eq!(world.settle(&record), Settled::Removed);

    let linked = world.dir.path().canonicalize().unwrap().join("linked");
    world.git(&["worktree", "add", "-q", "-b", "side", linked.to_str().unwrap()]);
    let record = world.ask(None, &linked).unwrap().record;
    assert_eq!(Path::new(&record.tree.repo), linked);
    assert_eq!(Path::new(&record.tree.common_dir), world.repo().join(".git"));
    assert_eq!(world.settle(&record), Settled::Removed);

    let inner = world.dir.path().join("inner");
    fs::create_dir(&inner).unwrap();
    world.git_in(&inner, &["init", "-q"]);
    world.git_in(&inner, &["-c", "user.name=a", "-c", "user.email=b", "commit", "-q", "--allow-empty", "-m", "x"]);
    world.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner.to_str().unwrap(), "module"]);
    world.commit(&world.repo(), "a submodule");
    let record = world.tree();
    let module = Path::new(&record.tree.path).join("module");
    assert_eq!(fs::read_dir(&module).unwrap().count(), 0, "it is empty until somebody fills it");
    assert_eq!(world.settle(&record), Settled::Removed);
    let record = world.tree();
    world.git_in(
        Path::new(&record.tree.path),
        &["-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init"],
    );
    assert!(matches!(world.settle(&record), Settled::Kept(why) if why.contains("another repository")));
}

#[test]
fn a_branch_that_is_there_is_refused_unless_it_is_an_empty_one_of_ours() {
    let world = World::new();
    world.git(&["branch", "crewmux/t/m"]);
    let error = world.ask(None, &world.repo()).unwrap_err();
    assert!(error.code == 7 && error.message.contains("crewmux/t/m"), "{error:?}");
    assert_eq!(world.branches(), "crewmux/t/m\n", "it is as it was");
    world.git(&["branch", "-q", "-D", "crewmux/t/m"]);

    // An earlier team of this name died whole: its tree without work makes room, one with work does not.
    let home = world.home();
    let (team, member, repo) = (name("t"), name("m"), world.repo());
    let of = |id8: &'static str| Ask {
        home: &home,
        team: &team,
        id8,
        member: &member,
        agent: None,
        from: &repo,
        life: None,
    };
    let mut first = wait(make(&of("00000001"))).unwrap();
    first.ready(&home).unwrap();
    let mut second = wait(make(&of("00000002"))).unwrap();
    second.ready(&home).unwrap();
    assert!(!Path::new(&first.record.tree.path).exists());
    world.write(&Path::new(&second.record.tree.path).join("new"), "x");
    let error = wait(make(&of("00000003"))).unwrap_err();
    assert!(error.code == 7 && error.causes[0].contains(&second.record.tree.path), "{error:?}");
    assert!(Path::new(&second.record.tree.path).join("new").exists());
}
