//! Requests: F40 to F43.

use serde_json::Value;

use crate::support::{Crew, Ran, until};

/// A team of a puppet that plans and a puppet that is nobody to it.
fn planners(crew: &Crew) -> String {
    format!(
        "v = 1\nname = \"plans\"\n{}plan_mode_required = true\nstate_dirs = [\".\"]\n\
         execute = [\"sh\", \"-c\", \"env | grep ^CREWMUX_PLAN | sort >executing; echo end >>executing; exec sleep 1000\"]\n{}",
        crew.puppet("planner"),
        crew.puppet("stranger")
    )
}

/// Submits a plan from the planner's pane; its id.
fn submit(crew: &Crew, text: &str) -> String {
    let sent =
        crew.inside("planner", &format!("printf '%s\\n' '{text}' | crewmux plan submit --summary 'the {text}' --json"));
    assert_eq!(sent.code, 0, "{sent:#?}\n{}", crew.trouble());
    let answer: Value = serde_json::from_str(&sent.out).expect("json");
    let id = answer["id"].as_str().expect("an id").to_owned();
    until("the lead has the plan", || state(crew, &id) == "open");
    id
}

fn request(crew: &Crew, id: &str) -> Value {
    let ledger = crew.journal(&crew.team("plans").join("requests.jsonl"));
    let _ = &ledger;
    let shown = crew.run(&["plan", "show", id, "--json"]);
    serde_json::from_str(&shown.out).unwrap_or(Value::Null)
}

fn state(crew: &Crew, id: &str) -> String {
    request(crew, id)["state"].as_str().unwrap_or_default().to_owned()
}

/// A refusal that changes nothing.
fn inert(crew: &Crew, id: &str, tried: &Ran, code: i32, word: &str) {
    assert_eq!(tried.code, code, "{tried:#?}");
    assert!(tried.err.contains(word), "it says so ({word}): {}", tried.err);
    assert!(tried.err.contains("hint:"), "{}", tried.err);
    let _ = (crew, id);
}

#[test]
fn f40_a_plan_waits_until_the_lead_or_the_operator_decides() {
    let crew = Crew::new();
    crew.up(&planners(&crew));
    let waited = crew.inside("planner", "echo build it | crewmux plan submit --wait=400ms --json");
    assert_eq!(waited.code, 5, "nobody decided: {waited:#?}");
    let answer: Value = serde_json::from_str(&waited.out).expect("json");
    assert_eq!(answer["state"], "open");
    let id = answer["id"].as_str().expect("an id");
    // Its own program does not decide it, by whatever name it goes.
    let tried = crew.inside("planner", &format!("crewmux approve {id}"));
    inert(&crew, id, &tried, 4, "");
    let tried = crew.inside("planner", &format!("env -u CREWMUX_MEMBER setsid -w crewmux approve {id}"));
    inert(&crew, id, &tried, 4, "");
    assert_eq!(state(&crew, id), "open");
    assert_eq!(crew.status("plans", "planner")["state"], "waiting");
    let open = crew.json(&["requests"]);
    assert_eq!(open.as_array().map(Vec::len), Some(1), "{open}");
    assert_eq!(open[0]["id"], id);
    assert_eq!(crew.json(&["status"])["requests"], 1);
    crew.ok(&["reject", id, "--reason", "not yet"]);
    assert_eq!(state(&crew, id), "rejected");
}

