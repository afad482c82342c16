//! The command line: exit codes, JSON shapes, bad input.

use std::os::unix::ffi::OsStrExt;

use serde_json::Value;

use crate::smoke::DUO;
use crate::support::{Crew, Ran, kill, until};

/// Fails unless every key is there.
fn has(value: &Value, keys: &[&str]) {
    for key in keys {
        assert!(value.get(key).is_some(), "`{key}` is missing in {value}");
    }
}

fn lead_pid(crew: &Crew, team: &str) -> u32 {
    u32::try_from(crew.json(&["status", "--team", team])["lead"]["pid"].as_u64().expect("a pid")).expect("a pid")
}

#[test]
fn every_kind_of_failure_has_its_exit_code_and_says_what_helps() {
    let crew = Crew::new();
    crew.write("duo.toml", DUO);
    let none = crew.fails(3, &["status"]);
    assert!(none.err.contains("hint: `crewmux up SPEC`"), "{}", none.err);
    crew.fails(2, &["statsu"]);
    crew.fails(2, &["send"]);
    crew.fails(2, &["wait", "--for", "nonsense"]);
    crew.ok(&["up", "./duo.toml"]);
    for (code, args) in [
        (3, &["send", "voise", "hello"][..]),
        (3, &["stop", "nobody"]),
        (3, &["restart", "nobody"]),
        (3, &["shutdown", "nobody"]),
        (3, &["task", "show", "7"]),
        (3, &["task", "done", "7"]),
        (3, &["approve", "abcdef12"]),
        (3, &["logs", "nobody"]),
        (3, &["capture", "nobody"]),
        (3, &["inbox", "--member", "nobody"]),
        (3, &["status", "--team", "dou"]),
        (4, &["task", "claim"]),
        (4, &["shutdown", "lead"]),
        (4, &["stop", "lead"]),
        (4, &["restart", "team-lead"]),
        (3, &["wait", "--for", "task:1=completed", "--timeout", "50ms"]),
        (5, &["wait", "--for", "member:voice=exited", "--timeout", "50ms"]),
        (5, &["send", "voice", "read me", "--wait=50ms"]),
        (7, &["up", "./duo.toml"]),
        (7, &["spawn", "voice", "--", "true"]),
        (7, &["up", "--resume", "duo"]),
    ] {
        let ran = crew.fails(code, args);
        assert!(ran.err.starts_with("error: ") || ran.err.contains("\nerror: "), "{args:?}: {}", ran.err);
        let json = crew.fails(code, &[&["--json"], args].concat());
        let line = json.err.lines().last().unwrap_or_default();
        let error: Value = serde_json::from_str(line).unwrap_or_else(|e| panic!("{args:?}: {e}: {}", json.err));
        has(&error["error"], &["code", "message", "causes", "hints"]);
        assert_eq!(error["error"]["code"], code, "{args:?}");
        assert!(error["error"]["hints"].as_array().is_some_and(|h| !h.is_empty()), "{args:?} says what helps: {error}");
    }
    let near = crew.fails(3, &["send", "voise", "hello"]);
    assert!(near.err.contains("voice"), "the nearest name: {}", near.err);
    let second = crew.fails(7, &["up", "./duo.toml"]);
    assert!(second.err.contains("--name"), "{}", second.err);
    assert_eq!(crew.status("duo", "voice")["alive"], true, "the living team is as it was");
}

