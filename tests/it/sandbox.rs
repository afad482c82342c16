//! What confined programs may do, on the real program: plan mode, the workspace, the team's files, kernels without.

use std::fs;
use std::os::unix::process::CommandExt;

use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};

use crate::support::{Crew, Ran, until};

/// Tries one thing after the other and says of each whether it was `done` or `refused`.
const ATTEMPTS: &str = r#"
try() {
    name=$1
    shift
    if sh -c "$1" >>"$TMPDIR/said" 2>&1; then echo "$name: done"; else echo "$name: refused"; fi
}
home=$CREWMUX_HOME/teams/$CREWMUX_TEAM
socket=$(sed -n 's/.*"socket": *"\([^"]*\)".*/\1/p' "$home/team.json" | head -n 1)
teammate=$(sed 's/.*"pid":\([0-9]*\).*/\1/' "$home/members/$CREWMUX_MEMBER/state/lease")
export home socket teammate
try "a look at the socket" '[ -S "$socket" ] && [ -d "/proc/$teammate" ]'
try "a new file" 'echo x >../repo/new'
try "an old file" 'echo x >../repo/file'
try "more of it" 'echo x >>../repo/file'
try "cut" ': >../repo/file'
try "removed" 'rm ../repo/file'
try "renamed" 'mv ../repo/file ../repo/moved'
try "a second name" 'ln ../repo/file "$TMPDIR/hard" && echo x >"$TMPDIR/hard"'
try "a link to it" 'ln -s "$PWD/../repo/file" "$TMPDIR/soft" && echo x >"$TMPDIR/soft"'
try "a folder" 'mkdir ../repo/folder'
try "its mode" 'chmod 777 ../repo/file'
try "its time" 'touch ../repo/file'
try "in home" 'echo x >"$HOME/new"'
try "in /tmp" 'echo x >"/tmp/crewmux-sandbox-test.$$"'
try "another mailbox" 'echo "{}" >>"$home/members/peer/mail/inbox.jsonl"'
try "another outbox" 'echo "{}" >>"$home/members/peer/mail/outbox.jsonl"'
try "the lead" 'echo "{}" >>"$home/members/team-lead/mail/control.jsonl"'
try "own mail" 'echo "{}" >>"$home/members/$CREWMUX_MEMBER/mail/control.jsonl"'
try "own cursor" 'echo x >"$home/members/$CREWMUX_MEMBER/state/cursors.json"'
try "the roster" 'echo x >"$home/team.json"'
try "the ledger" 'echo x >>"$home/requests.jsonl"'
try "the tmux socket" 'tmux -S "$socket" new-window "echo x >../repo/new"'
try "a signal" 'kill -CONT "$teammate"'
try "memory" 'exec 3<>"/proc/$teammate/mem"'
try "another terminal" 'for t in /dev/pts/[0-9]*; do [ "$t" = "$(tty)" ] || { echo x >"$t" && exit 0; }; done; exit 1'
try "own folder" 'echo x >new'
try "scratch" 'echo x >"$CREWMUX_SCRATCH/$CREWMUX_MEMBER"'
try "a passing file" 'f=$(mktemp) && echo x >"$f" && rm "$f"'
try "the null device" 'echo x >/dev/null'
try "a message" 'crewmux send lead hello'
"#;

const NEVER: [&str; 23] = [
    "a new file",
    "an old file",
    "more of it",
    "cut",
    "removed",
    "renamed",
    "a second name",
    "a link to it",
    "a folder",
    "its mode",
    "its time",
    "in home",
    "in /tmp",
    "another mailbox",
    "another outbox",
    "the lead",
    "own mail",
    "own cursor",
    "the roster",
    "the ledger",
    "the tmux socket",
    "memory",
    "another terminal",
];
const ALWAYS: [&str; 4] = ["a look at the socket", "a passing file", "the null device", "a message"];
/// Modes and times of one's own files can be set from a workspace everywhere: builds do both, and the kernel's rules do
/// not know them.
const METADATA: [&str; 2] = ["its mode", "its time"];

/// Kernels before Linux 6.12 do not keep signals apart.
fn check_signal(said: &str) {
    if crewmux::sandbox::support().signals {
        check(said, &["a signal"], &[]);
    } else {
        eprintln!("skipped the signal: {}", crewmux::sandbox::support().words());
    }
}

