//! One lead, and work that goes on without one.

use std::process::Stdio;

use serde_json::Value;

use crate::puppet::team;
use crate::support::{Crew, Ran, kill, lives, until};

fn kill_lead(crew: &Crew) -> u32 {
    let lead = crew.pid_of("t", "team-lead");
    kill(lead, "KILL");
    until("no lead", || crew.json(&["status", "--team", "t"])["lead"]["alive"] == false);
    lead
}

/// How many processes lead a team of this home.
fn leads(crew: &Crew) -> usize {
    let home = crew.home().to_str().expect("plain").to_owned();
    let is_lead = |pid: u32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let words: Vec<String> = line.split(|b| *b == 0).map(|w| String::from_utf8_lossy(w).into_owned()).collect();
        words.get(1).is_some_and(|w| w == "lead") && words.contains(&home) && lives(pid)
    };
    let pids = std::fs::read_dir("/proc").expect("proc").flatten().filter_map(|e| e.file_name().to_str()?.parse().ok());
    pids.filter(|p| is_lead(*p)).count()
}

#[test]
fn f21_work_goes_on_without_a_lead_and_the_next_takes_over() {
    let crew = Crew::new();
    let hand = "\n[[member]]\nname = \"hand\"\nengine = \"worker\"\n";
    crew.up(&(team("t") + &crew.taker("writer") + &crew.puppet("pup") + hand));
    let before = ["writer", "pup", "hand"].map(|m| crew.pid_of("t", m));
    kill_lead(&crew);

    crew.ok(&["send", "--team", "t", "writer", "without a lead"]);
    crew.until_got("writer", "without a lead");
    assert_eq!(crew.inside("pup", "crewmux send writer 'from a member'").code, 0);
    crew.until_got("writer", "from a member");
    crew.ok(&["task", "add", "--team", "t", "done without a lead", "--", "true"]);
    until("the task is done", || crew.json(&["task", "show", "--team", "t", "1"])["status"] == "completed");
    for verb in [&["shutdown", "writer"][..], &["stop", "writer"], &["restart", "writer"], &["down"]] {
        let ran = crew.fails(6, &[verb, &["--team", "t"]].concat());
        assert!(ran.err.contains("up --resume t") || ran.err.contains("--force"), "what helps: {}", ran.err);
    }
    let up = crew.fails(7, &["up", "spec.toml"]);
    assert!(up.err.contains("up --resume t"), "{}", up.err);

    crew.ok(&["up", "--resume", "t"]);
    assert_eq!(before, ["writer", "pup", "hand"].map(|m| crew.pid_of("t", m)), "nobody was started again");
    let status = crew.json(&["status"]);
    assert!(status["members"].as_array().expect("members").iter().all(|m| m["restarts"] == 0), "{status}");
    crew.ok(&["send", "writer", "and on"]);
    crew.until_got("writer", "and on");
    // It sees the end of those it took over.
    kill(before[0], "KILL");
    until("it is started again", || crew.status("t", "writer")["restarts"] == 1);
    let answer = crew.json(&["shutdown", "pup"]);
    assert_eq!(answer["stopped"][0], "pup");
    crew.fails(7, &["up", "--resume", "t"]);
}

