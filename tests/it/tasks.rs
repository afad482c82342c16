//! The board: F46 to F49.

use std::process::Stdio;

use serde_json::Value;

use crate::support::{Crew, kill, until};

pub fn task(crew: &Crew, id: &str) -> Value {
    crew.json(&["task", "show", id])
}

/// Workers that take nothing by themselves, since the tasks of these tests have no program.
pub fn idle(name: &str, members: usize) -> String {
    let mut spec = format!("v = 1\nname = \"{name}\"\n");
    for n in 0..members {
        spec += &format!("[[member]]\nname = \"m{n}\"\nengine = \"worker\"\n");
    }
    spec
}

#[test]
fn f46_a_task_is_won_once_and_a_member_wins_one() {
    let crew = Crew::new();
    crew.up(&idle("race", 10));
    for n in 0..8 {
        crew.ok(&["task", "add", &format!("t{n}")]);
    }
    let children: Vec<_> = (0..32)
        .map(|n| {
            let mut command = crew.command(&["task", "claim", "--json", "--member", &format!("m{}", n % 10)]);
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts")
        })
        .collect();
    let mut won = Vec::new();
    for child in children {
        let done = child.wait_with_output().expect("it ends");
        let answer: Value = serde_json::from_slice(&done.stdout).expect("json");
        match done.status.code() {
            Some(0) => won.push((
                answer["id"].as_str().expect("id").to_owned(),
                answer["owner"].as_str().expect("owner").to_owned(),
            )),
            Some(7) => assert_eq!(answer, Value::Null),
            other => panic!("{other:?}: {}", String::from_utf8_lossy(&done.stderr)),
        }
    }
    assert_eq!(won.len(), 8, "{won:?}");
    let tasks: std::collections::BTreeSet<_> = won.iter().map(|(id, _)| id).collect();
    let owners: std::collections::BTreeSet<_> = won.iter().map(|(_, owner)| owner).collect();
    assert_eq!((tasks.len(), owners.len()), (8, 8), "{won:?}");
    let board = crew.json(&["task", "list"]);
    assert!(
        board
            .as_array()
            .expect("tasks")
            .iter()
            .all(|t| t["status"] == "in_progress" && t["epoch"] == 1 && t["attempts"] == 1)
    );
    assert_eq!(crew.json(&["status"])["tasks"]["in_progress"], 8);
}

#[test]
fn f46_the_limit_is_the_specs() {
    let crew = Crew::new();
    crew.up(&idle("limit", 1).replace("[[member]]", "[limits]\nclaims_per_member = 2\n[[member]]"));
    for n in 0..3 {
        crew.ok(&["task", "add", &format!("t{n}")]);
    }
    crew.ok(&["task", "claim", "--member", "m0"]);
    crew.ok(&["task", "claim", "--member", "m0"]);
    let third = crew.fails(7, &["task", "claim", "3", "--member", "m0"]);
    assert!(third.err.contains("2 at most"), "{}", third.err);
    crew.ok(&["task", "done", "1", "--member", "m0"]);
    crew.ok(&["task", "claim", "3", "--member", "m0"]);
}

#[test]
fn f47_nothing_starts_before_its_blockers_are_completed() {
    let crew = Crew::new();
    crew.up(&idle("order", 2));
    crew.ok(&["task", "add", "first"]);
    crew.ok(&["task", "add", "second", "--blocked-by", "1"]);
    crew.ok(&["task", "add", "third", "--blocked-by", "2"]);
    let claim = |id: &str, code: i32| crew.fails(code, &["task", "claim", id, "--member", "m0"]);
    let refused = claim("2", 7);
    assert!(refused.err.contains("waits for 1"), "{}", refused.err);
    crew.fails(7, &["task", "start", "2", "--member", "m0"]);
    // Neither a claim nor an owner makes it start, and who has not claimed it cannot end it.
    crew.fails(7, &["task", "done", "2", "--member", "m0"]);
    crew.ok(&["task", "assign", "2", "m0"]);
    claim("2", 7);
    claim("1", 0);
    crew.fails(7, &["task", "claim", "2", "--member", "m1"]);
    crew.ok(&["task", "release", "1", "--member", "m0"]);
    claim("2", 7);
    claim("1", 0);
    crew.ok(&["task", "done", "1", "--member", "m0"]);
    claim("3", 7);
    claim("2", 0);
    // A blocker that is added later counts as well.
    crew.ok(&["task", "add", "late blocker", "--blocks", "3"]);
    crew.ok(&["task", "done", "2", "--member", "m0"]);
    claim("3", 7);
    // A failed blocker fails what waits for it, down the line.
    crew.ok(&["task", "add", "fourth", "--blocked-by", "3"]);
    claim("4", 0);
    crew.ok(&["task", "fail", "4", "--result", "no way", "--member", "m0"]);
    assert_eq!(task(&crew, "3")["status"], "failed");
    assert_eq!(task(&crew, "3")["result"]["error"], "blocked by 4: failed");
    assert_eq!(task(&crew, "5")["status"], "failed");
    assert_eq!(task(&crew, "5")["result"]["error"], "blocked by 4: failed", "the root is named");
    // And one that was deleted.
    crew.ok(&["task", "add", "sixth"]);
    crew.ok(&["task", "add", "seventh", "--blocked-by", "6"]);
    crew.ok(&["task", "rm", "6"]);
    assert_eq!(task(&crew, "7")["status"], "failed");
    // Circles are refused, whole.
    crew.ok(&["task", "add", "a"]);
    crew.ok(&["task", "add", "b", "--blocked-by", "8"]);
    let circle = crew.fails(2, &["task", "add", "c", "--blocked-by", "9", "--blocks", "8"]);
    assert!(circle.err.contains("wait for each other"), "{}", circle.err);
    assert_eq!(
        crew.json(&["task", "list"]).as_array().map(|t| t.iter().filter(|t| t["subject"] == "c").count()),
        Some(0)
    );
    crew.fails(3, &["task", "add", "d", "--blocked-by", "99"]);
    crew.fails(3, &["task", "show", "99"]);
}