/// Says that a test is not run, where the kernel cannot confine.
fn kernel_cannot(test: &str) -> bool {
    let support = crewmux::sandbox::support();
    if !support.files {
        eprintln!("skipped {test}: {}", support.words());
    }
    !support.files
}

/// A team whose folder holds a `box` for the member and a `repo` that is not its own.
fn crew() -> Crew {
    let crew = Crew::new();
    crew.write("repo/file", "before\n");
    crew.write("box/keep", "");
    crew.script("attempts.sh", &format!("#!/bin/sh\n{ATTEMPTS}"));
    crew
}

fn peer() -> &'static str {
    "[[member]]\nname = \"peer\"\nengine = \"command\"\ncommand = [\"sleep\", \"1000\"]\n"
}

/// What an attempt came to, by the last that was printed of it.
fn outcome<'a>(said: &'a str, attempt: &str) -> Option<&'a str> {
    said.lines().rev().find_map(|line| line.trim_end().strip_prefix(attempt)?.strip_prefix(": "))
}

fn check(said: &str, refused: &[&str], done: &[&str]) {
    for (attempts, expected) in [(refused, "refused"), (done, "done")] {
        for attempt in attempts {
            assert_eq!(outcome(said, attempt), Some(expected), "{attempt}\n{said}");
        }
    }
}

fn untouched(crew: &Crew) {
    assert_eq!(crew.read("repo/file"), "before\n");
    let names: Vec<_> = fs::read_dir(crew.dir().join("repo")).expect("a folder").flatten().collect();
    assert_eq!(names.len(), 1, "{names:?}");
    assert!(!crew.dir().join("new").exists());
}

#[test]
fn f44_plan_mode_writes_nothing_and_the_execution_does() {
    if kernel_cannot("f44_plan_mode_writes_nothing_and_the_execution_does") {
        return;
    }
    let crew = crew();
    crew.script(
        "plan.sh",
        "#!/bin/sh\nsh ../attempts.sh\necho tried; echo x >/dev/tty && echo own terminal\n\
         echo 'do it' | crewmux plan submit - --wait\n",
    );
    crew.script("go.sh", "#!/bin/sh\nsh ../attempts.sh\necho executed\nexec sleep 1000\n");
    crew.up(&format!(
        "v = 1\nname = \"t\"\n{}[[member]]\nname = \"maker\"\nengine = \"command\"\ncommand = [\"./plan.sh\"]\n\
         execute = [\"./go.sh\"]\nplan_mode_required = true\nsandbox = \"workspace-write\"\ncwd = \"box\"\n",
        peer()
    ));
    let log = || fs::read_to_string(crew.member("t", "maker").join("output.log")).unwrap_or_default();
    until("the plan is open", || crew.json(&["requests"])[0]["kind"] == "plan");
    let said = log();
    check(&said, &NEVER, &ALWAYS);
    check_signal(&said);
    check(&said, &["own folder", "scratch"], &[]);
    assert!(said.contains("own terminal"), "{said}");
    untouched(&crew);
    assert_eq!(crew.entry("t", "maker")["sandbox"], "read-only");
    assert_eq!(crew.status("t", "maker")["unconfined"], false);
    assert_eq!(
        (&crew.entry("t", "peer")["sandbox"], &crew.status("t", "peer")["unconfined"]),
        (&"off".into(), &true.into())
    );
    assert!(crew.ok(&["status"]).contains("unconfined: peer"));
    let heard = crew.json(&["inbox", "--member", "lead", "--all"]);
    assert_eq!((&heard["from"], &heard["verified"]), (&"maker@t".into(), &true.into()), "{heard}");

    let id = crew.json(&["requests"])[0]["id"].as_str().expect("an id").to_owned();
    crew.ok(&["approve", &id]);
    until("the execution is through", || log().contains("executed"));
    let said = log();
    let said = said.rsplit("tried").next().unwrap_or_default();
    let kept: Vec<&str> = NEVER.into_iter().filter(|a| !METADATA.contains(a)).collect();
    check(said, &kept, &ALWAYS);
    check(said, &[], &["own folder", "scratch"]);
    untouched(&crew);
    assert_eq!(crew.entry("t", "maker")["sandbox"], "workspace-write");
}

