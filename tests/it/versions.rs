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
    let places = [("@CWD@", crew.dir().to_path_buf()), ("@RUN@", crew.dir().join("run"))]
        .map(|(k, p)| (k, p.display().to_string()));
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

#[test]
fn a_team_of_a_newer_version_is_read_and_nothing_of_it_is_written() {
    let crew = Crew::new();
    lay(&crew, "team-v1", "old");
    from_the_future(&crew, "old");
    let before = content(&crew, "old");
    crew.ok(&["status", "--team", "old"]);
    assert_eq!(crew.json(&["task", "list", "--team", "old"]).as_array().map(Vec::len), Some(3));
    crew.ok(&["events", "--team", "old"]);
    crew.ok(&["replay", crew.team("old").to_str().expect("plain")]);
    let spec = crew.write("old.toml", &team("old").replace("v = 1\n", "v = 1\n[[member]]\nname = \"a\"\n"));
    let spec = spec.to_str().expect("plain");
    for verb in [
        &["send", "--team", "old", "writer", "hello"][..],
        &["task", "add", "--team", "old", "more"],
        &["up", "--resume", "old"],
        &["down", "--team", "old"],
        &["down", "--force", "--team", "old"],
    ] {
        let ran = crew.run(verb);
        assert!(ran.code != 0 && ran.err.contains("newer"), "{verb:?}: {ran:?}");
    }
    let up = crew.run(&["up", spec]);
    assert!(up.code != 0, "{up:?}");
    let gc: Value = crew.json(&["gc"]);
    assert!(gc[0]["stays"].as_str().is_some_and(|why| why.contains("newer")), "{gc}");
    crew.ok(&["gc", "--yes"]);
    let fixed = crew.run(&["doctor", "--fix", "--team", "old"]);
    assert!(fixed.out.contains("nothing of it was mended"), "{fixed:?}");
    assert_eq!(before, content(&crew, "old"), "nothing was written");
    // For the end of the test it is ours again.
    let mut roster = crew.roster("old");
    roster["v"] = json!(1);
    fs::write(crew.team("old").join("team.json"), roster.to_string()).expect("written");
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
