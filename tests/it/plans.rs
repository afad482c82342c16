//! Plan mode from the first plan to the execution.

use serde_json::Value;

use crate::support::{Crew, until};

/// A planner that submits, takes the feedback into the next plan, and goes on until one is approved.
const PLANNER: &str = r#"#!/bin/sh
text=plain
while :; do
    printf '%s\n' "$text" >plan.txt
    crewmux plan submit plan.txt --wait --json >answer.part
    code=$?
    cat answer.part >>answers
    echo "exit $code" >>answers
    [ "$code" = 1 ] || exit 0
    text=$(sed 's/.*"feedback": *"\([^"]*\)".*/\1/' answer.part | tr -d '\n')
done
"#;

/// Planning writes nothing; the folder is opened for what these tests want to know of it.
fn plan(command: &str) -> String {
    format!(
        "v = 1\nname = \"planned\"\n[[member]]\nname = \"maker\"\nengine = \"command\"\nplan_mode_required = true\n\
         state_dirs = [\".\"]\ncommand = {command}\nexecute = [\"sh\", \"-c\", \"crewmux plan show $CREWMUX_PLAN_ID >made; exec sleep 1000\"]\n"
    )
}

/// The plan that is open; waits for one that is not `but`.
fn open(crew: &Crew, but: &str) -> Value {
    let mut found = Value::Null;
    until("a plan is open", || {
        let open = crew.json(&["requests"]);
        found = open.as_array().and_then(|all| all.iter().find(|r| r["id"] != but)).cloned().unwrap_or(Value::Null);
        !found.is_null()
    });
    found
}

#[test]
fn reject_with_feedback_submit_again_approve_execute() {
    let crew = Crew::new();
    crew.script("planner.sh", PLANNER);
    crew.up(&plan("[\"./planner.sh\"]"));
    let first = open(&crew, "");
    assert_eq!(first["kind"], "plan");
    assert_eq!(first["from"], "maker@planned");
    assert_eq!(first["body"]["plan"], "plain\n");
    let first_id = first["id"].as_str().expect("an id");
    assert_eq!(crew.ok(&["plan", "show", first_id]), "plain\n");
    crew.ok(&["reject", first_id, "--reason", "with tests"]);

    let second = open(&crew, first_id);
    let second_id = second["id"].as_str().expect("an id");
    assert!(second["body"]["plan"].as_str().is_some_and(|p| p.contains("with tests")), "{second}");
    assert_ne!(second["hash"], first["hash"]);
    assert!(!crew.dir().join("made").exists(), "nothing is done before the approval");
    // The hash of the first does not open the second.
    let hash = first["hash"].as_str().expect("a hash");
    crew.fails(7, &["approve", second_id, "--hash", hash]);
    crew.ok(&["approve", second_id, "--hash", second["hash"].as_str().expect("a hash")]);

    let made = crew.awaits("made");
    assert!(made.contains("with tests"), "{made}");
    let answers = crew.read("answers");
    assert!(answers.contains("exit 1") && answers.contains("exit 0"), "both waits ended with their word: {answers}");
    assert!(answers.contains("\"approved\"") && answers.contains("\"rejected\""), "{answers}");
    // Each plan was written once and stays.
    let plans = crew.team("planned").join("plans");
    assert_eq!(std::fs::read_to_string(plans.join(format!("{first_id}.md"))).expect("a plan"), "plain\n");
    assert!(plans.join(format!("{second_id}.md")).exists());
    // The planning program is gone.
    let planner = crew.dir().join("planner.sh").display().to_string();
    until("one program runs", || {
        crate::support::with_environment("CREWMUX_PLAN_MODE", "plan").iter().all(|pid| {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            !String::from_utf8_lossy(&line).contains(&planner)
        })
    });
}