#[test]
fn f44_after_the_approval_a_member_without_a_sandbox_is_free() {
    if kernel_cannot("f44_after_the_approval_a_member_without_a_sandbox_is_free") {
        return;
    }
    let crew = crew();
    crew.script("plan.sh", "#!/bin/sh\necho x >early\necho 'do it' | crewmux plan submit - --wait\n");
    crew.up("v = 1\nname = \"t\"\n[[member]]\nname = \"maker\"\nengine = \"command\"\ncommand = [\"./plan.sh\"]\n\
         execute = [\"sh\", \"-c\", \"echo done >late; exec sleep 1000\"]\nplan_mode_required = true\n");
    until("the plan is open", || crew.json(&["requests"])[0]["kind"] == "plan");
    assert!(!crew.dir().join("early").exists());
    assert_eq!(crew.entry("t", "maker")["sandbox"], "read-only");
    let id = crew.json(&["requests"])[0]["id"].as_str().expect("an id").to_owned();
    crew.ok(&["approve", &id]);
    assert_eq!(crew.awaits("late"), "done\n");
    assert_eq!(crew.entry("t", "maker")["sandbox"], "off");
    assert_eq!(crew.status("t", "maker")["unconfined"], true);
}

#[test]
fn f11_a_confined_task_writes_no_file_of_others() {
    if kernel_cannot("f11_a_confined_task_writes_no_file_of_others") {
        return;
    }
    let crew = crew();
    crew.up(&format!(
        "v = 1\nname = \"t\"\n{}[[member]]\nname = \"hand\"\ncwd = \"box\"\n\
         [[task]]\nsubject = \"try\"\nrun = [\"./attempts.sh\"]\n",
        peer()
    ));
    crew.ok(&["wait", "--for", "task:1=completed", "--timeout", "60s"]);
    let said = fs::read_to_string(crew.member("t", "hand").join("output.log")).expect("an output");
    let kept: Vec<&str> = NEVER.into_iter().filter(|a| !METADATA.contains(a)).collect();
    check(&said, &kept, &ALWAYS);
    check_signal(&said);
    check(&said, &[], &["own folder", "scratch"]);
    untouched(&crew);
    // What it left in its own folder for passing files goes with the life.
    assert!(crew.member("t", "hand").join("tmp/said").exists());
    crew.ok(&["shutdown", "hand"]);
    assert!(!crew.member("t", "hand").join("tmp").exists());
}

/// A commit in a work tree writes to the repository; hooks and configuration stay closed.
#[test]
fn a_commit_works_from_inside_a_work_tree() {
    if kernel_cannot("a_commit_works_from_inside_a_work_tree") {
        return;
    }
    let crew = crew();
    let git = |args: &[&str]| {
        let ran = std::process::Command::new("git")
            .args(["-c", "user.name=n", "-c", "user.email=e@example.org"])
            .args(args)
            .current_dir(crew.dir().join("repo"))
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .output()
            .expect("git runs");
        assert!(ran.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&ran.stderr));
        String::from_utf8_lossy(&ran.stdout).trim().to_owned()
    };
    git(&["init", "-q", "-b", "main"]);
    git(&["add", "."]);
    git(&["commit", "-q", "-m", "first"]);
    crew.script(
        "work.sh",
        r#"#!/bin/sh
set -e
export GIT_AUTHOR_NAME=n GIT_AUTHOR_EMAIL=e GIT_COMMITTER_NAME=n GIT_COMMITTER_EMAIL=e
common=$(git rev-parse --path-format=absolute --git-common-dir)
echo changed >file
git commit -q -a -m second
git commit -q --amend -m again
git rebase -q --force-rebase HEAD~1
git status --short
for place in hooks/pre-commit config info/exclude packed-refs refs/heads/main; do
    if sh -c "echo x >>'$common/$place'" 2>/dev/null; then echo "$place was written"; exit 1; fi
done
! git branch -f main HEAD 2>/dev/null
! git config user.name other 2>/dev/null
"#,
    );
    crew.up("v = 1\nname = \"t\"\n[[member]]\nname = \"hand\"\ncwd = \"repo\"\nisolation = \"worktree\"\n\
         [[task]]\nsubject = \"s\"\nrun = [\"./work.sh\"]\n");
    crew.ok(&["wait", "--for", "task:1=completed", "--timeout", "60s"]);
    assert_eq!(git(&["log", "--format=%s", "crewmux/t/hand"]), "again\nfirst");
    assert_eq!(git(&["log", "--format=%s", "main"]), "first");
    // Git packs branches away, and the folder that was open goes with them.
    git(&["pack-refs", "--all"]);
    let next = crew.script("next.sh", "#!/bin/sh\nGIT_AUTHOR_NAME=n GIT_AUTHOR_EMAIL=e GIT_COMMITTER_NAME=n \\\nGIT_COMMITTER_EMAIL=e git commit -q --allow-empty -m third\n");
    crew.ok(&["task", "add", "more", "--", next.to_str().expect("a path")]);
    crew.ok(&["wait", "--for", "task:2=completed", "--timeout", "60s"]);
    assert_eq!(git(&["log", "--format=%s", "crewmux/t/hand"]), "third\nagain\nfirst");
}

