//! A team's files, kept and told.

use serde_json::Value;

use crate::puppet::team;
use crate::support::{Crew, until};

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
