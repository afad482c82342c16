//! The prompt that stays, in a pane; and the agent as a member of a team.

use serde_json::json;

use crate::model_server::{Answer, ModelServer, calls, results, says};
use crate::support::{Crew, until};

#[test]
fn a_person_talks_in_a_pane_is_asked_and_leaves() {
    let crew = Crew::new();
    let server = ModelServer::new(|n, _| match n {
        0 => Answer::Reply(says("HELLO-BACK")),
        1 => Answer::Reply(calls(&[("a", "Bash", json!({ "command": "echo x > made" }))])),
        2 => Answer::Reply(says("MADE-IT")),
        _ => Answer::Hang(says("ON-AND-ON"), 3),
    });
    let bin = env!("CARGO_BIN_EXE_crewmux");
    crew.up(&format!(
        "v = 1\nname = \"talk\"\n[[member]]\nname = \"seat\"\nengine = \"command\"\nrestart = \"never\"\n\
         command = [\"sh\", \"-c\", \"trap : INT; ANTHROPIC_BASE_URL={} ANTHROPIC_API_KEY=k {bin} agent; echo ENDED-$?; sleep 1000\"]\n",
        server.url
    ));
    let pane = crew.roster("talk")["members"]
        .as_array()
        .and_then(|all| all.iter().find(|m| m["name"] == "seat"))
        .and_then(|m| m["pane_id"].as_str())
        .expect("a pane")
        .to_owned();
    let screen = || crew.tmux("talk", &["capture-pane", "-p", "-J", "-S", "-200", "-t", &pane]);
    let sees = |word: &str| until(word, || screen().contains(word));
    let types = |text: &str| {
        crew.tmux("talk", &["send-keys", "-t", &pane, "-l", text]);
        crew.tmux("talk", &["send-keys", "-t", &pane, "Enter"]);
    };
    sees("/help for commands");
    types("hello");
    sees("HELLO-BACK");
    types("make it");
    sees("Allow?");
    assert!(!crew.dir().join("made").exists());
    types("y");
    sees("MADE-IT");
    assert!(crew.dir().join("made").exists());
    types("/cost");
    sees("3 requests");
    types("go on");
    sees("ON-AND-ON");
    crew.tmux("talk", &["send-keys", "-t", &pane, "C-c"]);
    sees("it was cancelled");
    types("/exit");
    sees("ENDED-0");
}

#[test]
fn a_member_s_agent_has_the_team_s_board_and_knows_its_place() {
    let crew = Crew::new();
    let server = ModelServer::of(vec![
        calls(&[("a", "TaskCreate", json!({ "subject": "from the agent" }))]),
        calls(&[("b", "TaskList", json!({}))]),
        says("noted"),
    ]);
    crew.up(&format!("v = 1\nname = \"crew\"\n{}", crew.puppet("hand")));
    let bin = env!("CARGO_BIN_EXE_crewmux");
    let script = format!("ANTHROPIC_BASE_URL={} ANTHROPIC_API_KEY=k {bin} agent -p 'note it'", server.url);
    let ran = crew.inside("hand", &script);
    assert_eq!((ran.code, ran.out.trim()), (0, "noted"), "{ran:#?}");
    assert!(crew.ok(&["task", "list", "--team", "crew"]).contains("from the agent"));
    let asked = server.asked();
    assert!(asked[0].json()["system"].to_string().contains("member `hand` of the team `crew`"));
    assert!(results(&asked[2].json())[0].2.contains("from the agent"));
    // Outside the team nobody is a member, whatever the environment says.
    let alone = ModelServer::of(vec![says("alone")]);
    let mut command = super::agent(&crew, &alone, &["-p", "x"]);
    command.env("CREWMUX_TEAM", "crew").env("CREWMUX_MEMBER", "hand");
    assert!(command.output().expect("it runs").status.success());
    assert!(!alone.asked()[0].json()["tools"].to_string().contains("TaskCreate"));
}