#[test]
fn f48_a_dead_owners_task_returns_and_its_late_word_is_refused() {
    let crew = Crew::new();
    crew.up(&format!("{}{}", idle("death", 2), crew.puppet("hand")));
    crew.ok(&["task", "add", "work", "--retries", "1"]);
    let claimed = crew.inside("hand", "crewmux task claim 1 --json");
    assert_eq!(claimed.code, 0, "{claimed:#?}");
    assert_eq!(task(&crew, "1")["epoch"], 1);
    let pid = u32::try_from(crew.status("death", "hand")["pid"].as_u64().expect("a pid")).expect("a pid");
    kill(pid, "KILL");
    until("the task is back", || task(&crew, "1")["status"] == "pending");
    let back = task(&crew, "1");
    assert_eq!((back["attempts"].as_u64(), back["epoch"].as_u64()), (Some(1), Some(2)), "{back}");
    crew.ok(&["task", "claim", "1", "--member", "m0"]);
    until("the owner is back", || {
        crew.status("death", "hand")["alive"] == true && crew.status("death", "hand")["state"] == "idle"
    });
    let late = crew.inside("hand", "crewmux task done 1 --epoch 1 --result late");
    assert_eq!(late.code, 7, "{late:#?}");
    assert!(late.err.contains("drop the work"), "{}", late.err);
    let late = crew.inside("hand", "CREWMUX_TASK=1 CREWMUX_EPOCH=1 crewmux task fail 1");
    assert_eq!(late.code, 7, "{late:#?}");
    assert_eq!(task(&crew, "1")["status"], "in_progress");
    assert_eq!(task(&crew, "1")["owner"], "m0");
    // A task that kills whoever takes it ends: its retries and two lost lives more.
    for (member, attempt) in [("m0", 2), ("hand", 3), ("m1", 4)] {
        if attempt > 2 {
            crew.ok(&["task", "claim", "1", "--member", member]);
        }
        assert_eq!(task(&crew, "1")["attempts"], attempt);
        let pid = u32::try_from(crew.status("death", member)["pid"].as_u64().expect("a pid")).expect("a pid");
        kill(pid, "KILL");
        until("the claim is over", || task(&crew, "1")["status"] != "in_progress");
    }
    let lost = task(&crew, "1");
    assert_eq!(lost["status"], "failed");
    assert!(lost["result"]["error"].as_str().is_some_and(|e| e.contains("attempt 4")), "{lost}");
}

#[test]
fn f48_an_owner_that_wakes_late_is_refused() {
    let crew = Crew::new();
    crew.up("v = 1\nname = \"late\"\n[[member]]\nname = \"hand\"\nengine = \"worker\"\n");
    crew.ok(&[
        "task",
        "add",
        "slow",
        "--retries",
        "3",
        "--run",
        "--",
        "sh",
        "-c",
        "echo $$ >pid; while [ ! -e go ]; do sleep 0.05; done",
    ]);
    crew.awaits("pid");
    let first = crew.status("late", "hand")["pid"].as_u64().expect("a pid");
    // Its task is taken from it while it is stopped.
    let pid = u32::try_from(first).expect("a pid");
    kill(pid, "STOP");
    crew.ok(&["task", "release", "1"]);
    crew.ok(&["task", "assign", "1", "hand"]);
    assert_eq!(task(&crew, "1")["epoch"], 2);
    crew.write("go", "");
    kill(pid, "CONT");
    // Its late word counts for nothing; then it takes the task again and does it.
    until("it is done", || task(&crew, "1")["status"] == "completed");
    assert_eq!(task(&crew, "1")["epoch"], 3, "{}", task(&crew, "1"));
    let reports = crew.ok(&["inbox", "--all", "--json", "--type", "report"]);
    assert_eq!(reports.lines().count(), 1, "{reports}");
}

#[test]
fn f49_a_task_goes_to_who_can_do_it() {
    let crew = Crew::new();
    crew.up("v = 1\nname = \"roles\"\n[[member]]\nname = \"plain\"\nengine = \"worker\"\n\
         [[member]]\nname = \"rusty\"\nengine = \"worker\"\ncapabilities = [\"rust\", \"review\"]\n");
    crew.ok(&["task", "add", "needs rust", "--requires", "rust"]);
    let refused = crew.fails(4, &["task", "claim", "1", "--member", "plain"]);
    assert!(refused.err.contains("requires `rust`"), "{}", refused.err);
    crew.fails(7, &["task", "claim", "--member", "plain"]);
    crew.ok(&["task", "claim", "1", "--member", "rusty"]);
    // A worker that cannot do it leaves it alone.
    crew.ok(&["task", "add", "run it", "--requires", "review", "--run", "--", "sh", "-c", "echo $CREWMUX_MEMBER >who"]);
    crew.ok(&["task", "done", "1", "--member", "rusty"]);
    assert_eq!(crew.awaits("who"), "rusty\n");
    crew.ok(&["task", "add", "nobody can", "--requires", "magic", "--run", "--", "true"]);
    crew.fails(4, &["task", "claim", "3", "--member", "rusty"]);
    crew.ok(&["wait", "--for", "done", "--timeout", "20s"]);
    assert_eq!(task(&crew, "3")["status"], "pending");
    // An owner is a role as well.
    crew.ok(&["task", "add", "kept", "--owner", "plain"]);
    crew.fails(4, &["task", "claim", "4", "--member", "rusty"]);
}
