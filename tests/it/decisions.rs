//! Shutdowns that the program itself answers.

use std::process::Stdio;

use serde_json::Value;

use crate::support::{Crew, Ran, until};

fn asked(crew: &Crew, deliver: &str) {
    let spec = format!("v = 1\nname = \"ask\"\n{}on_shutdown = \"ask\"\n{deliver}", crew.puppet("hand"));
    crew.up(&spec);
}

/// Starts a shutdown and waits until the request is with the member.
fn shutdown(crew: &Crew, args: &[&str]) -> (std::process::Child, String) {
    let mut command = crew.command(&[&["shutdown", "hand"], args].concat());
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let mut id = String::new();
    until("the request is open", || {
        let open = crew.json(&["requests"]);
        id = open[0]["id"].as_str().unwrap_or_default().to_owned();
        !id.is_empty()
    });
    until("the program can read it", || crew.inside("hand", "crewmux inbox --json").out.contains("shutdown_request"));
    (child, id)
}

fn ended(child: std::process::Child) -> Ran {
    Ran::from(child.wait_with_output().expect("it ends"))
}

#[test]
fn the_program_approves() {
    let crew = Crew::new();
    asked(&crew, "");
    let (child, id) = shutdown(&crew, &["--reason", "work is done", "--grace", "30s"]);
    let mail = crew.inside("hand", "crewmux inbox --json").out;
    assert!(mail.contains("work is done"), "the reason is told: {mail}");
    crew.order("hand", &format!("crewmux approve {id}"));
    let ended = ended(child);
    assert_eq!(ended.code, 0, "{ended:#?}");
    let member = crew.status("ask", "hand");
    assert_eq!(member["alive"], false);
    assert_eq!(member["exit"]["reason"], "shutdown", "{member}");
    assert_eq!(crew.entry("ask", "hand")["is_active"], false);
    assert_eq!(crew.tmux("ask", &["list-panes", "-a"]).lines().count(), 1, "its pane is closed");
}

#[test]
fn the_program_refuses_and_whoever_asked_hears_why() {
    let crew = Crew::new();
    asked(&crew, "");
    let (child, id) = shutdown(&crew, &["--grace", "30s"]);
    // Neither the operator by himself nor a stranger answers for it.
    crew.fails(4, &["approve", &id]);
    let refused = crew.inside("hand", &format!("crewmux reject {id} --reason 'half a file is written'"));
    assert_eq!(refused.code, 0, "{refused:#?}");
    let ended = ended(child);
    assert_eq!(ended.code, 1, "{ended:#?}");
    assert!(ended.err.contains("half a file is written"), "{}", ended.err);
    assert_eq!(crew.status("ask", "hand")["alive"], true);
    assert_eq!(crew.inside("hand", "echo on").out, "on\n");
    // A word that comes twice counts once.
    assert_eq!(crew.inside("hand", &format!("crewmux approve {id}")).code, 7);
    assert_eq!(crew.status("ask", "hand")["alive"], true);
    // The whole team stays up too.
    let (mut down, id) = {
        let child = crew.command(&["down", "--grace", "30s"]).stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
        let mut id = String::new();
        until("asked again", || {
            id = crew.json(&["requests"])[0]["id"].as_str().unwrap_or_default().to_owned();
            !id.is_empty()
        });
        (child.expect("it starts"), id)
    };
    until("the request is with the member", || {
        crew.inside("hand", &format!("crewmux reject {id} --reason 'still not'")).code == 0
    });
    assert_eq!(down.wait().expect("it ends").code(), Some(1));
    assert_eq!(crew.status("ask", "hand")["alive"], true);
}

#[test]
fn silence_ends_it_at_the_deadline() {
    let crew = Crew::new();
    asked(&crew, "");
    let (child, id) = shutdown(&crew, &["--grace", "700ms"]);
    let ended = ended(child);
    assert_eq!(ended.code, 0, "{ended:#?}");
    assert_eq!(crew.status("ask", "hand")["alive"], false);
    let events = crew.events("ask");
    assert!(events.iter().any(|e| e["type"] == "request_expired" && e["request_id"] == id.as_str()), "{events:#?}");
    assert!(events.iter().any(|e| e["type"] == "shutdown_forced"));
    crew.fails(7, &["approve", &id, "--member", "hand"]);
}

#[test]
fn the_operator_may_speak_for_a_member() {
    let crew = Crew::new();
    asked(&crew, "");
    let (child, id) = shutdown(&crew, &["--grace", "30s"]);
    crew.ok(&["approve", &id, "--member", "hand"]);
    assert_eq!(ended(child).code, 0);
    let all: Value = crew.json(&["requests", "--all"]);
    assert!(
        all.as_array().is_some_and(|r| r.iter().any(|r| r["id"] == id.as_str() && r["state"] == "approved")),
        "{all}"
    );
}