#[test]
fn f41_a_second_a_late_a_strangers_and_a_changed_decision_are_inert() {
    let crew = Crew::new();
    crew.up(&planners(&crew));
    let id = submit(&crew, "first");

    let tried = crew.inside("stranger", &format!("crewmux approve {id}"));
    inert(&crew, &id, &tried, 4, "");
    let tried = crew.inside("stranger", &format!("crewmux reject {id} --reason mine"));
    inert(&crew, &id, &tried, 4, "");
    assert_eq!(state(&crew, &id), "open");

    // For another plan than the one that lies there.
    let other = "0".repeat(64);
    let tried = crew.run(&["approve", &id, "--hash", &other]);
    inert(&crew, &id, &tried, 7, "hash");
    assert_eq!(state(&crew, &id), "open");

    let hash = request(&crew, &id)["hash"].as_str().expect("a hash").to_owned();
    crew.ok(&["reject", &id, "--hash", &hash, "--reason", "smaller"]);
    let tried = crew.run(&["approve", &id]);
    inert(&crew, &id, &tried, 7, "rejected");
    let tried = crew.run(&["reject", &id, "--reason", "again"]);
    inert(&crew, &id, &tried, 7, "rejected");
    assert_eq!(state(&crew, &id), "rejected");
    assert_eq!(request(&crew, &id)["decision"]["feedback"], "smaller");

    // Too late: the life that asked is over.
    let id = submit(&crew, "second");
    crew.ok(&["stop", "planner"]);
    assert_eq!(state(&crew, &id), "withdrawn");
    let tried = crew.run(&["approve", &id]);
    inert(&crew, &id, &tried, 7, "withdrawn");
    assert!(!crew.dir().join("executing").exists(), "nothing was executed");
    assert_eq!(crew.entry("plans", "planner")["plan_id"], Value::Null);

    let tried = crew.run(&["approve", "ffffffff"]);
    assert_eq!(tried.code, 3, "{tried:#?}");
}

#[test]
fn f42_an_approval_takes_the_member_out_of_plan_mode_by_itself() {
    let crew = Crew::new();
    crew.up(&planners(&crew));
    let before = crew.entry("plans", "planner");
    assert_eq!(crew.inside("planner", "echo $CREWMUX_PLAN_MODE").out, "plan\n");
    let id = submit(&crew, "build");
    crew.ok(&["approve", &id, "--feedback", "go on"]);
    let seen = loop {
        let seen = crew.awaits("executing");
        if seen.ends_with("end\n") {
            break seen;
        }
    };
    assert_eq!(seen, format!("CREWMUX_PLAN_ID={id}\nCREWMUX_PLAN_MODE=execute\nend\n"));
    until("it is a member again", || crew.status("plans", "planner")["state"] == "idle");
    let after = crew.entry("plans", "planner");
    assert_ne!(after["life"], before["life"]);
    assert_eq!(after["is_active"], true);
    assert_eq!(after["plan_id"], id.as_str());
    assert_eq!(crew.json(&["status"])["requests"], 0);
    // The execution outlives a crash: it is not asked to plan again.
    crew.write("executing", "");
    crew.ok(&["restart", "planner"]);
    until("it executes again", || crew.read("executing").ends_with("end\n"));
    assert!(crew.read("executing").contains(&format!("CREWMUX_PLAN_ID={id}")));
}

#[test]
fn f43_a_member_that_waits_for_its_plan_hears_mail_and_shutdowns() {
    let crew = Crew::new();
    crew.up(&planners(&crew));
    let order = crew.order("planner", "echo slow | crewmux plan submit --wait --json");
    until("the plan is open", || crew.json(&["requests"]).as_array().is_some_and(|r| r.len() == 1));
    let id = crew.json(&["requests"])[0]["id"].as_str().expect("an id").to_owned();
    crew.ok(&["send", "planner", "while you wait"]);
    assert_eq!(crew.status("plans", "planner")["unread"], 1);
    assert!(crew.ok(&["inbox", "--member", "planner"]).contains("while you wait"));
    assert_eq!(crew.read(&format!("{order}.code")), "", "it still waits");
    crew.ok(&["shutdown", "planner", "--grace", "20s"]);
    assert_eq!(crew.status("plans", "planner")["alive"], false);
    assert_eq!(state(&crew, &id), "withdrawn");
    assert!(!crew.events("plans").iter().any(|e| e["type"] == "end_forced" || e["type"] == "shutdown_forced"));
}
