//! A program that somebody else started is a member while it is an MCP client.

use serde_json::{Value, json};

use super::library::{block_on, call, connect, json};
use crate::support::{Crew, kill, until};

const SPEC: &str = "v = 1\nname = \"host\"\n[[member]]\nname = \"w\"\n";

fn state(crew: &Crew) -> String {
    crew.status("host", "scout")["state"].as_str().unwrap_or_default().to_owned()
}

/// What an MCP client is configured with, as its arguments.
fn server(joined: &Value) -> Vec<String> {
    let args = joined["mcp"]["mcpServers"]["crewmux"]["args"].as_array().expect("arguments");
    args.iter().map(|arg| arg.as_str().expect("a word").to_owned()).collect()
}

#[test]
fn a_program_started_by_hand_joins_comes_and_goes() {
    let crew = Crew::new();
    crew.up(SPEC);
    let joined = crew.json(&["join", "scout", "--capability", "rust"]);
    assert_eq!((joined["agent_id"].as_str(), state(&crew).as_str()), (Some("scout@host"), "away"));
    let args = server(&joined);
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    assert_eq!(args, ["mcp", "--team", "host", "--as", "scout"]);
    crew.ok(&["send", "scout", "while you were away"]);
    crew.ok(&["task", "add", "--requires", "rust", "a task"]);
    block_on(async {
        let client = connect(&crew, &args).await;
        until("it has come", || state(&crew) == "idle");
        let entry = crew.entry("host", "scout");
        assert_eq!((entry["engine"].as_str(), &entry["pane_id"]), (Some("mcp"), &Value::Null), "{entry}");
        let seen = json(&client, "list_members", json!({})).await;
        assert_eq!(seen["you"], "scout");
        let (mail, _) = call(&client, "read_inbox", json!({})).await;
        assert!(mail.contains("while you were away"), "{mail}");
        let (text, refused) = call(&client, "spawn_member", json!({"name": "x"})).await;
        assert!(refused && text.contains("flat"), "{text}");
        json(&client, "send_message", json!({"to": "w", "text": "hello"})).await;
        assert_eq!(crew.inbox("host", "w")[0]["from"], "scout@host");
        json(&client, "task_update", json!({"id": "1", "status": "in_progress"})).await;
        // Two clients are not one member, and nobody else is it either.
        let second = crew.fails(7, &args);
        assert!(second.err.contains("another MCP client is `scout` already"), "{}", second.err);
        client.cancel().await.expect("it ends");
    });
    until("it is away again", || state(&crew) == "away");
    until("what it had goes back to the board", || crew.json(&["task", "show", "1"])["status"] == "pending");

    // Killed, it comes again, and what it had not read is still there.
    crew.ok(&["send", "scout", "still here?"]);
    block_on(async {
        let client = connect(&crew, &args).await;
        until("it has come", || state(&crew) == "idle");
        kill(crew.pid_of("host", "scout"), "KILL");
        until("it is away", || state(&crew) == "away");
        drop(client);
        let client = connect(&crew, &args).await;
        let (mail, _) = call(&client, "read_inbox", json!({})).await;
        assert!(mail.contains("still here?"), "{mail}");
        crew.ok(&["shutdown", "scout"]);
        until("it has ended", || state(&crew) == "exited");
    });
    let ended = crew.fails(7, &args);
    assert!(ended.err.contains("`crewmux restart scout`"), "{}", ended.err);
    let again = crew.ok(&["restart", "scout"]);
    assert!(again.contains("has its place again"), "{again}");
    assert_eq!(state(&crew), "away");
    crew.ok(&["stop", "scout"]);
    assert_eq!(state(&crew), "exited");
}

#[test]
fn a_guest_is_taken_over_by_the_next_lead_and_ends_with_the_team() {
    let crew = Crew::new();
    crew.up(SPEC);
    let args = server(&crew.json(&["join", "scout"]));
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    crew.ok(&["join", "other"]);
    block_on(async {
        let client = connect(&crew, &args).await;
        until("it has come", || state(&crew) == "idle");
        let lead = crew.json(&["status"])["lead"]["pid"].as_u64().expect("a lead");
        kill(u32::try_from(lead).expect("a pid"), "KILL");
        until("the lead is gone", || crew.json(&["status", "--team", "host"])["lead"]["alive"] == false);
        let refused = crew.fails(6, &["mcp", "--team", "host", "--as", "other"]);
        assert!(refused.err.contains("up --resume host"), "{}", refused.err);
        crew.ok(&["up", "--resume", "host"]);
        let seen = json(&client, "list_members", json!({})).await;
        assert_eq!(seen["lead_alive"], true, "{seen}");
        assert_eq!((state(&crew).as_str(), crew.status("host", "other")["state"].as_str()), ("idle", Some("away")));
        let pid = crew.pid_of("host", "scout");
        crew.ok(&["down"]);
        assert!(!crate::support::lives(pid));
    });
}

#[test]
fn what_cannot_join_is_told_why() {
    let crew = Crew::new();
    crew.up(&format!("{SPEC}{}", crew.puppet("hand")));
    let taken = crew.fails(7, &["join", "w"]);
    assert!(taken.err.contains("`w` is taken"), "{}", taken.err);
    let nobody = crew.fails(3, &["mcp", "--as", "scout"]);
    assert!(nobody.err.contains("`crewmux join scout`"), "{}", nobody.err);
    let flat = crew.inside("hand", "crewmux join scout");
    assert_eq!(flat.code, 4, "{}", flat.err);
    crew.ok(&["join", "scout"]);
    let other = crew.inside("hand", "crewmux mcp --as scout");
    assert!(other.code == 4 && other.err.contains("`hand` cannot act for `scout`"), "{}", other.err);
    // Whoever is no MCP client takes the place for a moment at most.
    let odd = crew.run(&["mcp", "--as", "scout"]);
    assert_eq!(odd.code, 0, "a client that went without a word: {}", odd.err);
    until("the place is free", || state(&crew).is_empty() || crew.status("host", "scout")["state"] == "away");
}