#[test]
fn what_needs_the_lead_says_so_when_there_is_none() {
    let crew = Crew::new();
    crew.up(DUO);
    // The lead has also told them that they are members.
    until("they are at work", || ["hand", "voice"].iter().all(|m| crew.status("duo", m)["state"] == "idle"));
    kill(lead_pid(&crew, "duo"), "KILL");
    until("the lead is gone", || crew.json(&["status", "--team", "duo"])["lead"]["alive"] == false);
    for args in [
        &["spawn", "more", "--engine", "worker"][..],
        &["stop", "voice"],
        &["restart", "voice"],
        &["shutdown", "voice"],
        &["down"],
    ] {
        let mut args = args.to_vec();
        args.extend(["--team", "duo"]);
        let ran = crew.fails(6, &args);
        assert!(ran.err.contains("crewmux up --resume duo"), "{args:?}: {}", ran.err);
    }
    // What does not need it goes on.
    crew.ok(&["send", "voice", "still here", "--team", "duo"]);
    crew.ok(&["task", "add", "work", "--team", "duo", "--run", "--", "true"]);
    crew.ok(&["wait", "--team", "duo", "--for", "task:1=completed", "--timeout", "20s"]);
    assert_eq!(crew.status("duo", "voice")["alive"], true);
    let up = crew.fails(7, &["up", "./spec.toml"]);
    assert!(up.err.contains("--resume"), "{}", up.err);
    crew.ok(&["up", "--resume", "duo"]);
    crew.ok(&["stop", "voice"]);
}

#[test]
fn json_has_every_documented_key() {
    let crew = Crew::new();
    crew.up(&format!("{DUO}\n{}", crew.puppet("hands")));
    let status = crew.json(&["status"]);
    has(&status, &["team", "lead", "members", "tasks", "requests"]);
    has(&status["lead"], &["alive", "pid"]);
    has(&status["tasks"], &["pending", "in_progress", "completed", "failed"]);
    assert!(status["requests"].is_u64());
    for member in status["members"].as_array().expect("members") {
        has(
            member,
            &[
                "name", "agent_id", "engine", "state", "alive", "pid", "pane_id", "unread", "queued", "task",
                "restarts", "exit",
            ],
        );
    }
    let teams = crew.json(&["ls"]);
    has(&teams[0], &["team", "alive", "members", "created_at", "cwd", "session"]);
    assert_eq!(teams[0]["session"], "crewmux-duo");

    let sent = crew.json(&["send", "voice", "hello"]);
    has(&sent, &["id", "deliveries"]);
    has(&sent["deliveries"][0], &["to", "seq", "queued"]);
    let sent = crew.json(&["send", "hand", "hello", "--wait=20s"]);
    has(&sent["deliveries"][0], &["to", "seq", "queued", "read_at"]);
    assert!(sent["deliveries"][0]["read_at"].is_string(), "{sent}");
    let all = crew.json(&["send", "*", "to all"]);
    assert_eq!(all["deliveries"].as_array().map(Vec::len), Some(3), "{all}");

    let inbox = crew.ok(&["inbox", "--member", "voice", "--json"]);
    assert_eq!(inbox.lines().count(), 2);
    for line in inbox.lines() {
        let message: Value = serde_json::from_str(line).expect("a message a line");
        has(
            &message,
            &["seq", "ts", "id", "from", "to", "type", "priority", "summary", "reply_to", "body", "read", "verified"],
        );
    }

    let task = [
        "id",
        "subject",
        "description",
        "active_form",
        "status",
        "owner",
        "blocks",
        "blocked_by",
        "requires",
        "run",
        "timeout",
        "retries",
        "attempts",
        "epoch",
        "metadata",
        "result",
    ];
    has(&crew.json(&["task", "add", "work", "--meta", "k=1"]), &task);
    has(&crew.json(&["task", "list"])[0], &task);
    has(&crew.json(&["task", "show", "1"]), &task);
    has(&crew.json(&["task", "claim", "--member", "hands"]), &task);
    let none = crew.fails(7, &["task", "claim", "--member", "hand", "--json"]);
    assert_eq!(none.out.trim(), "null");

    let waited = crew.inside("hands", "echo plan | crewmux plan submit --wait=50ms --json");
    assert_eq!(waited.code, 5);
    has(&serde_json::from_str(&waited.out).expect("json"), &["id", "state", "feedback"]);
    until("it is open", || crew.json(&["requests"]).as_array().is_some_and(|r| !r.is_empty()));
    has(
        &crew.json(&["requests"])[0],
        &["id", "kind", "from", "state", "created_at", "expires", "summary", "body", "decision"],
    );

    let events = crew.ok(&["events", "--json"]);
    for line in events.lines() {
        has(&serde_json::from_str(line).expect("an event a line"), &["seq", "ts", "type"]);
    }
    assert!(events.lines().any(|l| l.contains("\"member\"")));
}

