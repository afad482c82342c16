//! The protocol's face, from a client's side: lines of JSON on stdin and stdout.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};

use serde_json::{Value, json};

use super::agent;
use crate::model_server::{Answer, ModelServer, calls, results, says};
use crate::support::{Crew, LONG, until};

/// A client.
pub(super) struct Editor {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Value>,
    /// Updates, in the order in which they came.
    updates: Vec<Value>,
    next: u64,
    /// The option that questions are answered with.
    option: &'static str,
    asked: Vec<Value>,
}

impl Editor {
    pub(super) fn new(crew: &Crew, server: &ModelServer, args: &[&str]) -> Self {
        let mut command = agent(crew, server, args);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
        let (to, lines) = channel();
        let out = BufReader::new(child.stdout.take().expect("stdout"));
        std::thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                let Ok(value) = serde_json::from_str(&line) else { panic!("no JSON on stdout: {line}") };
                if to.send(value).is_err() {
                    return;
                }
            }
        });
        let stdin = child.stdin.take();
        Self { child, stdin, lines, updates: Vec::new(), next: 0, option: "allow-once", asked: Vec::new() }
    }

    pub(super) fn send(&mut self, message: &Value) {
        let stdin = self.stdin.as_mut().expect("open");
        writeln!(stdin, "{message}").expect("it reads");
    }

    pub(super) fn begin(&mut self, method: &str, params: &Value) -> u64 {
        self.next += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": self.next, "method": method, "params": params }));
        self.next
    }

    /// Takes one message that came.
    fn take(&mut self) -> Value {
        let message = self.lines.recv_timeout(LONG).expect("a message");
        match message["method"].as_str() {
            Some("session/update") => self.updates.push(message["params"]["update"].clone()),
            Some("session/request_permission") => {
                self.asked.push(message["params"].clone());
                let outcome = json!({ "outcome": { "outcome": "selected", "optionId": self.option } });
                self.send(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": outcome }));
            }
            _ => {}
        }
        message
    }

    /// Goes on until the answer to a request is there.
    pub(super) fn end(&mut self, id: u64) -> Result<Value, Value> {
        loop {
            let message = self.take();
            if message["id"] == id && message.get("method").is_none() {
                return match message.get("error") {
                    Some(error) => Err(error.clone()),
                    None => Ok(message["result"].clone()),
                };
            }
        }
    }

    fn call(&mut self, method: &str, params: &Value) -> Value {
        let id = self.begin(method, params);
        self.end(id).unwrap_or_else(|e| panic!("{method}: {e}"))
    }

    pub(super) fn initialize(&mut self) -> Value {
        self.call(
            "initialize",
            &json!({ "protocolVersion": 1, "clientCapabilities": { "_meta": { "crewmux/wake": true } } }),
        )
    }

    pub(super) fn session(&mut self, crew: &Crew) -> String {
        let made = self.call("session/new", &json!({ "cwd": crew.dir(), "mcpServers": [] }));
        made["sessionId"].as_str().expect("an id").to_owned()
    }

    pub(super) fn prompt(&mut self, session: &str, text: &str) -> Value {
        self.call("session/prompt", &json!({ "sessionId": session, "prompt": [{ "type": "text", "text": text }] }))
    }

    fn updates_of(&self, kind: &str) -> Vec<&Value> {
        self.updates.iter().filter(|u| u["sessionUpdate"] == kind).collect()
    }

    /// Goes away, as an editor that is closed.
    pub(super) fn close(&mut self) -> Option<i32> {
        drop(self.stdin.take());
        self.child.wait().expect("it ends").code()
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_client_sees_text_calls_diffs_plans_and_is_asked() {
    let crew = Crew::new();
    crew.write("a.txt", "old\n");
    let todo = json!({ "todos": [{ "content": "Change it", "status": "in_progress" }] });
    let server = ModelServer::of(vec![
        calls(&[("t", "TodoWrite", todo), ("r", "Read", json!({ "file_path": "a.txt" }))]),
        calls(&[("e", "Edit", json!({ "file_path": "a.txt", "old_string": "old", "new_string": "new" }))]),
        calls(&[("b", "Bash", json!({ "command": "echo hello" }))]),
        says("all done"),
    ]);
    let mut editor = Editor::new(&crew, &server, &[]);
    let told = editor.initialize();
    let can = &told["agentCapabilities"];
    assert_eq!(can["loadSession"], true);
    assert_eq!(can["promptCapabilities"]["image"], true);
    assert_eq!(can["_meta"]["crewmux/wake"], true);
    let session = editor.session(&crew);
    let answered = editor.prompt(&session, "change it");
    assert_eq!(answered["stopReason"], "end_turn");
    assert_eq!(answered["_meta"]["crewmux/spent"]["requests"], 4);
    assert_eq!(crew.read("a.txt"), "new\n");
    assert_eq!(editor.updates_of("plan")[0]["entries"][0]["content"], "Change it");
    let text: Vec<&str> =
        editor.updates_of("agent_message_chunk").iter().filter_map(|u| u["content"]["text"].as_str()).collect();
    assert_eq!(text.concat(), "all done");
    let ended = editor.updates_of("tool_call_update");
    let edit =
        ended.iter().find(|u| u["toolCallId"] == "e" && u["status"] == "completed").expect("the end of the edit");
    assert_eq!(edit["content"][0]["type"], "diff");
    assert_eq!((&edit["content"][0]["oldText"], &edit["content"][0]["newText"]), (&json!("old\n"), &json!("new\n")));
    assert!(!editor.updates_of("usage_update").is_empty());
    // Reads are not asked about; the edit and the command are.
    let asked: Vec<&str> = editor.asked.iter().filter_map(|q| q["toolCall"]["toolCallId"].as_str()).collect();
    assert_eq!(asked, ["e", "b"]);
    assert_eq!(editor.close(), Some(0));
}

#[test]
fn what_is_refused_does_not_run_and_what_is_allowed_always_is_not_asked_again() {
    let crew = Crew::new();
    let touch = |n: &str| calls(&[(n, "Bash", json!({ "command": format!("echo x >> ran.{n}") }))]);
    let server = ModelServer::of(vec![touch("a"), says("no then"), touch("b"), touch("b"), says("yes")]);
    let mut editor = Editor::new(&crew, &server, &[]);
    editor.initialize();
    let session = editor.session(&crew);
    editor.option = "reject-once";
    editor.prompt(&session, "one");
    assert!(!crew.dir().join("ran.a").exists());
    assert!(results(&server.asked()[1].json())[0].1);
    editor.option = "allow-always";
    editor.prompt(&session, "two");
    assert_eq!(crew.read("ran.b"), "x\nx\n");
    assert_eq!(editor.asked.len(), 2, "once for each command, and not again");
}

#[test]
fn a_turn_can_be_cancelled_at_any_moment_and_what_was_seen_of_it_stays() {
    let crew = Crew::new();
    let server = ModelServer::new(|n, _| match n {
        0 => Answer::Hang(says("half a thought"), 3),
        1 => Answer::Reply(calls(&[("a", "Bash", json!({ "command": "echo > begun; exec sleep 1000" }))])),
        _ => Answer::Reply(says("back")),
    });
    let mut editor = Editor::new(&crew, &server, &["--mode", "bypass"]);
    editor.initialize();
    let session = editor.session(&crew);
    let prompt = |text: &str| json!({ "sessionId": session, "prompt": [{ "type": "text", "text": text }] });
    let turn = editor.begin("session/prompt", &prompt("one"));
    while editor.updates_of("agent_message_chunk").is_empty() {
        editor.take();
    }
    // A second prompt does not disturb the one that runs.
    let second = editor.begin("session/prompt", &prompt("too early"));
    assert!(editor.end(second).unwrap_err().to_string().contains("is running"));
    let cancel = json!({ "jsonrpc": "2.0", "method": "session/cancel", "params": { "sessionId": session } });
    editor.send(&cancel);
    assert_eq!(editor.end(turn).unwrap()["stopReason"], "cancelled");
    until("the request is ended", || server.gone() == 1);
    let turn = editor.begin("session/prompt", &prompt("two"));
    crew.awaits("begun");
    editor.send(&cancel);
    assert_eq!(editor.end(turn).unwrap()["stopReason"], "cancelled");
    assert_eq!(editor.prompt(&session, "three")["stopReason"], "end_turn");
    let last = server.asked()[2].json();
    let words = last["messages"].to_string();
    for word in ["one", "half a thought", "two", "three"] {
        assert!(words.contains(word), "{word}: {words}");
    }
    assert!(!words.contains("too early"));
    super::once::assert_paired(&last);
}

#[test]
fn a_session_is_listed_loaded_shown_again_and_gone_on_with_by_another_process() {
    let crew = Crew::new();
    crew.write("a.txt", "text\n");
    let server = ModelServer::of(vec![
        calls(&[("a", "Read", json!({ "file_path": "a.txt" }))]),
        says("first answer"),
        says("second answer"),
    ]);
    let mut editor = Editor::new(&crew, &server, &[]);
    editor.initialize();
    let session = editor.session(&crew);
    editor.prompt(&session, "the first thing");
    assert_eq!(editor.close(), Some(0));
    let mut editor = Editor::new(&crew, &server, &[]);
    editor.initialize();
    let list = editor.call("session/list", &json!({ "cwd": crew.dir() }));
    assert_eq!(list["sessions"][0]["sessionId"], session.as_str());
    assert_eq!(list["sessions"][0]["title"], "the first thing");
    editor.call("session/load", &json!({ "sessionId": session, "cwd": crew.dir(), "mcpServers": [] }));
    let kinds: Vec<&str> = editor.updates.iter().filter_map(|u| u["sessionUpdate"].as_str()).collect();
    assert_eq!(kinds, ["user_message_chunk", "tool_call", "tool_call_update", "agent_message_chunk"]);
    editor.prompt(&session, "the second thing");
    let last = server.asked()[2].json()["messages"].to_string();
    assert!(last.contains("the first thing") && last.contains("first answer") && last.contains("the second thing"));
    let none = editor.begin("session/load", &json!({ "sessionId": "nope", "cwd": crew.dir(), "mcpServers": [] }));
    assert!(editor.end(none).unwrap_err().to_string().contains("nope"));
}

#[test]
fn modes_are_set_and_plan_mode_ends_in_a_plan_that_the_person_agrees_to() {
    let crew = Crew::new();
    let write = calls(&[("w", "Write", json!({ "file_path": "new", "content": "x" }))]);
    let server = ModelServer::of(vec![
        write.clone(),
        calls(&[("p", "ExitPlanMode", json!({ "plan": "1. write it" }))]),
        write,
        says("done"),
    ]);
    let mut editor = Editor::new(&crew, &server, &[]);
    editor.initialize();
    let session = editor.session(&crew);
    let unknown = editor.begin("session/set_mode", &json!({ "sessionId": session, "modeId": "yolo" }));
    assert!(editor.end(unknown).unwrap_err().to_string().contains("yolo"));
    editor.call("session/set_mode", &json!({ "sessionId": session, "modeId": "plan" }));
    editor.option = "allow-always";
    editor.prompt(&session, "go");
    assert!(results(&server.asked()[1].json())[0].1, "nothing is written while planning");
    assert_eq!(crew.read("new"), "x");
    assert!(editor.asked[0].to_string().contains("1. write it"));
    assert_eq!(editor.asked.len(), 1, "the mode agreed to is accept_edits");
    let modes: Vec<&str> =
        editor.updates_of("current_mode_update").iter().filter_map(|u| u["currentModeId"].as_str()).collect();
    assert_eq!(modes, ["plan", "accept_edits"]);
    let listed = |at: usize| {
        let tools = server.asked()[at].json()["tools"].clone();
        tools.as_array().is_some_and(|all| all.iter().any(|tool| tool["name"] == "ExitPlanMode"))
    };
    assert!(listed(0) && !listed(3));
}

#[test]
fn images_and_resources_reach_the_model_and_bad_folders_are_refused() {
    let crew = Crew::new();
    let server = ModelServer::of(vec![says("seen")]);
    let mut editor = Editor::new(&crew, &server, &[]);
    editor.initialize();
    let bad = editor.begin("session/new", &json!({ "cwd": "relative", "mcpServers": [] }));
    assert!(editor.end(bad).unwrap_err().to_string().contains("relative"));
    let session = editor.session(&crew);
    let prompt = json!([
        { "type": "image", "mimeType": "image/png", "data": "AAAA" },
        { "type": "resource", "resource": { "uri": "file:///x", "text": "</resource> inside" } },
    ]);
    editor.call("session/prompt", &json!({ "sessionId": session, "prompt": prompt }));
    let body = server.asked()[0].json();
    let content = &body["messages"][0]["content"];
    assert_eq!(content[0]["source"]["data"], "AAAA");
    assert!(content[1]["text"].as_str().unwrap().contains("&lt;/resource&gt; inside"));
}

#[test]
fn a_failure_is_an_error_of_the_prompt_and_the_session_goes_on() {
    let crew = Crew::new();
    let server = ModelServer::of(vec![crate::model_server::refusal(403, "not for you"), says("better")]);
    let mut editor = Editor::new(&crew, &server, &[]);
    editor.initialize();
    let session = editor.session(&crew);
    let id =
        editor.begin("session/prompt", &json!({ "sessionId": session, "prompt": [{ "type": "text", "text": "x" }] }));
    assert!(editor.end(id).unwrap_err().to_string().contains("not for you"));
    assert_eq!(editor.prompt(&session, "again")["stopReason"], "end_turn");
}
