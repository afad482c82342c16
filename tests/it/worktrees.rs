//! Members with a git work tree of their own: F51, and what F52 says of their environment.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::model_server::{Answer, ModelServer, calls, results, says};
use crate::support::{Crew, kill, lives, until, with_environment};

/// A crew with a repository of one commit in `repo/`.
struct Repo {
    crew: Crew,
}

impl Repo {
    fn new() -> Self {
        let repo = Self { crew: Crew::new() };
        repo.crew.write(".gitconfig", "[user]\nname = A\nemail = a@b\n[init]\ndefaultBranch = main\n");
        repo.crew.write("repo/a.txt", "one\n");
        repo.crew.write("repo/sub/b.txt", "two\n");
        repo.git(&["init", "-q"]);
        repo.git(&["add", "-A"]);
        repo.git(&["commit", "-q", "-m", "first"]);
        repo
    }

    fn path(&self) -> PathBuf {
        self.crew.dir().join("repo")
    }

    fn git(&self, args: &[&str]) -> String {
        let ran = Command::new("git").args(args).current_dir(self.path()).env("HOME", self.crew.dir()).output();
        let ran = ran.expect("git runs");
        assert!(ran.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&ran.stderr));
        String::from_utf8_lossy(&ran.stdout).into_owned()
    }

    fn branches(&self) -> String {
        self.git(&["branch", "--list", "crewmux/*", "--format=%(refname:short)"])
    }

    /// A member in a tree of its own that does what [`Crew::inside`] tells it.
    fn hand(&self, name: &str, more: &str) -> String {
        let puppet = self.crew.puppet(name);
        let dir = self.crew.dir().display();
        let own = format!("command = [\"sh\", \"-c\", \"pwd >{dir}/{name}.cwd; cd {dir} && exec sh ./puppet.sh\"]");
        let puppet = puppet.replace("command = [\"sh\", \"./puppet.sh\"]", &own);
        format!("{puppet}cwd = \"repo/sub\"\nisolation = \"worktree\"\n{more}")
    }

    fn tree(&self, team: &str, member: &str) -> Value {
        self.crew.entry(team, member)["worktree"].clone()
    }

    fn worktrees(&self) -> Vec<Value> {
        self.crew.json(&["worktree", "list"]).as_array().cloned().expect("an array")
    }

    fn events(&self, team: &str, kind: &str) -> Vec<Value> {
        self.crew.events(team).into_iter().filter(|e| e["type"] == kind).collect()
    }
}