#[test]
fn run_tells_what_failed_in_json() {
    let crew = Crew::new();
    crew.write("duo.toml", &format!("{DUO}\n[[task]]\nsubject = \"bad\"\nrun = [\"false\"]\n"));
    let ran = crew.fails(1, &["run", "./duo.toml", "--json"]);
    let view: Value = serde_json::from_str(&ran.out).expect("json");
    has(&view, &["team", "ok", "tasks", "failed", "duration_ms", "report"]);
    assert_eq!(view["ok"], false);
    assert_eq!(view["failed"][0]["subject"], "bad");
}

#[test]
fn a_bad_spec_is_a_usage_error_with_its_place_and_starts_nothing() {
    let crew = Crew::new();
    let member = "[[member]]\nname = \"a\"\nengine = \"worker\"\n";
    let team = format!("v = 1\nname = \"bad\"\n{member}");
    for (spec, word) in [
        (format!("{team}colour = \"red\"\n"), "colour"),
        (format!("{team}prompt = 3\n"), "prompt"),
        (
            format!("{team}[[member]]\nname = \"b\"\nengine = \"command\"\ncommand = [\"no-such-program\"]\n"),
            "no-such-program",
        ),
        (
            format!(
                "{team}[[task]]\nkey = \"x\"\nsubject = \"x\"\nblocked_by = [\"y\"]\n[[task]]\nkey = \"y\"\nsubject = \"y\"\nblocked_by = [\"x\"]\n"
            ),
            "blocked_by",
        ),
        (format!("{team}{member}"), "name"),
        (team.replace("\"bad\"", "\"../bad\""), "../bad"),
        ("v = 1\nname = \"bad\n".to_owned(), "bad.toml"),
    ] {
        crew.write("bad.toml", &spec);
        for verb in ["up", "run"] {
            let ran = crew.fails(2, &[verb, "./bad.toml"]);
            assert!(ran.err.contains(word), "{word}: {}", ran.err);
            assert!(ran.err.contains("bad.toml"), "the file: {}", ran.err);
        }
    }
    std::fs::write(crew.dir().join("bad.toml"), b"v = 1\nname = \"\xff\xfe\"\n").expect("a file");
    crew.fails(2, &["up", "./bad.toml"]);
    crew.fails(2, &["up", "./absent.toml"]);
    crew.fails(2, &["up", "absent"]);
    assert!(
        !crew.home().join("teams").exists() || std::fs::read_dir(crew.home().join("teams")).expect("it").count() == 0
    );
}

#[test]
fn a_text_that_cannot_be_sent_changes_nothing() {
    let crew = Crew::new();
    crew.up(DUO);
    crew.write("big", &"x".repeat(10 << 20));
    let big = crew.fails(2, &["send", "voice", "--file", "big"]);
    assert!(big.err.contains("8 MiB"), "{}", big.err);
    std::fs::write(crew.dir().join("odd"), b"ab\xff\xfe").expect("a file");
    let odd = crew.fails(2, &["send", "voice", "--file", "odd"]);
    assert!(odd.err.contains("UTF-8"), "{}", odd.err);
    crew.fails(2, &["send", "voice", "--file", "absent"]);
    let mut raw = crew.command(&["send", "voice"]);
    raw.arg(std::ffi::OsStr::from_bytes(b"ab\xff"));
    assert_eq!(Ran::from(raw.output().expect("starts")).code, 2);
    assert_eq!(crew.status("duo", "voice")["unread"], 0);
    assert_eq!(std::fs::read_dir(crew.team("duo").join("blobs")).map_or(0, Iterator::count), 0);
    // What fits goes, whole, beside the message.
    let large = "y".repeat(1 << 20);
    crew.write("large", &large);
    crew.ok(&["send", "voice", "--file", "large"]);
    assert!(crew.ok(&["inbox", "--member", "voice"]).contains(&large));
}

