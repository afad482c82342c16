//! After the worst, every verb says what is there and what to do.

use crate::puppet::team;
use crate::support::{Crew, kill, until};

/// Kills everything of this home at once, tmux too.
pub fn kill_all(crew: &Crew) {
    let pids = crew.processes();
    // Stopped first, so that hardly one sees another one's end.
    for signal in ["STOP", "KILL"] {
        let all: Vec<String> = pids.iter().map(ToString::to_string).collect();
        let _ = std::process::Command::new("kill").arg(format!("-{signal}")).args(&all).output();
    }
    until("all are gone", || crew.processes().is_empty());
    // A lease is free when the last thread of its process is gone, a moment after the process counts as ended.
    until("all leases are free", || {
        let status = crew.json(&["status", "--team", "t"]);
        status["lead"]["alive"] == false
            && status["members"].as_array().expect("members").iter().all(|m| m["alive"] == false)
    });
}

#[test]
fn f23_after_everything_was_killed_each_verb_works() {
    let crew = Crew::new();
    let hand = "\n[[member]]\nname = \"hand\"\nengine = \"worker\"\n[[task]]\nsubject = \"first\"\nrun = [\"sleep\", \"1000\"]\n";
    let spec = team("t") + &crew.taker("writer") + hand;
    crew.up(&spec);
    crew.ok(&["send", "writer", "before"]);
    crew.until_got("writer", "before");
    until("the task runs", || crew.json(&["task", "show", "1"])["status"] == "in_progress");
    kill_all(&crew);

    // Looking and writing work; what needs a lead says so, and what helps. A lease is free when the last thread
    // of its process is gone, a moment after the process counts as ended.
    until("nobody is alive", || {
        let status = crew.json(&["status", "--team", "t"]);
        status["lead"]["alive"] == false
            && status["members"].as_array().expect("members").iter().all(|m| m["alive"] == false)
    });
    let listed = crew.json(&["ls"]);
    assert_eq!(listed[0]["alive"], false, "{listed}");
    crew.ok(&["send", "--team", "t", "writer", "while all were dead"]);
    crew.ok(&["task", "list", "--team", "t"]);
    crew.ok(&["events", "--team", "t"]);
    crew.ok(&["logs", "writer", "--team", "t"]);
    for verb in
        [&["shutdown", "writer"][..], &["stop", "writer"], &["restart", "writer"], &["spawn", "new", "--", "true"]]
    {
        let ran = crew.fails(6, &[&["--team", "t"], verb].concat());
        assert!(ran.err.contains("up --resume t"), "{verb:?}: {}", ran.err);
    }
    for verb in [&["attach", "--print"][..], &["capture", "writer"]] {
        let ran = crew.run(&[verb, &["--team", "t"]].concat());
        assert!(matches!(ran.code, 1 | 3 | 6), "{verb:?}: {ran:?}");
        assert!(ran.err.contains("hint:"), "{verb:?}: {}", ran.err);
    }

    crew.ok(&["up", "--resume", "t"]);
    crew.until_got("writer", "while all were dead");
    assert_eq!(crew.texts("writer"), ["before", "while all were dead"]);
    until("the task goes on", || {
        let task = crew.json(&["task", "show", "1"]);
        task["status"] == "in_progress" && task["attempts"] == 2
    });

    kill_all(&crew);
    crew.ok(&["down", "--team", "t"]);
    assert!(!crew.team("t").exists());
    crew.fails(3, &["status", "--team", "t"]);
}

#[test]
fn f23_a_dead_team_makes_room_for_the_next_of_its_name() {
    let crew = Crew::new();
    crew.up(&(team("t") + &crew.taker("writer")));
    crew.ok(&["send", "writer", "to the old one"]);
    crew.until_got("writer", "to the old one");
    kill_all(&crew);
    let up = crew.run(&["up", "spec.toml"]);
    assert_eq!(up.code, 0, "{up:?}");
    assert!(up.err.contains("dead"), "it says so: {}", up.err);
    crew.ok(&["send", "writer", "to the new one"]);
    crew.until_got("writer", "to the new one");
    assert_eq!(crew.inbox("t", "writer").len(), 1);
    assert_eq!(std::fs::read_dir(crew.home().join("dead")).expect("the dead").count(), 1);
}