/// Everything that a member can say, said by a program that may write nothing.
#[test]
fn every_verb_works_from_inside() {
    if kernel_cannot("every_verb_works_from_inside") {
        return;
    }
    let crew = crew();
    crew.script(
        "talk.sh",
        r#"#!/bin/sh
say() { crewmux "$@" >"$TMPDIR/out" 2>"$TMPDIR/err" && echo "$*: ok" || { echo "$*: failed"; cat "$TMPDIR/err"; }; }
say ready
say status
say ls
say requests
say events
say logs peer
say doctor
say inbox
say inbox --ack
say send peer hello
head -c 3000000 /dev/zero | tr '\0' x >"$TMPDIR/big"
say send peer --file "$TMPDIR/big"
say task add one
say task claim 1
say task done 1
say task list
say task show 1
say wait --for task:1=completed --timeout 10s
echo plan | say plan submit -
echo all said
exec sleep 1000
"#,
    );
    crew.up(&format!(
        "v = 1\nname = \"t\"\n{}[[member]]\nname = \"talker\"\nengine = \"command\"\ncommand = [\"./talk.sh\"]\n\
         sandbox = \"read-only\"\ncwd = \"box\"\n",
        peer()
    ));
    let log = || fs::read_to_string(crew.member("t", "talker").join("output.log")).unwrap_or_default();
    until("all was said", || log().contains("all said"));
    assert!(!log().contains(": failed"), "{}", log());
    assert_eq!(log().matches(": ok").count(), 18, "{}", log());
    let blob = fs::read_dir(crew.team("t").join("blobs")).expect("a folder").flatten().next().expect("a blob");
    assert_eq!(blob.metadata().expect("a file").len(), 3_000_000);
    assert_eq!(crew.json(&["requests"])[0]["kind"], "plan");
}

#[test]
fn state_dirs_are_writable_and_shown() {
    if kernel_cannot("state_dirs_are_writable_and_shown") {
        return;
    }
    let crew = crew();
    crew.write("tool/state", "");
    crew.up(
        "v = 1\nname = \"t\"\n[[member]]\nname = \"hand\"\ncwd = \"box\"\nstate_dirs = [\"~/tool\"]\nnetwork = \"off\"\n\
         [[task]]\nsubject = \"s\"\nrun = [\"sh\", \"-c\", \"echo x >../tool/new && ! echo x >../new\"]\n",
    );
    crew.ok(&["wait", "--for", "task:1=completed", "--timeout", "60s"]);
    assert_eq!(crew.read("tool/new"), "x\n");
    let tool = crew.dir().join("tool").canonicalize().expect("a folder").display().to_string();
    assert_eq!(crew.status("t", "hand")["state_dirs"][0], tool.as_str());
    assert!(crew.ok(&["status"]).contains(&format!("hand also writes: {tool}")));
    let missing =
        crew.write("bad.toml", "v = 1\nname = \"u\"\n[[member]]\nname = \"a\"\nstate_dirs = [\"~/nowhere\"]\n");
    let refused = crew.fails(2, &["up", missing.to_str().expect("a path")]);
    assert!(refused.err.contains("is not there"), "{}", refused.err);
    assert!(!crew.dir().join("nowhere").exists());
}

#[test]
fn a_program_that_is_not_there_is_named_from_inside() {
    if kernel_cannot("a_program_that_is_not_there_is_named_from_inside") {
        return;
    }
    let crew = crew();
    let gone = crew.script("gone.sh", "#!/bin/sh\n");
    crew.up("v = 1\nname = \"t\"\n");
    let argv = gone.to_str().expect("a path").to_owned();
    let spawn = ["spawn", "late", "--sandbox", "read-only", "--", "/nowhere/else"];
    crew.fails(2, &spawn);
    let interpreter = crew.script("bad.sh", "#!/nowhere/interpreter\n");
    let ran = crew.fails(1, &["spawn", "late", "--sandbox", "read-only", "--", interpreter.to_str().expect("a path")]);
    assert!(ran.err.contains("No such file"), "{}", ran.err);
    crew.ok(&["spawn", "fine", "--sandbox", "workspace-write", "--restart", "never", "--", "sleep", "1000"]);
    assert_eq!(crew.entry("t", "fine")["sandbox"], "workspace-write");
    drop(argv);
}

