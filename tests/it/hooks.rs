//! Hooks of the spec: F52, what they are told, and what their objection does.

use serde_json::Value;

use crate::support::{Crew, kill, lives, until, with_environment};

/// Notes what it is told, then does what the test says: objects, fails or takes its time.
const HOOK: &str = r#"#!/bin/sh
n="$HOME/$CREWMUX_HOOK.$CREWMUX_MEMBER"
cat >"$n.part"; env | grep ^CREWMUX_ >"$n.env"; mv "$n.part" "$n.json"
[ -f "$HOME/sleep.$CREWMUX_HOOK" ] && { sleep 1000 & echo $! >"$n.pid"; sleep 1000; }
[ -f "$HOME/fail.$CREWMUX_HOOK" ] && { echo "out of paper" >&2; exit 3; }
[ -f "$HOME/veto.$CREWMUX_HOOK" ] && { cat "$HOME/veto.$CREWMUX_HOOK" >&2; exit 2; }
exit 0
"#;

fn hooks(crew: &Crew, kinds: &[&str], more: &str) -> String {
    crew.script("hook.sh", HOOK);
    let lines: String = kinds.iter().map(|kind| format!("{kind} = [\"./hook.sh\"]\n")).collect();
    format!("[hooks]\n{lines}{more}")
}

/// What a hook was told, once it was.
fn told(crew: &Crew, hook: &str) -> Value {
    serde_json::from_str(&crew.awaits(&format!("{hook}.json"))).expect("json")
}

fn event(crew: &Crew, team: &str, kind: &str) -> Option<Value> {
    crew.events(team).into_iter().find(|e| e["type"] == kind)
}

fn inbox(crew: &Crew, member: &str) -> Vec<Value> {
    let out = crew.ok(&["inbox", "--all", "--json", "--member", member, "--type", "text"]);
    out.lines().map(|line| serde_json::from_str(line).expect("json")).collect()
}

#[test]
fn f52_every_hook_is_told_what_happened_and_for_whom_it_runs() {
    let crew = Crew::new();
    let all = ["member_idle", "task_created", "task_completed", "member_exited", "request_opened"];
    crew.up(&format!("v = 1\nname = \"told\"\n{}{}", hooks(&crew, &all, ""), crew.puppet("hand")));
    crew.ok(&["task", "add", "first", "--owner", "hand"]);
    let created = told(&crew, "task_created.operator");
    assert_eq!((created["hook"].as_str(), created["team"].as_str()), (Some("task_created"), Some("told")), "{created}");
    assert_eq!((&created["member"], &created["task"]["subject"]), (&"operator".into(), &"first".into()), "{created}");

    assert_eq!(crew.inside("hand", "crewmux task claim 1 && crewmux task done 1 --result fine").code, 0);
    let completed = told(&crew, "task_completed.hand");
    assert_eq!(completed["task"]["result"]["text"].as_str().map(str::trim), Some("fine"), "{completed}");
    let env = crew.read("task_completed.hand.env");
    let entry = crew.entry("told", "hand");
    for (name, value) in [
        ("HOOK", "task_completed".to_owned()),
        ("TEAM", "told".to_owned()),
        ("MEMBER", "hand".to_owned()),
        ("AGENT_ID", "hand@told".to_owned()),
        ("HOME", crew.home().display().to_string()),
        ("SCRATCH", crew.team("told").join("scratch").display().to_string()),
        ("LIFE", entry["life"].as_str().expect("a life").to_owned()),
        ("COLOR", entry["color"].as_str().expect("a colour").to_owned()),
    ] {
        assert!(env.lines().any(|l| l == format!("CREWMUX_{name}={value}")), "CREWMUX_{name}={value} is not in\n{env}");
    }
    assert_eq!(told(&crew, "member_idle.hand")["before"], "busy");

    assert_eq!(crew.inside("hand", "echo plan | crewmux plan submit -").code, 0);
    let opened = told(&crew, "request_opened.hand");
    assert_eq!((&opened["kind"], &opened["request"]["body"]["plan"]), (&"plan".into(), &"plan\n".into()), "{opened}");
    crew.ok(&["stop", "hand"]);
    let exited = told(&crew, "member_exited.hand");
    assert_eq!((&exited["reason"], &exited["life"]), (&"stopped".into(), &entry["life"]), "{exited}");
    // What has a life's mark is ended with it.
    let env = crew.read("member_exited.hand.env");
    assert!(env.contains("CREWMUX_MEMBER=hand\n") && !env.contains("CREWMUX_LIFE="), "{env}");
    assert!(event(&crew, "told", "hook_failed").is_none() && event(&crew, "told", "hook_vetoed").is_none());
}

