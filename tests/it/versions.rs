//! Files of other versions: older ones are taken up, newer ones are read and never written.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::puppet::team;
use crate::support::{Crew, kill, until};

/// Lays a team of `tests/data/` into the test's home.
fn lay(crew: &Crew, data: &str, name: &str) {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(data);
    let (cwd, run) = (crew.dir().display().to_string(), crew.dir().join("run").display().to_string());
    let places = [("@CWD@", cwd), ("@RUN@", run), ("@STUB@", crate::agents::stub())];
    for path in files(&from) {
        let to = crew.team(name).join(path.strip_prefix(&from).expect("below it"));
        fs::create_dir_all(to.parent().expect("a parent")).expect("a folder");
        let mut text = fs::read_to_string(&path).expect("text");
        for (key, place) in &places {
            text = text.replace(key, place);
        }
        fs::write(&to, text).expect("written");
    }
    let path = std::env::var("PATH").unwrap_or_default();
    for member in fs::read_dir(crew.team(name).join("members")).expect("members").flatten() {
        fs::write(member.path().join("state/env"), format!("PATH={path}\0")).expect("an environment");
    }
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => all.extend(files(&entry.path())),
            Ok(kind) if kind.is_file() => all.push(entry.path()),
            _ => {}
        }
    }
    all.sort();
    all
}

/// What lies in a team's folder, locks aside: a reader may make those.
fn content(crew: &Crew, team: &str) -> BTreeMap<PathBuf, Vec<u8>> {
    let all = files(&crew.team(team)).into_iter().filter(|path| path.extension().is_none_or(|e| e != "lock"));
    all.map(|path| (path.clone(), fs::read(&path).expect("readable"))).collect()
}

#[test]
fn a_team_of_the_first_version_is_read_and_taken_up_after_a_restart_of_the_machine() {
    let crew = Crew::new();
    lay(&crew, "team-v1", "old");
    let before = content(&crew, "old");
    let status = crew.json(&["status", "--team", "old"]);
    assert_eq!(status["lead"]["alive"], false, "{status}");
    let tasks = crew.json(&["task", "list", "--team", "old"]);
    let states: Vec<&str> = tasks.as_array().expect("tasks").iter().filter_map(|t| t["status"].as_str()).collect();
    assert_eq!(states, ["completed", "failed", "in_progress"]);
    let doctor = crew.run(&["doctor", "--team", "old"]);
    assert!(doctor.out.contains("launched before this machine was started anew"), "{doctor:?}");
    assert_eq!(before, content(&crew, "old"), "looking changes nothing");

    crew.write("go", "");
    crew.ok(&["up", "--resume", "old"]);
    let got = || crew.read("got.jsonl");
    until("the mail of the time between arrives", || got().contains("sent while nobody lived"));
    assert!(!got().contains("first words"), "what was read is read: {}", got());
    until("the task that was cut off is done", || crew.json(&["task", "show", "3"])["status"] == "completed");
    assert_eq!(crew.json(&["task", "show", "3"])["attempts"], 2);
    // The roster was lifted: what the older version did not know of stands there.
    assert!(crew.roster("old")["settings"]["limits"]["sender_depth"].is_u64(), "{}", crew.roster("old"));
    crew.ok(&["down", "--team", "old"]);
}

/// Makes a team's roster one of the next version, with keys that nobody knows yet.
fn from_the_future(crew: &Crew, team: &str) {
    let mut roster = crew.roster(team);
    roster["v"] = json!(2);
    roster["orbits"] = json!(["low", "high"]);
    roster["settings"]["limits"]["orbits"] = json!(7);
    roster["members"][1]["spec"]["orbit"] = json!("low");
    fs::write(crew.team(team).join("team.json"), roster.to_string()).expect("written");
}