#[test]
fn f51_a_member_has_a_tree_of_its_own_and_an_unchanged_one_goes() {
    let repo = Repo::new();
    let crew = &repo.crew;
    crew.up(&format!(
        "v = 1\nname = \"iso\"\n{}{}[[task]]\nsubject = \"s\"\nowner = \"x.lock\"\n",
        repo.hand("one", ""),
        repo.hand("x.lock", "")
    ));
    let (one, odd) = (repo.tree("iso", "one"), repo.tree("iso", "x.lock"));
    assert_eq!(one["branch"], "crewmux/iso/one");
    assert_eq!(odd["branch"], "crewmux/iso/x%2Elock");
    let path = PathBuf::from(one["path"].as_str().expect("a path"));
    assert!(path.starts_with(crew.home().join("worktrees")) && path.ends_with("one/main"), "{path:?}");
    assert_eq!(crew.read("one.cwd").trim(), path.join("sub").to_str().expect("text"));
    // F52: its programs are told.
    let env = crew.inside("one", "echo \"$CREWMUX_WORKTREE|$CREWMUX_BRANCH\"").out;
    assert_eq!(env.trim(), format!("{}|crewmux/iso/one", path.display()));
    let made = repo.events("iso", "worktree_made");
    assert_eq!(made.len(), 2, "{made:?}");
    assert_eq!(made[0]["base"].as_str().map(str::len), Some(40), "{made:?}");
    // What one does is not in the other's tree, nor where the team was launched.
    assert_eq!(crew.inside("one", "echo mine >$CREWMUX_WORKTREE/a.txt").code, 0);
    assert_eq!(std::fs::read_to_string(repo.path().join("a.txt")).expect("a file"), "one\n");
    assert_eq!(crew.inside("x.lock", "cat $CREWMUX_WORKTREE/a.txt").out, "one\n");
    assert_eq!(crew.inside("one", "cd $CREWMUX_WORKTREE && git checkout -q -- a.txt").code, 0);

    // Its report says where its work lies.
    assert_eq!(crew.inside("x.lock", "crewmux task claim 1 && crewmux task done 1").code, 0);
    let report: Value =
        serde_json::from_str(crew.ok(&["inbox", "--all", "--json", "--type", "report"]).trim()).expect("a report");
    assert_eq!(report["body"]["worktree"]["branch"], "crewmux/iso/x%2Elock", "{report}");
    assert_eq!(report["body"]["worktree"]["path"], odd["path"], "{report}");

    // One that ends while the team lives is seen to by the lead, the others by `down`.
    crew.ok(&["shutdown", "one"]);
    until("the tree of one is removed", || repo.events("iso", "worktree_removed").len() == 1);
    assert!(!path.exists());
    until("the roster says so", || repo.tree("iso", "one").is_null());
    assert_eq!(repo.branches(), "crewmux/iso/x%2Elock\n");
    let ran = crew.run(&["down"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert!(!ran.err.contains("work tree"), "{ran:#?}");
    assert_eq!(repo.branches(), "");
    assert!(repo.worktrees().is_empty());
}

#[test]
fn f51_a_dirty_tree_is_kept_named_and_merged_when_a_person_wants_it() {
    let repo = Repo::new();
    let crew = &repo.crew;
    crew.up(&format!("v = 1\nname = \"keep\"\n{}{}", repo.hand("work", ""), repo.hand("idle", "")));
    let path = PathBuf::from(repo.tree("keep", "work")["path"].as_str().expect("a path"));
    let script = "cd $CREWMUX_WORKTREE && echo x >done.txt && git add -A && git commit -qm work && echo y >open.txt";
    assert_eq!(crew.inside("work", script).code, 0);
    let busy = crew.fails(7, &["worktree", "rm", "work"]);
    assert!(busy.err.contains("is at work"), "{busy:#?}");
    assert_eq!(crew.inside("idle", "crewmux worktree rm work --discard").code, 4, "it is not a member's to remove");

    crew.ok(&["shutdown", "work"]);
    until("the tree is kept", || repo.events("keep", "worktree_kept").len() == 1);
    let kept = &repo.events("keep", "worktree_kept")[0];
    assert_eq!(kept["why"], "1 commit, 1 changed file", "{kept}");
    let down = crew.run(&["down"]);
    assert_eq!(down.code, 0, "{down:#?}");
    assert!(down.err.contains("`work` is kept") && down.err.contains(path.to_str().expect("text")), "{down:#?}");
    assert!(!down.err.contains("idle"), "{down:#?}");

    // The team is gone, the work is not.
    let list = repo.worktrees();
    assert_eq!(list.len(), 1, "{list:?}");
    let row = &list[0];
    assert_eq!((row["state"].as_str(), row["alive"].as_bool()), (Some("changed"), Some(false)), "{row}");
    assert!(crew.ok(&["worktree", "list"]).contains("1 commit, 1 changed file"));
    let diff = crew.ok(&["worktree", "diff", "work"]);
    assert!(diff.contains("+++ b/done.txt") && diff.contains("+++ b/open.txt"), "{diff}");
    let refused = crew.fails(1, &["worktree", "rm", "work"]);
    assert!(refused.err.contains("--discard"), "{refused:#?}");
    let refused = crew.fails(1, &["worktree", "merge", "work"]);
    assert!(refused.err.contains("open.txt"), "{refused:#?}");
    assert_eq!(crew.fails(3, &["worktree", "merge", "nobody"]).code, 3);
    crew.ok(&["worktree", "merge", "work", "--committed"]);
    assert!(repo.path().join("done.txt").exists() && !repo.path().join("open.txt").exists());
    // A launch under this name would need the branch.
    let again = crew.fails(1, &["up", "spec.toml"]);
    assert!(again.err.contains("crewmux/keep/work") && again.err.contains("exists already"), "{again:#?}");
    assert!(path.join("open.txt").exists());
    std::fs::remove_file(path.join("open.txt")).expect("a file");
    crew.ok(&["worktree", "rm", "work"]);
    assert!(!path.exists());
    assert_eq!(repo.branches(), "");
    crew.ok(&["up", "spec.toml"]);
}

#[test]
fn f51_isolation_where_there_is_no_repository_is_refused_and_nothing_is_left() {
    let repo = Repo::new();
    let crew = &repo.crew;
    std::fs::create_dir(crew.dir().join("plain")).expect("a folder");
    let spec = crew.write(
        "none.toml",
        "name = \"none\"\n[[member]]\nname = \"a\"\ncwd = \"plain\"\nisolation = \"worktree\"\n[[member]]\nname = \"b\"\n",
    );
    let ran = crew.fails(1, &["up", spec.to_str().expect("a plain path")]);
    assert!(ran.err.contains("`a` did not start") && ran.err.contains("not in a git repository"), "{ran:#?}");
    assert!(!crew.team("none").exists());
    assert!(repo.worktrees().is_empty());

    // `spawn` too, and it undoes no one else.
    crew.up("name = \"some\"\n[[member]]\nname = \"b\"\n");
    for (cwd, why) in [("plain", "not in a git repository"), ("repo/.git", "inside git's own folder")] {
        let ran = crew.fails(1, &["spawn", "a", "--isolation", "worktree", "--cwd", cwd]);
        assert!(ran.err.contains(why), "{ran:#?}");
        assert_eq!(crew.status("some", "a"), Value::Null);
    }
    crew.ok(&["spawn", "a", "--isolation", "worktree", "--cwd", "repo"]);
    assert_eq!(repo.branches(), "crewmux/some/a\n");
    crew.ok(&["down"]);
    assert_eq!(repo.branches(), "");
    // A word that nobody knows is a mistake in the spec, not a member that shares the folder.
    let spec = crew.write("bad.toml", "name = \"bad\"\n[[member]]\nname = \"a\"\nisolation = \"container\"\n");
    assert_eq!(crew.run(&["up", spec.to_str().expect("a plain path")]).code, 2);
}

#[test]
fn f51_a_killed_member_goes_on_in_its_own_tree() {
    let repo = Repo::new();
    let crew = &repo.crew;
    crew.up(&format!("v = 1\nname = \"again\"\n{}", repo.hand("work", "")));
    let tree = repo.tree("again", "work");
    let git_dir = PathBuf::from(tree["git_dir"].as_str().expect("a path"));
    assert_eq!(crew.inside("work", "echo half >$CREWMUX_WORKTREE/half.txt").code, 0);
    // It is killed while git works.
    std::fs::write(git_dir.join("index.lock"), "").expect("a lock");
    let entry = crew.entry("again", "work");
    kill(u32::try_from(entry["pid"].as_u64().expect("a pid")).expect("a pid"), "KILL");
    until("it is started again", || {
        let now = crew.entry("again", "work");
        now["restarts"] == 1 && now["is_active"] == true && now["exit"].is_null()
    });
    assert_eq!(repo.tree("again", "work"), tree);
    assert_eq!(repo.events("again", "worktree_reused").len(), 1);
    let script = "cd $CREWMUX_WORKTREE && cat half.txt && git add -A && git commit -qm work";
    let ran = crew.inside("work", script);
    assert_eq!((ran.code, ran.out.as_str()), (0, "half\n"), "{ran:#?}");

    // All at once, the lead first; then the team is taken down without it.
    let lead = crew.entry("again", "team-lead");
    kill(u32::try_from(lead["pid"].as_u64().expect("a pid")).expect("a pid"), "KILL");
    crew.ok(&["up", "--resume", "again"]);
    assert_eq!(repo.tree("again", "work"), tree);
    let down = crew.run(&["down", "--force"]);
    assert!(down.err.contains("1 commit"), "{down:#?}");
    assert!(Path::new(tree["path"].as_str().expect("a path")).join("half.txt").exists());
}

#[test]
fn f51_setup_runs_once_in_a_fresh_tree_and_its_failure_undoes_the_member() {
    let repo = Repo::new();
    let crew = &repo.crew;
    crew.script(
        "setup.sh",
        "#!/bin/sh\necho \"in $PWD for $CREWMUX_MEMBER on $CREWMUX_BRANCH\"\necho run >>$HOME/runs\n",
    );
    let hand = repo.hand("one", "setup = [\"./setup.sh\"]\n");
    crew.up(&format!("v = 1\nname = \"set\"\n[limits]\nworktree = \"30s\"\n{hand}"));
    let cwd = repo.tree("set", "one")["cwd"].as_str().expect("a path").to_owned();
    let log = std::fs::read_to_string(crew.member("set", "one").join("setup.log")).expect("its output");
    assert_eq!(log, format!("in {cwd} for one on crewmux/set/one\n"));
    crew.ok(&["restart", "one"]);
    assert_eq!(crew.read("runs"), "run\n", "once");
    crew.ok(&["down"]);

    crew.script("setup.sh", "#!/bin/sh\ntouch left\nsleep 1000 &\necho no such package\nexit 3\n");
    let ran = crew.fails(1, &["up", "spec.toml"]);
    for said in ["`one` did not start", "code 3", "no such package"] {
        assert!(ran.err.contains(said), "{said}: {ran:#?}");
    }
    assert_eq!(repo.branches(), "");
    assert!(repo.worktrees().is_empty());
    assert!(with_environment("CREWMUX_HOME", crew.home().to_str().expect("text")).is_empty(), "nothing of it runs on");

    // One that takes too long is ended with all that it started.
    crew.script("setup.sh", "#!/bin/sh\nsleep 1000 &\nsleep 1000\n");
    crew.write("spec.toml", &format!("v = 1\nname = \"set\"\n[limits]\nworktree = \"2s\"\n{hand}"));
    let ran = crew.fails(1, &["up", "spec.toml"]);
    assert!(ran.err.contains("did not end within"), "{ran:#?}");
    assert_eq!(repo.branches(), "");
    assert!(with_environment("CREWMUX_HOME", crew.home().to_str().expect("text")).is_empty(), "nothing of it runs on");
}

#[test]
fn a_shutdown_does_not_wait_for_a_setup_and_the_others_work_on_meanwhile() {
    let repo = Repo::new();
    let crew = &repo.crew;
    crew.script("setup.sh", "#!/bin/sh\ntouch $HOME/began\nsleep 1000\n");
    crew.up("name = \"busy\"\n[[member]]\nname = \"b\"\n");
    let spec = crew.write("one.toml", &format!("name = \"one\"\n{}", repo.hand("slow", "setup = [\"./setup.sh\"]\n")));
    let mut up = crew.command(&["up", spec.to_str().expect("a plain path")]).spawn().expect("it starts");
    until("the setup runs", || crew.dir().join("began").exists());
    assert!(crew.json(&["status", "--team", "one"])["lead"]["alive"].as_bool().is_some_and(|alive| alive));
    kill(up.id(), "INT");
    assert_eq!(up.wait().expect("it ends").code(), Some(130));
    assert_eq!(repo.branches(), "");
    assert!(repo.worktrees().is_empty());
    assert!(!crew.team("one").exists());
}

#[test]
fn f51_what_is_not_committed_is_said_not_to_be_in_the_trees() {
    let repo = Repo::new();
    let crew = &repo.crew;
    crew.write("repo/a.txt", "changed\n");
    let spec = crew.write("dirty.toml", &format!("name = \"dirty\"\n{}", repo.hand("one", "")));
    let ran = crew.run(&["up", spec.to_str().expect("a plain path")]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert!(ran.err.contains("1 changed or new file"), "{ran:#?}");
    assert_eq!(crew.inside("one", "cat $CREWMUX_WORKTREE/a.txt").out, "one\n");
}

#[test]
fn a_child_s_tree_is_made_by_the_teammate_and_answered_through_the_outbox() {
    use crewmux::act::{Client, Verb};
    use crewmux::model::name::Name;
    let repo = Repo::new();
    let crew = &repo.crew;
    crew.up(&format!("v = 1\nname = \"kids\"\n{}", repo.hand("work", "")));
    let name = |text: &str| Name::parse(text).expect("a name");
    let home = crewmux::store::Home::at(crew.home());
    let mut client = Client::open(&home, &name("kids"), Some(&name("work"))).expect("a client");
    let add = |agent: &str| Verb::WorktreeAdd { agent: agent.to_owned() };
    let remove = |discard| Verb::WorktreeRemove { agent: "agent-1a2b3c4d".to_owned(), discard };
    let made = client.perform(add("agent-1a2b3c4d")).expect("a tree").value;
    assert_eq!(made["branch"], "crewmux/kids/work-agent-1a2b3c4d", "{made}");
    let path = PathBuf::from(made["path"].as_str().expect("a path"));
    assert_eq!(made["cwd"].as_str().map(Path::new), Some(path.join("sub").as_path()));
    assert_eq!(path.parent(), Path::new(repo.tree("kids", "work")["path"].as_str().expect("a path")).parent());
    assert_eq!(client.perform(add("agent-1a2b3c4d")).expect("the same").value["reused"], true);
    assert_eq!(client.perform(add("../x")).expect_err("no name").code, 2);
    std::fs::write(path.join("new.txt"), "x").expect("a file");
    let kept = client.perform(remove(false)).expect("an answer").value;
    assert_eq!((kept["removed"].as_bool(), kept["why"].as_str()), (Some(false), Some("1 changed file")), "{kept}");
    assert!(crew.ok(&["worktree", "diff", "work/agent-1a2b3c4d"]).contains("new.txt"));
    assert_eq!(client.perform(remove(true)).expect("an answer").value["removed"], true);
    assert!(!path.exists());
    assert_eq!(client.perform(remove(true)).expect_err("it is gone").code, 3);
    // The operator has no children.
    let mut operator = Client::open(&home, &name("kids"), None).expect("a client");
    assert_eq!(operator.perform(add("agent-1a2b3c4d")).expect_err("not the operator's").code, 4);
    // A child that its parent left without work goes with the team.
    client.perform(add("agent-00000000")).expect("a tree");
    crew.ok(&["down"]);
    assert_eq!(repo.branches(), "");
}

#[test]
fn a_member_s_hook_commits_in_its_tree_and_touches_nothing_else() {
    let repo = Repo::new();
    let crew = &repo.crew;
    crew.script(
        "commit.sh",
        "#!/bin/sh\ncd \"$CREWMUX_WORKTREE\" && echo x >by-hook && git add by-hook && git commit -q -m 'by the hook' || exit 1\n\
         echo x >\"$HOME/repo/a.txt\"\nexit 0\n",
    );
    crew.script("gone.sh", "#!/bin/sh\ntouch \"$TMPDIR/x\" \"$CREWMUX_SCRATCH/gone\"\n");
    crew.up("v = 1\nname = \"hk\"\n[[member]]\nname = \"w\"\ncwd = \"repo\"\nisolation = \"worktree\"\n\
         [[task]]\nsubject = \"s\"\nrun = [\"true\"]\n\
         [hooks]\ntask_completed = [\"./commit.sh\"]\nmember_exited = [\"./gone.sh\"]\n");
    crew.ok(&["wait", "--for", "task:1=completed", "--timeout", "60s"]);
    assert_eq!(repo.git(&["log", "-1", "--format=%s", "crewmux/hk/w"]), "by the hook\n");
    if crewmux::sandbox::support().files {
        assert_eq!(crew.read("repo/a.txt"), "one\n", "the repository's own tree is closed to it");
    } else {
        eprintln!("skipped the sandbox of a_member_s_hook_commits_in_its_tree_and_touches_nothing_else");
    }
    crew.ok(&["shutdown", "w"]);
    until("it is kept", || repo.events("hk", "worktree_kept").len() == 1);
    until("the last hook has run", || crew.team("hk").join("scratch/gone").exists());
    let failed = repo.events("hk", "hook_failed");
    assert!(failed.is_empty(), "{failed:?}");
}

#[test]
fn gc_removes_an_unchanged_tree_without_a_team_and_keeps_a_changed_one() {
    let repo = Repo::new();
    let crew = &repo.crew;
    crew.up(&format!("v = 1\nname = \"iso\"\n{}{}", repo.hand("one", ""), repo.hand("two", "")));
    assert_eq!(crew.inside("two", "echo mine >$CREWMUX_WORKTREE/new.txt").code, 0);
    let [one, two] = ["one", "two"].map(|m| PathBuf::from(repo.tree("iso", m)["path"].as_str().expect("a path")));
    let trees = || -> Vec<Value> {
        let found = crew.json(&["gc"]);
        found.as_array().expect("a list").iter().filter(|item| item["kind"] == "worktree").cloned().collect()
    };
    assert!(trees().is_empty(), "a living team's trees are none of its business");
    for pid in crew.processes() {
        let _ = Command::new("kill").args(["-KILL", &pid.to_string()]).output();
    }
    until("all are gone", || crew.processes().is_empty());
    assert!(trees().is_empty(), "those of a dead team in its place go with it");
    // Somebody removed the team's files by hand.
    std::fs::remove_dir_all(crew.team("iso")).expect("removed");
    let listed = trees();
    let stays = |tree: &Path| {
        let item = listed.iter().find(|item| item["path"] == tree.to_str().expect("plain")).expect("it is listed");
        item["stays"].as_str().map(str::to_owned)
    };
    assert_eq!(stays(&one), None, "{listed:?}");
    assert!(stays(&two).is_some_and(|why| why.contains("1 changed file") && why.contains("worktree")), "{listed:?}");
    assert!(one.exists());
    crew.ok(&["gc", "--yes"]);
    assert!(!one.exists() && two.join("new.txt").exists());
    assert_eq!(repo.branches(), "crewmux/iso/two\n");
    // What it cannot read it names, and touches nothing.
    let record = std::fs::read_dir(two.ancestors().nth(2).expect("a folder").join(".trees"))
        .expect("records")
        .flatten()
        .map(|e| e.path())
        .find(|p| p.extension().is_some_and(|e| e == "json"));
    let record = record.expect("a record");
    let text = std::fs::read_to_string(&record).expect("text").replacen("\"v\":1", "\"v\":2", 1);
    std::fs::write(&record, &text).expect("written");
    assert!(trees()[0]["stays"].as_str().is_some_and(|why| why.contains("newer")), "{:?}", trees());
    crew.ok(&["gc", "--yes"]);
    assert!(crew.run(&["doctor"]).out.contains("work trees"), "{:?}", crew.run(&["doctor"]));
    assert_eq!(std::fs::read_to_string(&record).expect("there"), text);
    assert!(two.join("new.txt").exists());
}

#[test]
fn gc_takes_no_tree_from_who_lives_where_the_roster_is_damaged_or_too_new() {
    let repo = Repo::new();
    let crew = &repo.crew;
    crew.up(&format!("v = 1\nname = \"t\"\n{}", repo.hand("work", "")));
    let tree = PathBuf::from(repo.tree("t", "work")["path"].as_str().expect("a path"));
    let (lead, member) = (crew.pid_of("t", "team-lead"), crew.pid_of("t", "work"));
    let server: u32 = crew.tmux("t", &["display-message", "-p", "#{pid}"]).trim().parse().expect("a pid");
    kill(lead, "KILL");
    until("no lead", || crew.json(&["status", "--team", "t"])["lead"]["alive"] == false);
    let file = crew.team("t").join("team.json");
    let roster = std::fs::read(&file).expect("a roster");

    for (text, why) in [("{\"v\":9,\"members\":{}}", "newer"), ("{\"v\":1,", "down --force")] {
        std::fs::write(&file, text).expect("written");
        let found = crew.json(&["gc", "--yes"]);
        let all = found.as_array().expect("a list");
        assert!(all.len() == 1 && all[0]["kind"] == "team" && all[0]["removed"] == false, "{found}");
        assert!(all[0]["stays"].as_str().is_some_and(|stays| stays.contains(why)), "{found}");
        assert!(tree.join("a.txt").exists() && lives(member), "{text}");
        let listed = crew.json(&["worktree", "list"]);
        assert_eq!(listed[0]["alive"], true, "{listed}");
        crew.fails(7, &["worktree", "rm", "work"]);
    }
    // Nobody is told that it is down while a member lives, and none of its name is launched beside it.
    let down = crew.fails(6, &["down", "--team", "t"]);
    assert!(down.err.contains("members live: work") && down.err.contains("--force"), "{down:?}");
    let up = crew.fails(7, &["up", "spec.toml"]);
    assert!(up.err.contains("members live: work") && up.err.contains("down --team t --force"), "{up:?}");
    let resume = crew.fails(1, &["up", "--resume", "t"]);
    assert!(resume.err.contains("team.json") && resume.err.contains("down --force --team t"), "{resume:?}");
    // A copy of the roster makes all well.
    std::fs::write(&file, &roster).expect("written");
    crew.ok(&["up", "--resume", "t"]);
    assert_eq!(crew.pid_of("t", "work"), member);

    kill(crew.pid_of("t", "team-lead"), "KILL");
    until("no lead", || crew.json(&["status", "--team", "t"])["lead"]["alive"] == false);
    std::fs::write(&file, "{\"v\":1,").expect("written");
    crew.ok(&["down", "--force", "--team", "t"]);
    assert!(!lives(member) && !lives(server));
    assert_eq!(crew.processes(), [0; 0]);
    crew.ok(&["gc", "--yes"]);
    assert!(!tree.exists());
    assert_eq!(repo.branches(), "");
}

#[test]
fn gc_takes_no_tree_from_the_child_of_an_agent_outside_any_team() {
    let repo = Repo::new();
    let crew = &repo.crew;
    let script =
        "echo begun >\"$GO\"; while [ ! -e \"$GO.on\" ]; do sleep 0.05; done; echo mine >>a.txt; git commit -qam mine";
    let server = ModelServer::new(move |_, body| {
        let main = body["system"].to_string().contains("You are a coding agent");
        Answer::Reply(match (main, results(body).is_empty()) {
            (true, true) => calls(&[(
                "t",
                "Agent",
                json!({ "description": "change it", "prompt": "Change it.", "isolation": "worktree" }),
            )]),
            (true, false) => says("well"),
            (false, true) => calls(&[("b", "Bash", json!({ "command": script }))]),
            (false, false) => says("done"),
        })
    });
    let begin = || {
        let mut command = crew.command(&["agent", "-p", "go", "--mode", "bypass", "--set", "fork=false"]);
        command.env("ANTHROPIC_BASE_URL", &server.url).env("ANTHROPIC_API_KEY", "sk-of-a-test");
        command.env("GO", crew.dir().join("go")).current_dir(repo.path());
        let agent = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program starts");
        crew.awaits("go");
        agent
    };
    let mut agent = begin();
    let row = &crew.json(&["worktree", "list"])[0];
    let tree = PathBuf::from(row["path"].as_str().expect("a path"));
    let word = row["name"].as_str().expect("a name");
    assert_eq!((&row["state"], &row["alive"]), (&json!("unchanged"), &json!(true)), "{row}");
    assert_eq!(crew.json(&["gc", "--yes"]), json!([]));
    let refused = crew.fails(7, &["worktree", "rm", "--discard", word]);
    assert!(refused.err.contains(&format!("process {}", agent.id())), "{refused:?}");
    assert!(tree.join("a.txt").exists());

    // What it goes on to do is there afterwards.
    crew.write("go.on", "");
    assert!(agent.wait().expect("it ends").success());
    assert_eq!(std::fs::read_to_string(tree.join("a.txt")).expect("a file"), "one\nmine\n");
    assert_eq!(crew.json(&["gc", "--yes"])[0]["removed"], false);
    crew.ok(&["worktree", "rm", "--discard", word]);

    // Of an agent that was killed it goes with the next look.
    for file in ["go", "go.on"] {
        std::fs::remove_file(crew.dir().join(file)).expect("removed");
    }
    let mut agent = begin();
    agent.kill().expect("killed");
    agent.wait().expect("it ends");
    assert_eq!(crew.json(&["gc", "--yes"])[0]["removed"], true);
    crew.write("go.on", "");
    let left = std::fs::read_dir(crew.home().join("worktrees")).expect("a folder").flatten();
    assert_eq!(left.map(|e| e.file_name()).filter(|name| name != ".locks").collect::<Vec<_>>(), [""; 0]);
}