#[test]
fn a_hook_s_objection_keeps_a_task_off_the_board_or_in_progress() {
    let crew = Crew::new();
    let spec = hooks(&crew, &["task_created", "task_completed"], "");
    crew.up(&format!(
        "v = 1\nname = \"veto\"\n{spec}{}[[member]]\nname = \"worker\"\n\
         [[task]]\nsubject = \"by hand\"\nowner = \"hand\"\n",
        crew.puppet("hand")
    ));
    crew.write("veto.task_created", "say who wants it\n");
    let ran = crew.fails(4, &["task", "add", "anything"]);
    assert!(ran.err.contains("task_created") && ran.err.contains("say who wants it"), "{ran:#?}");
    let ran = crew.inside("hand", "crewmux task add anything");
    assert!(ran.code == 4 && ran.err.contains("say who wants it"), "{ran:#?}");
    assert_eq!(crew.json(&["task", "list"]).as_array().map(Vec::len), Some(1), "nothing was put on the board");
    std::fs::remove_file(crew.dir().join("veto.task_created")).expect("a file");

    crew.write("veto.task_completed", "the tests are red\n");
    let ran = crew.inside("hand", "crewmux task claim 1 && crewmux task done 1");
    assert!(ran.code == 4 && ran.err.contains("the tests are red"), "{ran:#?}");
    assert_eq!(crew.json(&["task", "show", "1"])["status"], "in_progress");
    let mail = inbox(&crew, "hand");
    assert_eq!((mail.len(), mail[0]["body"]["content"].as_str()), (1, Some("the tests are red")), "{mail:?}");
    assert_eq!(mail[0]["from"], "team-lead@veto");
    until("the lead writes it down", || event(&crew, "veto", "hook_vetoed").is_some());
    // A worker has nobody who could do more: its attempt fails with the hook's words.
    crew.ok(&["task", "add", "run it", "--run", "--", "true"]);
    crew.ok(&["wait", "--for", "task:2=failed", "--timeout", "30s"]);
    let error = crew.json(&["task", "show", "2"])["result"]["error"].clone();
    assert!(error.as_str().is_some_and(|e| e.contains("the tests are red")), "{error}");

    std::fs::remove_file(crew.dir().join("veto.task_completed")).expect("a file");
    assert_eq!(crew.inside("hand", "crewmux task done 1").code, 0);
    assert_eq!(crew.json(&["task", "show", "1"])["status"], "completed");
    // What is refused anyway is refused before any hook hears of it.
    std::fs::remove_file(crew.dir().join("task_completed.hand.json")).expect("a file");
    assert_eq!(crew.inside("hand", "crewmux task done 1").code, 7);
    assert!(!crew.dir().join("task_completed.hand.json").exists());
}