/// The second folder holds every kind of file that the first version writes.
#[test]
fn every_kind_of_file_of_the_first_version_is_read_and_gone_on_with() {
    let crew = Crew::new();
    lay(&crew, "team-v1-rich", "rich");
    let before = content(&crew, "rich");
    let read = |args: &[&str]| crew.ok(&[args, &["--team", "rich"]].concat());
    let folder = crew.team("rich");
    let told = crew.ok(&["replay", folder.to_str().expect("plain"), "--control"]);
    assert!(told.contains("a text that lies in a file of its own") && told.contains("first words"), "{told}");
    assert!(read(&["inbox", "--member", "writer", "--all"]).contains("a text that lies in a file of its own"));
    assert!(read(&["logs", "hand"]).contains("forty-two"));
    assert!(read(&["events"]).contains("team launched"));
    let requests = crew.json(&["requests", "--all", "--team", "rich"]);
    let states: Vec<&str> = requests.as_array().expect("a list").iter().filter_map(|r| r["state"].as_str()).collect();
    let count = |state: &str| states.iter().filter(|s| **s == state).count();
    assert_eq!((count("approved"), count("open")), (2, 1), "{states:?}");
    let tasks = crew.json(&["task", "list", "--team", "rich"]);
    assert_eq!(tasks[1]["status"], "in_progress", "{tasks}");
    assert_eq!(crew.status("rich", "gone")["exit"]["reason"], "stopped");
    assert_eq!(before, content(&crew, "rich"), "looking changes nothing");

    crew.ok(&["up", "--resume", "rich"]);
    until("the mail of the time between arrives", || {
        let got = crew.read("got.jsonl");
        got.contains("sent while nobody lived") && got.contains("a text that lies in a file of its own")
    });
    assert!(!crew.read("got.jsonl").contains("first words"), "what was read is read");
    // An approved plan is carried out, an open one is made again.
    until("the builder executes", || crew.read("builder.log") == "executing\n");
    until("the planner plans", || crew.status("rich", "planner")["state"] == "planning");
    until("the plan of the ended life is withdrawn", || crew.json(&["requests"]).as_array().is_some_and(Vec::is_empty));
    // What was allowed for always still is.
    crew.ok(&["permission", "ask", "deploy", "--member", "asker", "--scope", "staging", "--wait"]);
    assert_eq!(crew.entry("rich", "gone")["is_active"], false);
    crew.fails(4, &["send", "gone", "too late"]);
    let session = || {
        let asked = crew.journal(&crew.dir().join("agent.log"));
        asked.iter().find(|m| m["method"] == "session/load").map(|m| m["params"]["sessionId"].clone())
    };
    until("the agent's session goes on", || session() == Some(json!("stub-27625")));
    crew.write("go", "");
    until("the task that was cut off is done", || crew.json(&["task", "show", "2"])["status"] == "completed");
    assert_eq!(crew.json(&["task", "add", "next"])["id"], "3", "numbers go on");
    let doctor = crew.run(&["doctor", "--team", "rich"]);
    assert!(!doctor.out.contains("records are missing"), "{doctor:?}");
    crew.ok(&["down", "--team", "rich", "--force"]);
}

#[test]
fn a_team_of_a_newer_version_is_read_and_nothing_of_it_is_written() {
    for (data, team, member, tasks) in [("team-v1", "old", "writer", 3), ("team-v1-rich", "rich", "planner", 2)] {
        let crew = Crew::new();
        lay(&crew, data, team);
        from_the_future(&crew, team);
        let before = content(&crew, team);
        newer_is_left_alone(&crew, team, member, tasks);
        assert_eq!(before, content(&crew, team), "nothing was written");
        // For the end of the test it is ours again.
        let mut roster = crew.roster(team);
        roster["v"] = json!(1);
        fs::write(crew.team(team).join("team.json"), roster.to_string()).expect("written");
    }
}

fn newer_is_left_alone(crew: &Crew, name: &str, member: &str, tasks: usize) {
    crew.ok(&["status", "--team", name]);
    assert_eq!(crew.json(&["task", "list", "--team", name]).as_array().map(Vec::len), Some(tasks));
    crew.ok(&["events", "--team", name]);
    crew.ok(&["replay", crew.team(name).to_str().expect("plain")]);
    let spec = crew.write("spec.toml", &team(name).replace("v = 1\n", "v = 1\n[[member]]\nname = \"a\"\n"));
    let spec = spec.to_str().expect("plain");
    for verb in [
        &["send", "--team", name, member, "hello"][..],
        &["task", "add", "--team", name, "more"],
        &["up", "--resume", name],
        &["down", "--team", name],
        &["down", "--force", "--team", name],
        &["down", "--force", "--archive", "kept", "--team", name],
    ] {
        let ran = crew.run(verb);
        assert!(ran.code != 0 && ran.err.contains("newer"), "{verb:?}: {ran:?}");
    }
    let up = crew.run(&["up", spec]);
    assert!(up.code != 0, "{up:?}");
    let gc: Value = crew.json(&["gc"]);
    assert!(gc[0]["stays"].as_str().is_some_and(|why| why.contains("newer")), "{gc}");
    crew.ok(&["gc", "--yes"]);
    let fixed = crew.run(&["doctor", "--fix", "--team", name]);
    assert!(fixed.out.contains("nothing of it was mended"), "{fixed:?}");
}

#[test]
fn a_running_lead_whose_roster_became_newer_leaves_it_alone() {
    let crew = Crew::new();
    crew.up(&(team("t") + &crew.taker("writer")));
    kill(crew.pid_of("t", "team-lead"), "KILL");
    until("no lead", || crew.json(&["status", "--team", "t"])["lead"]["alive"] == false);
    from_the_future(&crew, "t");
    let newer = crew.read("home/teams/t/team.json");
    crew.fails(1, &["up", "--resume", "t"]);
    assert_eq!(crew.read("home/teams/t/team.json"), newer);
    let mut roster = crew.roster("t");
    roster["v"] = json!(1);
    fs::write(crew.team("t").join("team.json"), roster.to_string()).expect("written");
    crew.ok(&["up", "--resume", "t"]);
    // Unknown keys of the roster itself are kept for whoever knows them.
    assert_eq!(crew.roster("t")["orbits"], json!(["low", "high"]));
}
