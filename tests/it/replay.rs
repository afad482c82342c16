//! A team's files, kept and told.

use serde_json::Value;

use crate::puppet::team;
use crate::support::{Crew, lives, until};

#[test]
fn an_archive_holds_everything_and_tells_the_story_in_order() {
    let crew = Crew::new();
    let hand = "\n[[member]]\nname = \"hand\"\nengine = \"worker\"\n\
                [[task]]\nsubject = \"count\"\nrun = [\"echo\", \"forty-two\"]\n";
    crew.up(&(team("t") + &crew.taker("writer") + hand));
    until("the task is done", || crew.json(&["task", "show", "1"])["status"] == "completed");
    crew.ok(&["send", "writer", "first"]);
    crew.until_got("writer", "first");
    let long = "long ".repeat(60_000);
    crew.write("long.txt", &long);
    let sent = crew
        .command(&["send", "writer", "-"])
        .stdin(std::fs::File::open(crew.dir().join("long.txt")).expect("it"))
        .status();
    assert!(sent.expect("runs").success());
    crew.ok(&["down", "--team", "t", "--archive", "kept"]);

    let kept = crew.dir().join("kept/t");
    for file in
        ["team.json", "tasks.jsonl", "events.jsonl", "members/writer/mail/inbox.jsonl", "members/hand/output.log"]
    {
        assert!(kept.join(file).is_file(), "{file}");
    }
    let told = crew.ok(&["replay", "kept"]);
    assert_eq!(crew.read("kept/t/story.txt"), told, "it can be read without crewmux");
    assert!(!kept.join("members/writer/state/env").exists(), "nobody's environment is kept");
    let at = |what: &str| told.find(what).unwrap_or_else(|| panic!("no {what:?} in {told}"));
    assert!(at("writer  member joined") < at("task completed") && at("task completed") < at("    first"), "{told}");
    assert!(told.contains(long.trim_end()), "a long text is told whole");
    assert_eq!(told, crew.ok(&["replay", "kept/t"]));

    let json = crew.ok(&["replay", "kept", "--json"]);
    let lines: Vec<Value> = json.lines().map(|l| serde_json::from_str(l).expect("json")).collect();
    let times: Vec<&str> = lines.iter().map(|l| l["ts"].as_str().expect("a time")).collect();
    assert!(times.is_sorted(), "{times:?}");
    let count = |what: &str| lines.iter().filter(|l| l["what"] == what).count();
    assert!(count("event") > 5 && count("mail") >= 2 && count("control") == 0, "{json}");
    let with_control = crew.ok(&["replay", "kept", "--control", "--json"]);
    assert!(with_control.contains("\"hello\""), "{with_control}");
    // Whoever was buried tells the same.
    let buried = std::fs::read_dir(crew.home().join("dead")).expect("dead").flatten().next().expect("one").path();
    assert_eq!(told, crew.ok(&["replay", buried.to_str().expect("plain")]));
}

#[test]
fn what_is_no_team_is_refused_by_name() {
    let crew = Crew::new();
    crew.write("empty/note.txt", "");
    for (dir, says) in [("empty", "no team lies in"), ("nowhere", "cannot read")] {
        let ran = crew.fails(3, &["replay", dir]);
        assert!(ran.err.contains(says) && ran.err.contains(dir), "{ran:?}");
    }
    for name in ["a", "b"] {
        crew.write(&format!("two/{name}/team.json"), "{}");
    }
    let two = crew.fails(3, &["replay", "two"]);
    assert!(two.err.contains("2 teams lie in") && two.err.contains("two/b"), "{two:?}");
}

#[test]
fn an_archive_takes_no_other_ones_place_and_one_that_fails_loses_nothing() {
    let crew = Crew::new();
    crew.up(&(team("t") + &crew.taker("writer")));
    let writer = crew.pid_of("t", "writer");
    crew.write("kept/t/team.json", "another team's");
    let taken = crew.fails(7, &["down", "--archive", "kept"]);
    assert!(taken.err.contains("kept/t") && taken.err.contains("hint:"), "{taken:?}");
    let home = crew.home().join("teams/t/scratch/kept");
    let inside = crew.fails(2, &["down", "--archive", home.to_str().expect("plain")]);
    assert!(inside.err.contains("within crewmux's own files"), "{inside:?}");
    assert!(lives(writer), "nobody was asked to end");

    // Found out only when it is written: the team has ended, its files are where they were, and the next try does it.
    crew.write("file", "");
    let failed = crew.fails(1, &["down", "--archive", "file/kept"]);
    assert!(failed.err.contains("file"), "{failed:?}");
    assert!(crew.team("t").join("team.json").exists());
    crew.ok(&["down", "--team", "t", "--archive", "elsewhere"]);
    assert!(crew.dir().join("elsewhere/t/team.json").is_file());
    assert_eq!(crew.read("kept/t/team.json"), "another team's");
    assert!(!crew.team("t").exists());
}