#[test]
fn an_objection_rejects_a_request_gives_an_idle_member_work_and_is_mail_about_an_exit() {
    let crew = Crew::new();
    let spec = hooks(&crew, &["member_idle", "member_exited", "request_opened"], "");
    crew.up(&format!("v = 1\nname = \"more\"\n{spec}{}[[task]]\nsubject = \"s\"\n", crew.puppet("hand")));
    crew.write("veto.request_opened", "too vague\n");
    crew.write("veto.member_idle", "now the changelog\n");
    crew.write("veto.member_exited", "it was the last one\n");
    let ran = crew.inside("hand", "echo plan | crewmux plan submit - --wait --json");
    assert_eq!(ran.code, 1, "{ran:#?}");
    assert!(ran.out.contains("too vague"), "{ran:#?}");
    assert_eq!(crew.inside("hand", "crewmux task claim 1 && crewmux task done 1").code, 0);
    let work = |m: &Value| m["body"]["content"] == "now the changelog";
    until("it has work again", || inbox(&crew, "hand").iter().any(work));
    crew.ok(&["stop", "hand"]);
    let about = |m: &Value| m["body"]["content"] == "it was the last one";
    until("the operator reads it", || inbox(&crew, "team-lead").iter().any(about));
}

#[test]
fn a_hook_that_fails_or_hangs_stops_nobody_and_is_ended_whole() {
    let crew = Crew::new();
    let spec = hooks(&crew, &["task_created", "request_opened", "task_completed"], "timeout = \"1s\"\n");
    crew.up(&format!("v = 1\nname = \"hang\"\n{spec}{}[[member]]\nname = \"other\"\n", crew.puppet("hand")));
    crew.write("fail.task_created", "");
    crew.ok(&["task", "add", "first", "--owner", "hand"]);
    until("the failure is told", || event(&crew, "hang", "hook_failed").is_some());
    let failed = event(&crew, "hang", "hook_failed").expect("an event");
    assert!(failed["said"].as_str().is_some_and(|s| s.contains("code 3") && s.contains("out of paper")), "{failed}");

    crew.write("sleep.request_opened", "");
    crew.write("sleep.task_completed", "");
    assert_eq!(crew.inside("hand", "echo plan | crewmux plan submit -").code, 0);
    let pid: u32 = crew.awaits("request_opened.hand.pid").trim().parse().expect("a pid");
    // Meanwhile the lead does its work.
    crew.ok(&["shutdown", "other"]);
    let hung = |hook: &str| {
        let said = |e: &Value| e["said"].as_str().is_some_and(|s| s.contains("did not end within"));
        crew.events("hang").iter().any(|e| e["type"] == "hook_failed" && e["hook"] == hook && said(e))
    };
    until("it is given up", || hung("request_opened"));
    until("what it started is gone", || !lives(pid));
    assert_eq!(crew.inside("hand", "crewmux task claim 1 && crewmux task done 1").code, 0);
    assert_eq!(crew.json(&["task", "show", "1"])["status"], "completed");
    until("that one too", || hung("task_completed"));
    assert!(with_environment("CREWMUX_HOOK", "task_completed").iter().all(|pid| !of(&crew, *pid)));
}

/// Whether a process belongs to this test.
fn of(crew: &Crew, pid: u32) -> bool {
    let wanted = format!("CREWMUX_HOME={}", crew.home().display());
    std::fs::read(format!("/proc/{pid}/environ")).is_ok_and(|e| e.split(|b| *b == 0).any(|v| v == wanted.as_bytes()))
}

#[test]
fn a_hook_holds_up_neither_a_shutdown_nor_the_end_of_its_member() {
    let crew = Crew::new();
    let spec = hooks(&crew, &["task_completed"], "");
    crew.up(&format!("v = 1\nname = \"slow\"\n{spec}{}[[task]]\nsubject = \"s\"\n", crew.puppet("hand")));
    crew.write("sleep.task_completed", "");
    crew.order("hand", "crewmux task claim 1 && crewmux task done 1");
    let pid: u32 = crew.awaits("task_completed.hand.pid").trim().parse().expect("a pid");
    crew.ok(&["stop", "hand"]);
    until("its hook went with it", || !lives(pid));
    assert_eq!(crew.json(&["task", "show", "1"])["status"], "pending");
}