#[test]
fn f21_of_two_leads_started_at_once_one_leads() {
    let crew = Crew::new();
    crew.up(&(team("t") + &crew.taker("writer")));
    for _ in 0..3 {
        kill_lead(&crew);
        let resume = || {
            let mut command = crew.command(&["up", "--resume", "t"]);
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts")
        };
        let both = [resume(), resume()].map(|child| Ran::from(child.wait_with_output().expect("ends")));
        let mut codes = both.iter().map(|r| r.code).collect::<Vec<_>>();
        codes.sort_unstable();
        assert_eq!(codes, [0, 7], "{both:#?}");
        // One that starts tmux is two for a moment.
        until("one leads", || leads(&crew) == 1);
    }
    // Two bare lead processes, and one beside the one that leads.
    let home = crew.home();
    let args = ["lead", "--home", home.to_str().expect("plain"), "--team", "t"];
    let third = crew.run(&args);
    assert_ne!(third.code, 0, "{third:?}");
    kill_lead(&crew);
    let bare = || crew.command(&args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("starts");
    let mut two = [bare(), bare()];
    until("one of them gives up", || two.iter_mut().any(|c| c.try_wait().expect("asks").is_some()));
    until("the other leads", || crew.json(&["status", "--team", "t"])["lead"]["alive"] == true);
    until("one leads", || leads(&crew) == 1);
    let ids = two.each_ref().map(std::process::Child::id);
    assert!(ids.contains(&crew.pid_of("t", "team-lead")));
    crew.ok(&["down"]);
    until("both are gone", || two.iter_mut().all(|c| c.try_wait().expect("asks").is_some()));
}

#[test]
fn f21_a_lead_killed_while_a_shutdown_is_open_leaves_it_to_the_next() {
    let crew = Crew::new();
    crew.up(&(team("t")
        + &crew.puppet("hand")
        + "on_shutdown = \"ask\"\n"
        + &crew.puppet("other")
        + "on_shutdown = \"ask\"\n"));
    let ask = |name: &str| {
        let mut command = crew.command(&["shutdown", name, "--grace", "60s"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts")
    };
    let asked = [ask("hand"), ask("other")];
    until("both were asked", || crew.json(&["requests"]).as_array().is_some_and(|r| r.len() == 2));
    let open = crew.json(&["requests"]);
    let id_of = |name: &str| {
        let find = |r: &&Value| {
            r["body"].to_string().contains(name) || r["member"] == name || r["summary"].to_string().contains(name)
        };
        let found = open.as_array().expect("a list").iter().find(find).unwrap_or_else(|| panic!("{open}"));
        found["id"].as_str().expect("an id").to_owned()
    };
    let (hand, other) = (id_of("hand"), id_of("other"));
    kill_lead(&crew);
    for asked in asked {
        let ran = Ran::from(asked.wait_with_output().expect("ends"));
        assert_eq!(ran.code, 6, "the asker hears of it: {ran:?}");
    }
    // One answers while nobody leads, the other one later.
    crew.order("hand", &format!("crewmux approve {hand}"));
    until("it has left", || crew.status("t", "hand")["alive"] == false);
    crew.ok(&["up", "--resume", "t"]);
    until("its end counts", || crew.status("t", "hand")["exit"]["reason"] == "shutdown");
    assert_eq!(crew.status("t", "hand")["restarts"], 0);
    let open = crew.json(&["requests"]);
    assert_eq!(open.as_array().map(Vec::len), Some(1), "{open}");
    let said = crew.inside("other", &format!("crewmux reject {other} --reason 'not done'"));
    assert_eq!(said.code, 0, "{said:?}");
    until("it is decided", || crew.json(&["requests"]).as_array().is_some_and(Vec::is_empty));
    assert_eq!(crew.status("t", "other")["alive"], true);
    let all = crew.json(&["requests", "--all"]);
    let states: Vec<&str> = all.as_array().expect("a list").iter().filter_map(|r| r["state"].as_str()).collect();
    assert_eq!(states.len(), 2, "{all}");
    assert!(states.contains(&"rejected"), "{all}");
    assert!(states.contains(&"approved"), "an answer given without a lead counts too: {all}");
}

#[test]
fn f21_a_shutdown_open_across_leads_still_ends_at_its_deadline() {
    let crew = Crew::new();
    crew.up(&(team("t") + &crew.puppet("hand") + "on_shutdown = \"ask\"\n"));
    let mut ask = crew.command(&["shutdown", "hand", "--grace", "1500ms"]);
    let mut ask = ask.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("starts");
    until("it was asked", || crew.json(&["requests"]).as_array().is_some_and(|r| r.len() == 1));
    kill_lead(&crew);
    crew.ok(&["up", "--resume", "t"]);
    until("it is gone", || crew.status("t", "hand")["alive"] == false);
    until("and out", || crew.entry("t", "hand")["is_active"] == false);
    crew.fails(4, &["send", "hand", "too late"]);
    assert_eq!(crew.status("t", "hand")["restarts"], 0);
    ask.wait().expect("ends");
}