#[test]
fn without_tmux_or_with_an_old_one_it_says_so() {
    let crew = Crew::new();
    crew.write("duo.toml", DUO);
    let bin = crew.dir().join("bin");
    std::fs::create_dir(&bin).expect("a folder");
    for tool in ["sh", "sleep", "env"] {
        std::os::unix::fs::symlink(format!("/bin/{tool}"), bin.join(tool)).expect("a link");
    }
    let up = || {
        let mut command = crew.command(&["up", "./duo.toml"]);
        command.env("PATH", &bin);
        Ran::from(command.output().expect("it starts"))
    };
    let ran = up();
    assert_eq!(ran.code, 1, "{ran:#?}");
    assert!(ran.err.contains("tmux is not installed"), "{}", ran.err);
    assert!(ran.err.contains("hint:"), "{}", ran.err);
    crew.script("bin/tmux", "#!/bin/sh\necho tmux 1.8\n");
    let ran = up();
    assert_eq!(ran.code, 1, "{ran:#?}");
    assert!(ran.err.contains("tmux 1.8 is too old"), "{}", ran.err);
    assert!(!crew.team("duo").exists(), "nothing was made");
}

#[test]
fn a_home_that_cannot_be_written_is_named() {
    let crew = Crew::new();
    crew.write("duo.toml", DUO);
    crew.write("file", "");
    let mut command = crew.command(&["up", "./duo.toml"]);
    command.env("CREWMUX_HOME", crew.dir().join("file/home"));
    let ran = Ran::from(command.output().expect("it starts"));
    assert_eq!(ran.code, 1, "{ran:#?}");
    assert!(ran.err.contains("/file"), "the path: {}", ran.err);
    let mut command = crew.command(&["up", "./duo.toml"]);
    command.env("CREWMUX_HOME", "/sys/crewmux");
    let ran = Ran::from(command.output().expect("it starts"));
    assert_eq!(ran.code, 1, "{ran:#?}");
    assert!(ran.err.contains("/sys/crewmux"), "the path: {}", ran.err);
}

#[test]
fn dry_run_shows_and_starts_nothing_and_set_fills_in() {
    let crew = Crew::new();
    crew.write(
        "vars.toml",
        "v = 1\nname = \"vars\"\n[vars]\nout = \"default\"\n[[member]]\nname = \"hand\"\nengine = \"worker\"\n\
         [[task]]\nkey = \"a\"\nsubject = \"write ${out}\"\nrun = [\"sh\", \"-c\", \"echo ${out} >${out}\"]\n\
         [[task]]\nsubject = \"after\"\nrun = [\"true\"]\nblocked_by = [\"a\"]\n",
    );
    let shown = crew.ok(&["up", "./vars.toml", "--dry-run", "--set", "out=else where"]);
    assert!(shown.contains("write else where") && shown.contains("hand") && shown.contains("after a"), "{shown}");
    let shown = crew.json(&["up", "./vars.toml", "--dry-run"]);
    assert_eq!(shown["tasks"][0]["task"]["subject"], "write default");
    assert!(!crew.home().exists() || !crew.home().join("teams").exists(), "nothing was made");
    let unknown = crew.fails(2, &["up", "./vars.toml", "--dry-run", "--set", "uot=x"]);
    assert!(unknown.err.contains("uot"), "{}", unknown.err);
    crew.fails(2, &["up", "./vars.toml", "--set", "out"]);
    crew.ok(&["run", "./vars.toml", "--set", "out=made"]);
    assert_eq!(crew.read("made"), "made\n");
}

#[test]
fn a_closed_pipe_is_a_quiet_end() {
    let crew = Crew::new();
    crew.up(DUO);
    let crewmux = env!("CARGO_BIN_EXE_crewmux");
    let script = format!(
        "for v in status events 'task list' ls requests; do {crewmux} $v 2>>errors | true; done; {crewmux} man | head -1 >/dev/null 2>>errors"
    );
    let mut shell = std::process::Command::new("sh");
    shell.arg("-c").arg(script).current_dir(crew.dir());
    shell.env("CREWMUX_HOME", crew.home()).env("XDG_RUNTIME_DIR", crew.dir().join("run"));
    assert!(shell.status().expect("it runs").success());
    let errors = crew.read("errors");
    assert!(!errors.contains("panic") && !errors.contains("pipe"), "{errors}");
}