#[test]
fn a_mistake_in_hooks_is_shown() {
    let crew = Crew::new();
    for (text, said) in [
        ("[hooks]\ntask_complete = [\"true\"]\n", "task_completed"),
        ("[hooks]\ntask_completed = \"true\"\n", "task_completed"),
        ("[hooks]\nmember_idle = [\"./nothing-here\"]\n", "does not exist"),
        ("[hooks]\ntimeout = \"0s\"\n", "timeout"),
    ] {
        let spec = crew.write("bad.toml", &format!("name = \"bad\"\n{text}"));
        let ran = crew.fails(2, &["up", spec.to_str().expect("a plain path")]);
        assert!(ran.err.contains(said), "{text}: {ran:#?}");
    }
}

/// Tries where it can write, and objects with what it found.
const REACH: &str = r#"#!/bin/sh
try() { if sh -c "$2" >/dev/null 2>&1; then echo "$1: done"; else echo "$1: refused"; fi >&2; }
try "the member's folder" 'echo x >box/by-hook'
try "outside" 'echo x >by-hook'
try "a log" 'echo x >>logs/log'
try "a passing file" 'f=$(mktemp) && [ "${f%/*}" = "$TMPDIR" ] && rm "$f"'
try "a message" 'crewmux send lead hello'
try "another mailbox" 'echo "{}" >>"$CREWMUX_HOME/teams/$CREWMUX_TEAM/members/team-lead/mail/control.jsonl"'
exit 2
"#;

/// What the hook of a task could do: of a worker's, or of one that the operator adds.
fn reached(team: &str, hook: &str, more: &str) -> String {
    let crew = Crew::new();
    crew.script("reach.sh", REACH);
    crew.write("box/keep", "");
    crew.write("logs/keep", "");
    crew.up(&format!(
        "v = 1\nname = \"{team}\"\n[[member]]\nname = \"a\"\ncwd = \"box\"\n[[task]]\nsubject = \"s\"\nrun = [\"true\"]\n\
         [hooks]\n{hook} = [\"./reach.sh\"]\n{more}",
    ));
    if hook == "task_created" {
        crew.fails(4, &["task", "add", "x"]);
    }
    until("it has objected", || event(&crew, team, "hook_vetoed").is_some());
    let tmp = crew.member(team, "team-lead").join("tmp");
    assert!(!tmp.exists() || std::fs::read_dir(tmp).expect("a folder").next().is_none(), "its files went with it");
    event(&crew, team, "hook_vetoed").expect("an event")["said"].as_str().expect("words").to_owned()
}

#[test]
fn a_hook_reaches_no_further_than_the_member_it_is_about() {
    let support = crewmux::sandbox::support();
    if !support.files {
        return eprintln!("skipped a_hook_reaches_no_further_than_the_member_it_is_about: {}", support.words());
    }
    let done = |said: &str| -> Vec<String> {
        said.lines().filter_map(|l| l.strip_suffix(": done")).map(str::to_owned).collect()
    };
    let (own, log, passing, message) = ("the member's folder", "a log", "a passing file", "a message");
    let as_member = reached("member", "task_completed", "");
    assert_eq!(done(&as_member), [own, passing, message], "{as_member}");
    let logs = reached("logs", "task_completed", "state_dirs = [\"logs\"]\n");
    assert_eq!(done(&logs), [own, log, passing, message], "{logs}");
    let looks = reached("looks", "task_completed", "sandbox = \"read-only\"\nstate_dirs = [\"logs\"]\n");
    assert_eq!(done(&looks), [log, passing, message], "{looks}");
    let off = reached("off", "task_completed", "sandbox = \"off\"\n");
    assert!(off.contains("outside: done") && off.contains("another mailbox: done"), "{off}");
    // Nobody of the team caused it.
    let person = reached("person", "task_created", "");
    assert!(person.contains("outside: done"), "{person}");
    let confined = reached("confined", "task_created", "sandbox = \"read-only\"\n");
    assert_eq!(done(&confined), [passing], "{confined}");
}

