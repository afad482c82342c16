//! A model that does what no model should.

use serde_json::json;

use super::answer;
use crate::model_server::{Answer, ModelServer, calls, results, says};
use crate::support::Crew;

#[test]
fn whatever_a_model_calls_is_answered_and_nothing_outside_is_touched() {
    let crew = Crew::new();
    let outside = tempfile::tempdir_in("/tmp").expect("a folder");
    std::fs::write(outside.path().join("secret"), "hidden-word").expect("a file");
    std::os::unix::fs::symlink(outside.path(), crew.dir().join("link")).expect("a link");
    std::fs::create_dir(crew.dir().join("work")).expect("a folder");
    std::os::unix::fs::symlink("../link/secret", crew.dir().join("work/alias")).expect("a link");
    let far = outside.path().join("new").display().to_string();
    let deep = format!("../..{far}");
    let list = [
        ("a", "NoSuchTool", json!({})),
        ("b", "Read", json!({ "file_path": 7 })),
        ("c", "Read", json!([])),
        ("d", "Write", json!({ "file_path": far, "content": "x" })),
        ("e", "Write", json!({ "file_path": "../link/new", "content": "x" })),
        ("f", "Write", json!({ "file_path": deep, "content": "x" })),
        ("g", "Read", json!({ "file_path": "alias" })),
        ("h", "Write", json!({ "file_path": "big", "content": "x".repeat(5 << 20) })),
        ("i", "Agent", json!({ "prompt": "x", "surprise": true })),
        ("i", "Glob", json!({ "pattern": "*" })),
        ("j", "Bash", json!({ "command": "" })),
    ];
    let server = ModelServer::of(vec![calls(&list), says("sorry")]);
    let told = answer(&crew, &server, "go", &["--mode", "accept_edits", "--cwd", "work"]);
    assert_eq!(told["text"], "sorry");
    let second = server.asked()[1].json();
    let got = results(&second);
    assert_eq!(got.len(), list.len());
    for (at, (id, is_error, words)) in got.iter().enumerate() {
        let allowed = at == 9;
        assert_eq!(*is_error, !allowed, "{id}: {words}");
        assert!(!words.contains("hidden-word"), "{words}");
    }
    let ids: std::collections::BTreeSet<&String> = got.iter().map(|(id, ..)| id).collect();
    assert_eq!(ids.len(), got.len(), "calls of one id are told apart");
    assert!(!outside.path().join("new").exists());
    assert!(!crew.dir().join("work/big").exists());
}

#[test]
fn arguments_that_are_no_json_or_without_end_are_told_to_the_model() {
    let crew = Crew::new();
    let raw = |id: &str, index: usize, parts: Vec<String>| {
        let mut events = vec![json!({ "type": "content_block_start", "index": index,
            "content_block": { "type": "tool_use", "id": id, "name": "Bash", "input": {} } })];
        events.extend(parts.into_iter().map(|part| {
            json!({ "type": "content_block_delta", "index": index, "delta": { "type": "input_json_delta", "partial_json": part } })
        }));
        events
    };
    let mut events = vec![json!({ "type": "message_start", "message": { "usage": {} } })];
    events.extend(raw("a", 0, vec!["{\"command\": \"touch ra".to_owned()]));
    events.extend(raw("b", 1, vec![format!("{{\"command\": \"{}", "y".repeat(1 << 20)); 20]));
    events.push(json!({ "type": "ping" }));
    events.push(json!({ "type": "something_new", "x": 1 }));
    events.push(
        json!({ "type": "message_delta", "delta": { "stop_reason": "tool_use" }, "usage": { "output_tokens": 3 } }),
    );
    events.push(json!({ "type": "message_stop" }));
    let first = crewmux::agent::provider::Reply { events: Some(events), ..Default::default() };
    let server = ModelServer::of(vec![first, says("sorry")]);
    answer(&crew, &server, "go", &["--mode", "bypass"]);
    let got = results(&server.asked()[1].json());
    assert!(
        got.len() == 2 && got.iter().all(|(_, is_error, words)| *is_error && words.contains("not called")),
        "{got:?}"
    );
    assert!(server.asked()[1].body.len() < 1 << 20, "what was too long is not sent back");
}

#[test]
fn a_stream_that_is_none_ends_the_turn_with_an_error_and_not_with_a_hang() {
    let crew = Crew::new();
    let events = vec![
        json!({ "type": "message_start", "message": {} }),
        json!({ "type": "content_block_delta", "index": 4, "delta": { "type": "text_delta", "text": "x" } }),
    ];
    let odd = crewmux::agent::provider::Reply { events: Some(events), ..Default::default() };
    let server = ModelServer::new(move |_, _| Answer::Reply(odd.clone()));
    let ran = super::run(&crew, &server, &["-p", "go", "--set", "retries=1"]);
    assert!(ran.code == 1 && ran.err.contains("cut off"), "{ran:#?}");
    assert_eq!(server.asked().len(), 2);
    // Silence is the same as a cut.
    let silent = ModelServer::new(|_, _| Answer::Hang(says("x"), 1));
    let ran = super::run(&crew, &silent, &["-p", "go", "--set", "retries=0", "--set", "silence=\"300ms\""]);
    assert!(ran.code == 1 && ran.err.contains("nothing came for"), "{ran:#?}");
}