#[test]
fn a_planner_may_end_while_its_plan_is_open() {
    let crew = Crew::new();
    crew.up(&plan("[\"sh\", \"-c\", \"echo short | crewmux plan submit\"]"));
    let open = open(&crew, "");
    until("it waits", || crew.status("planned", "maker")["state"] == "waiting");
    assert_eq!(crew.status("planned", "maker")["alive"], true);
    crew.ok(&["approve", open["id"].as_str().expect("an id")]);
    assert_eq!(crew.awaits("made"), "short\n");
    assert_eq!(crew.entry("planned", "maker")["is_active"], true);
}

#[test]
fn a_planner_that_ended_is_started_again_when_its_plan_is_rejected() {
    let crew = Crew::new();
    crew.up(&plan("[\"sh\", \"-c\", \"echo short | crewmux plan submit\"]"));
    let first = open(&crew, "");
    let first_id = first["id"].as_str().expect("an id");
    until("it waits", || crew.status("planned", "maker")["state"] == "waiting");
    crew.ok(&["reject", first_id, "--reason", "longer"]);
    // It finds the feedback in its mailbox.
    let second = open(&crew, first_id);
    assert_ne!(second["id"], first["id"]);
    let mail = crew.ok(&["inbox", "--member", "maker", "--all", "--json"]);
    assert!(mail.contains("longer"), "{mail}");
    crew.ok(&["approve", second["id"].as_str().expect("an id")]);
    assert_eq!(crew.awaits("made"), "short\n");
}

#[test]
fn a_planner_that_ends_well_on_a_rejection_has_not_done_its_work() {
    let crew = Crew::new();
    crew.up(&plan("[\"sh\", \"-c\", \"echo short | crewmux plan submit --wait; exit 0\"]"));
    let first = open(&crew, "");
    let first_id = first["id"].as_str().expect("an id");
    crew.ok(&["reject", first_id, "--reason", "longer"]);
    let second = open(&crew, first_id);
    crew.ok(&["approve", second["id"].as_str().expect("an id")]);
    assert_eq!(crew.awaits("made"), "short\n");
}

#[test]
fn the_lead_decides_where_the_spec_says_so() {
    let crew = Crew::new();
    crew.script("planner.sh", PLANNER);
    crew.up(&plan("[\"./planner.sh\"]").replace("[[member]]", "[lead]\nplans = \"approve\"\n[[member]]"));
    assert_eq!(crew.awaits("made"), "plain\n");
    let crew = Crew::new();
    crew.up(&plan(
        "[\"sh\", \"-c\", \"echo x | crewmux plan submit --wait --json >answer; echo $? >code; exec sleep 1000\"]",
    )
    .replace("[[member]]", "[lead]\nplans = \"reject\"\n[[member]]"));
    assert_eq!(crew.awaits("code"), "1\n");
    assert!(!crew.dir().join("made").exists());
}

#[test]
fn a_member_without_plan_mode_goes_on_when_answered() {
    let crew = Crew::new();
    crew.up(&format!("v = 1\nname = \"free\"\n{}", crew.puppet("hand")));
    let life = crew.entry("free", "hand")["life"].clone();
    let order = crew.order("hand", "echo idea | crewmux plan submit --wait --json");
    let id = open(&crew, "")["id"].as_str().expect("an id").to_owned();
    crew.ok(&["approve", &id, "--feedback", "fine"]);
    let done = crew.outcome(&order);
    assert_eq!(done.code, 0, "{done:#?}");
    let answer: Value = serde_json::from_str(&done.out).expect("json");
    assert_eq!(
        (answer["id"].as_str(), answer["state"].as_str(), answer["feedback"].as_str()),
        (Some(&*id), Some("approved"), Some("fine"))
    );
    assert_eq!(crew.inside("hand", "echo $CREWMUX_PLAN_MODE").out, "off\n");
    assert_eq!(crew.entry("free", "hand")["life"], life, "the same life");
    // The operator submits none, and an empty one is none.
    assert_eq!(crew.inside("hand", "echo ' ' | crewmux plan submit").code, 2);
    crew.write("p", "a plan");
    crew.fails(4, &["plan", "submit", "p"]);
}
