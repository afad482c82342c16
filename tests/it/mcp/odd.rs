//! Clients that misbehave, and clients that are not who they say.

use serde_json::json;

use super::client::Client;
use crate::support::{Crew, until};

fn team(crew: &Crew) -> String {
    format!("v = 1\nname = \"odd\"\n{}{}", crew.puppet("hand"), crew.puppet("other"))
}

#[test]
fn junk_is_stepped_over_and_what_follows_is_answered() {
    let crew = Crew::new();
    crew.up(&team(&crew));
    let mut hand = Client::inside(&crew, "hand", "mcp");
    for line in
        ["", "no json", "{\"jsonrpc\":\"2.0\",", "\u{0}\u{1}", "[]", "17", "{\"jsonrpc\":\"1.0\",\"id\":1}", "{}"]
    {
        hand.write(line);
    }
    assert_eq!(hand.json("list_members", json!({}))["you"], "hand");
    let id = hand.ask("no/such/method", json!({}));
    assert!(hand.answer(id)["error"]["code"].is_number());
    let id = hand.ask("tools/call", json!({"name": "list_members", "arguments": "not an object"}));
    // Not to be parsed as a call: an error without an id, or with it; in any case the server goes on.
    until("it says so", || hand.said().iter().any(|m| m["error"].is_object() && (m["id"] == id || m["id"].is_null())));
    let refused = hand.refused("list_members", json!({"team": "another"}));
    assert!(refused.contains("`team`"), "{refused}");
    hand.refused("send_message", json!({"to": "other"}));
    hand.refused("send_message", json!({"to": "other", "text": 17}));
    let refused = hand.refused("send_message", json!({"to": "other", "text": "x", "reply_to": "../../etc"}));
    assert!(refused.contains("no id of a message"), "{refused}");
    assert_eq!(hand.json("list_members", json!({}))["you"], "hand");
    assert!(crew.inbox("odd", "other").is_empty());
}

#[test]
fn what_is_too_large_is_refused_and_nothing_is_left_of_it() {
    let crew = Crew::new();
    crew.up(&team(&crew));
    let mut hand = Client::inside(&crew, "hand", "mcp");
    let large = "x".repeat(9 * 1024 * 1024);
    let refused = hand.refused("send_message", json!({"to": "other", "text": large}));
    assert!(refused.contains("at most 8388608"), "{refused}");
    // A line that no text needs is dropped whole; the next is read.
    hand.write(&"y".repeat(21 * 1024 * 1024));
    let refused = hand.refused("request_permission", json!({"tool": "t", "input": "z".repeat(70_000)}));
    assert!(refused.contains("at most 65536"), "{refused}");
    let refused = hand.refused("submit_plan", json!({"plan": "p".repeat(300_000)}));
    assert!(refused.contains("at most 262144"), "{refused}");
    hand.refused("report", json!({"summary": "s", "result": "r".repeat(300_000)}));
    assert!(crew.inbox("odd", "other").is_empty());
    assert_eq!(crew.json(&["requests"]), json!([]));
    // What fits beside the message goes through whole.
    hand.json("send_message", json!({"to": "other", "text": "w".repeat(1024 * 1024)}));
    let mail = crew.ok(&["inbox", "--member", "other"]);
    assert!(mail.matches('w').count() >= 1024 * 1024);
}

#[test]
fn a_client_that_says_nothing_or_the_wrong_thing_first_ends_it() {
    let crew = Crew::new();
    crew.up(&team(&crew));
    let mut hand = Client::silent(&crew, "hand", "mcp");
    hand.close();
    assert_eq!(crew.outcome(&hand.order).code, 0, "a client that went is no failure");
    let mut hand = Client::silent(&crew, "hand", "mcp");
    hand.write("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
    let ended = crew.outcome(&hand.order);
    assert_eq!(ended.code, 1, "{ended:#?}");
    assert!(ended.err.contains("initialize") && ended.err.contains("hint:"), "{}", ended.err);
}

#[test]
fn nobody_is_served_in_anothers_name() {
    let crew = Crew::new();
    crew.up(&team(&crew));
    let tried = crew.inside("hand", "env -u CREWMUX_MEMBER crewmux mcp --as other </dev/null");
    assert_eq!(tried.code, 4, "{tried:#?}");
    let tried =
        crew.inside("hand", "env -u CREWMUX_MEMBER -u CREWMUX_TEAM setsid -w crewmux mcp --member operator </dev/null");
    assert_eq!(tried.code, 4, "{tried:#?}");
    // The environment makes nobody another either.
    let mut hand = Client::inside(&crew, "hand", "mcp");
    assert_eq!(hand.json("list_members", json!({}))["you"], "hand");

    crew.fails(3, &["mcp", "--as", "nobody"]);
    crew.fails(3, &["mcp", "--team", "none"]);
    crew.ok(&["stop", "other"]);
    let ended = crew.fails(6, &["mcp", "--as", "other"]);
    assert!(ended.err.contains("crewmux restart other"), "{}", ended.err);
}

#[test]
fn two_clients_are_not_one_member() {
    let crew = Crew::new();
    crew.up(&team(&crew));
    let mut first = crew
        .command(&["mcp", "--as", "hand"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("it starts");
    until("it has taken its place", || crew.member("odd", "hand").join("state/client.lease").exists());
    let second = crew.fails(7, &["mcp", "--as", "hand"]);
    assert!(second.err.contains("another MCP client") && second.err.contains("hint:"), "{}", second.err);
    drop(first.stdin.take());
    assert!(first.wait().expect("it ends").success());
    // Whose place is free again is served.
    assert_eq!(crew.run(&["mcp", "--as", "hand"]).code, 0);
}