const WITHOUT: &str = "CREWMUX_TEST_WITHOUT_LANDLOCK";

/// Runs crewmux as on a kernel without Landlock: a filter answers its calls with ENOSYS. Everything that it starts, the
/// tmux server and so the whole team, inherits that.
fn without_landlock(crew: &Crew, test: &str, args: &[&str]) -> Ran {
    let like = crew.command(args);
    let mut command = std::process::Command::new(std::env::current_exe().expect("this binary"));
    command.args(["--exact", &format!("sandbox::{test}"), "--nocapture", "--test-threads=1"]).env_clear();
    command.envs(like.get_envs().filter_map(|(name, value)| Some((name, value?)))).current_dir(crew.dir());
    command.env(WITHOUT, args.join("\n")).stdin(std::process::Stdio::null());
    Ran::from(command.output().expect("it starts"))
}

/// In the process that [`without_landlock`] starts: becomes crewmux.
fn become_one_without_landlock() {
    let Ok(args) = std::env::var(WITHOUT) else { return };
    let rules = [(libc::SYS_landlock_create_ruleset, Vec::new())].into_iter().collect();
    let arch = std::env::consts::ARCH.try_into().expect("a known machine");
    let errno = SeccompAction::Errno(libc::ENOSYS.cast_unsigned());
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, errno, arch).expect("a filter");
    let program: BpfProgram = filter.try_into().expect("a program");
    seccompiler::apply_filter(&program).expect("the kernel takes it");
    let error =
        std::process::Command::new(env!("CARGO_BIN_EXE_crewmux")).args(args.split('\n')).env_remove(WITHOUT).exec();
    panic!("{error}");
}

#[test]
fn a_kernel_without_landlock_is_an_error_and_nothing_is_made() {
    become_one_without_landlock();
    let crew = crew();
    crew.write("t.toml", "v = 1\nname = \"t\"\n[[member]]\nname = \"hand\"\n");
    let ran = without_landlock(&crew, "a_kernel_without_landlock_is_an_error_and_nothing_is_made", &["up", "./t.toml"]);
    assert_eq!(ran.code, 1, "{ran:#?}");
    for part in ["`hand` cannot be confined here", "Landlock", "sandbox_fallback"] {
        assert!(ran.err.contains(part), "{part}: {}", ran.err);
    }
    assert!(!crew.home().join("teams").exists());
    // And where the shim alone would find out.
    let shim = ["sandbox-exec", "--mode", "read-only", "--", "true"];
    let ran = without_landlock(&crew, "a_kernel_without_landlock_is_an_error_and_nothing_is_made", &shim);
    assert_eq!(ran.code, 126, "{ran:#?}");
}

#[test]
fn a_fallback_is_shown_as_unconfined() {
    become_one_without_landlock();
    let crew = crew();
    crew.write(
        "t.toml",
        "v = 1\nname = \"t\"\n[[member]]\nname = \"hand\"\ncwd = \"box\"\nsandbox_fallback = \"off\"\n\
         [[task]]\nsubject = \"s\"\nrun = [\"sh\", \"-c\", \"echo x >../out\"]\n",
    );
    let ran = without_landlock(&crew, "a_fallback_is_shown_as_unconfined", &["up", "./t.toml"]);
    assert_eq!(ran.code, 0, "{ran:#?}\n{}", crew.trouble());
    crew.ok(&["wait", "--for", "task:1=completed", "--timeout", "60s"]);
    assert_eq!(crew.read("out"), "x\n");
    assert_eq!(crew.entry("t", "hand")["sandbox"], "off");
    assert_eq!(crew.status("t", "hand")["unconfined"], true);
}

#[test]
fn who_could_write_the_teams_files_is_told() {
    let crew = crew();
    let spec = crew.write("t.toml", "v = 1\nname = \"t\"\n[[member]]\nname = \"hand\"\nsandbox_fallback = \"off\"\n");
    let ran = crew.run(&["up", spec.to_str().expect("a path")]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert!(ran.err.contains("`hand` may write in"), "{}", ran.err);
}