#[test]
fn f23_a_dead_server_alone_is_seen_and_mended() {
    let crew = Crew::new();
    crew.up(&(team("t") + &crew.taker("writer")));
    let server: u32 = crew.tmux("t", &["display-message", "-p", "#{pid}"]).trim().parse().expect("a pid");
    kill(server, "KILL");
    until("it is seen", || {
        let status = crew.json(&["status", "--team", "t"]);
        status["lead"]["alive"] == false && status["members"][0]["alive"] == false
    });
    crew.ok(&["up", "--resume", "t"]);
    crew.ok(&["send", "writer", "back"]);
    crew.until_got("writer", "back");
}

/// What a writer that died at any moment leaves is put right by `up --resume` before anybody is started.
#[test]
fn f23_resume_mends_half_written_lines_missing_folders_and_a_down_that_was_cut_off() {
    let crew = Crew::new();
    crew.up(&(team("t") + &crew.taker("writer") + &crew.taker("other")));
    crew.ok(&["send", "writer", "before"]);
    crew.until_got("writer", "before");
    kill_all(&crew);
    let append = |path: &str, text: &str| {
        let file = std::fs::OpenOptions::new().append(true).create(true).open(crew.team("t").join(path));
        std::io::Write::write_all(&mut file.expect("a file"), text.as_bytes()).expect("written");
    };
    for journal in
        ["tasks.jsonl", "events.jsonl", "members/writer/mail/inbox.jsonl", "members/writer/mail/control.jsonl"]
    {
        append(journal, "{\"seq\":99,\"ts\":\"2026-01-01T00:00:00.0");
    }
    append("members/writer/state/.status.json.4294967-0-abcdef01.tmp", "{");
    std::fs::remove_dir_all(crew.member("t", "other")).expect("removed");
    // A `down` closes the files before it puts them away.
    let closed =
        "\n{\"seq\":100,\"ts\":\"2026-01-01T00:00:00.000000Z\",\"type\":\"closed\",\"reason\":\"the team is down\"}\n";
    for journal in ["tasks.jsonl", "events.jsonl"] {
        append(journal, closed);
    }
    for journal in ["members/writer/mail/inbox.jsonl", "members/writer/mail/control.jsonl"] {
        append(journal, closed);
    }
    assert_eq!(crew.run(&["send", "--team", "t", "writer", "refused"]).code, 4);

    crew.ok(&["up", "--resume", "t"]);
    crew.ok(&["send", "writer", "after"]);
    crew.until_got("writer", "after");
    crew.ok(&["send", "other", "to the one without a folder"]);
    crew.until_got("other", "to the one without a folder");
    assert_eq!(crew.texts("writer"), ["before", "after"]);
    crew.ok(&["task", "add", "one more"]);
    assert!(!crew.member("t", "writer").join("state/.status.json.4294967-0-abcdef01.tmp").exists());
    assert!(crew.events("t").iter().any(|e| e["type"] == "opened"), "the events go on");
}

#[test]
fn f23_a_down_that_was_cut_off_is_finished_by_the_next() {
    let crew = Crew::new();
    crew.up(&(team("t") + &crew.taker("writer")));
    crew.ok(&["down", "--team", "t", "--keep-files"]);
    let status = crew.json(&["status", "--team", "t"]);
    assert_eq!(status["lead"]["alive"], false, "{status}");
    crew.ok(&["down", "--team", "t"]);
    assert!(!crew.team("t").exists());
    // And whoever wants it back instead of away gets it back. That its members ended as they were asked stays true.
    crew.ok(&["up", "spec.toml"]);
    crew.ok(&["down", "--team", "t", "--keep-files"]);
    crew.ok(&["up", "--resume", "t"]);
    assert_eq!(crew.entry("t", "writer")["is_active"], false);
    crew.ok(&["restart", "writer"]);
    crew.ok(&["send", "writer", "again"]);
    crew.until_got("writer", "again");
}