#[test]
fn a_hook_cannot_start_itself() {
    let crew = Crew::new();
    let again = "#!/bin/sh\ncrewmux task add again 2>\"$HOME/said.$CREWMUX_MEMBER\"\necho $? >\"$HOME/code.part\"\n\
                 mv \"$HOME/code.part\" \"$HOME/code.$CREWMUX_MEMBER\"\n";
    crew.script("again.sh", again);
    crew.up(&format!("v = 1\nname = \"again\"\n[hooks]\ntask_created = [\"./again.sh\"]\n{}", crew.puppet("hand")));
    crew.ok(&["task", "add", "first"]);
    assert_eq!(crew.inside("hand", "crewmux task add second").code, 0);
    for who in ["operator", "hand"] {
        assert_eq!(crew.read(&format!("code.{who}")).trim(), "7");
        let said = crew.read(&format!("said.{who}"));
        assert!(said.contains("would start itself"), "{said}");
    }
    assert_eq!(crew.json(&["task", "list"]).as_array().map(Vec::len), Some(2));
}

#[test]
fn an_interrupt_ends_the_hook_that_a_person_waits_for() {
    let crew = Crew::new();
    let spec = hooks(&crew, &["task_created"], "");
    crew.up(&format!("v = 1\nname = \"wait\"\n{spec}{}", crew.puppet("hand")));
    crew.write("sleep.task_created", "");
    let mut add = crew.command(&["task", "add", "never"]).spawn().expect("it starts");
    let pid: u32 = crew.awaits("task_created.operator.pid").trim().parse().expect("a pid");
    kill(add.id(), "INT");
    assert_eq!(add.wait().expect("it ends").code(), Some(130));
    until("nothing of the hook is left", || !lives(pid));
    assert_eq!(crew.json(&["task", "list"]).as_array().map(Vec::len), Some(0));
}

#[test]
fn the_last_hooks_of_a_team_run_to_their_end() {
    let crew = Crew::new();
    crew.script("last.sh", "#!/bin/sh\ncat >/dev/null\nsleep 1\necho over >\"$HOME/last.$CREWMUX_MEMBER\"\n");
    crew.up(&format!("v = 1\nname = \"last\"\n[hooks]\nmember_exited = [\"./last.sh\"]\n{}", crew.puppet("hand")));
    crew.ok(&["stop", "hand"]);
    crew.ok(&["down"]);
    assert_eq!(crew.read("last.hand").trim(), "over");
}

#[test]
fn what_a_hook_of_a_killed_lead_left_is_ended_by_whoever_comes_next() {
    let crew = Crew::new();
    let left = "#!/bin/sh\ncat >/dev/null\nsetsid sleep 1000 &\necho $! >\"$HOME/left.part\"\nmv \"$HOME/left.part\" \"$HOME/left\"\n\
                sleep 1000\n";
    crew.script("left.sh", left);
    let spec = "v = 1\nname = \"left\"\n[hooks]\nmember_exited = [\"./left.sh\"]\n".to_owned();
    crew.up(&(spec + &crew.puppet("hand") + &crew.puppet("other")));
    for (member, next) in [("hand", &["up", "--resume", "left"][..]), ("other", &["down", "--team", "left", "--force"])]
    {
        let _ = std::fs::remove_file(crew.dir().join("left"));
        crew.ok(&["stop", member]);
        let pid: u32 = crew.awaits("left").trim().parse().expect("a pid");
        let lead = crew.entry("left", "team-lead")["pid"].as_u64().expect("a pid");
        kill(u32::try_from(lead).expect("a pid"), "KILL");
        until("the lead is gone", || crew.json(&["status", "--team", "left"])["lead"]["alive"] == false);
        assert!(lives(pid), "nobody was there to end it");
        crew.ok(next);
        assert!(!lives(pid), "left by the hook that is about {member}");
    }
    until("nothing is left", || with_environment("CREWMUX_HOME", crew.home().to_str().expect("plain")).is_empty());
}
