//! `crewmux agent -p`: one prompt, one answer.

use std::os::unix::process::CommandExt;

use crewmux::agent::provider::Reply;
use serde_json::{Value, json};

use super::{agent, answer, run};
use crate::model_server::{Answer, ModelServer, calls, refusal, results, says};
use crate::support::{Crew, Ran, kill, lives, until};

/// The folder of the only session.
fn session(crew: &Crew) -> std::path::PathBuf {
    let mut all = std::fs::read_dir(crew.home().join("agent/sessions")).expect("sessions").flatten();
    let first = all.next().expect("a session").path();
    assert!(all.next().is_none(), "one session");
    first
}

#[test]
fn a_prompt_is_answered_with_the_help_of_tools_and_what_was_sent_is_sent_again_byte_for_byte() {
    let crew = Crew::new();
    crew.write("notes.txt", "the word is heron\n");
    let thinking = json!({ "type": "thinking", "thinking": "hm", "signature": "s1" });
    let mut first =
        calls(&[("a", "Read", json!({ "file_path": "notes.txt" })), ("b", "Glob", json!({ "pattern": "*.txt" }))]);
    first.content.as_mut().expect("content").insert(0, thinking.clone());
    first.usage = Some(json!({ "input_tokens": 10, "output_tokens": 5, "cache_read_input_tokens": 100 }));
    let server = ModelServer::of(vec![first, says("It is heron.")]);
    let told = answer(&crew, &server, "what is the word?", &[]);
    assert_eq!(told["text"], "It is heron.");
    assert_eq!(told["stop_reason"], "end_turn");
    assert_eq!(told["spent"]["requests"], 2);
    assert_eq!(told["spent"]["tool_calls"], 2);
    let asked = server.asked();
    assert_eq!(asked[0].line, "POST /v1/messages HTTP/1.1");
    assert_eq!(asked[0].header("x-api-key"), Some("sk-of-a-test"));
    assert_eq!(asked[0].header("anthropic-version"), Some("2023-06-01"));
    let second = asked[1].json();
    let got = results(&second);
    assert!(got[0].2.contains("the word is heron") && got[1].2.contains("notes.txt"), "{got:?}");
    // Thinking goes back as it came, or the provider refuses the turn.
    assert_eq!(second["messages"][1]["content"][0], thinking);
    // What the provider has cached begins both requests: all but the mark of the last message, which moves on.
    let mark = |body: &[u8]| String::from_utf8_lossy(body).replace(r#","cache_control":{"type":"ephemeral"}"#, "");
    let (one, two) = (mark(&asked[0].body), mark(&asked[1].body));
    assert!(two.starts_with(one.strip_suffix("]}").expect("the end of the messages")));
    assert_eq!(String::from_utf8_lossy(&asked[1].body).matches("cache_control").count(), 3);
}

#[test]
fn crowded_broken_and_cut_answers_are_asked_for_again_and_calls_that_ran_are_not_repeated() {
    let crew = Crew::new();
    let write = calls(&[("a", "Bash", json!({ "command": "echo ran >> ran.txt" }))]);
    let wait = Reply { retry_after: Some(0.05), ..refusal(429, "slower") };
    let server = ModelServer::of(vec![
        wait,
        Reply { cut_after: Some(3), ..write.clone() },
        write,
        refusal(529, "crowded"),
        Reply { cut_after: Some(2), ..says("half") },
        says("done"),
    ]);
    let told = answer(&crew, &server, "go", &["--mode", "bypass"]);
    assert_eq!(told["text"], "done");
    assert_eq!(crew.read("ran.txt"), "ran\n");
    let asked = server.asked();
    assert_eq!(asked.len(), 6);
    assert_eq!(asked[0].body, asked[2].body);
    assert_eq!(asked[3].body, asked[5].body);
}

#[test]
fn what_no_second_try_mends_is_told_at_once_with_what_helps() {
    let crew = Crew::new();
    let server = ModelServer::of(vec![refusal(401, "no such key")]);
    let ran = run(&crew, &server, &["-p", "go"]);
    assert_eq!(ran.code, 1, "{ran:#?}");
    assert!(
        ran.err.contains("401") && ran.err.contains("no such key") && ran.err.contains("ANTHROPIC_API_KEY"),
        "{}",
        ran.err
    );
    assert!(!ran.err.contains("sk-of-a-test"));
    assert_eq!(server.asked().len(), 1);
    let without = Ran::from(crew.command(&["agent", "-p", "go"]).output().expect("it starts"));
    assert_eq!(without.code, 1);
    assert!(without.err.contains("ANTHROPIC_API_KEY") && without.err.contains("base_url"), "{}", without.err);
    let closed = std::net::TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr()).expect("a port");
    let args = ["agent", "-p", "go", "--set", "retries=0", "--set", &format!("base_url=http://{closed}")];
    let nobody = crew.run(&args);
    assert_eq!(nobody.code, 1);
    assert!(nobody.err.contains("cannot reach") && nobody.err.contains(&closed.to_string()), "{}", nobody.err);
}

#[test]
fn a_signal_ends_the_turn_and_all_that_runs_for_it_and_the_session_can_be_taken_up() {
    let crew = Crew::new();
    let server = ModelServer::new(|n, _| match n {
        0 => Answer::Hang(says("I was saying"), 3),
        1 => Answer::Reply(calls(&[("a", "Bash", json!({ "command": "echo $$ > pid; sleep 1000 & wait" }))])),
        _ => Answer::Reply(says("later")),
    });
    let begin = |args: &[&str]| {
        let mut command = agent(&crew, &server, args);
        command.process_group(0).stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
        command.spawn().expect("it starts")
    };
    // In the middle of an answer.
    let child = begin(&["-p", "one", "--mode", "bypass"]);
    until("it has asked", || server.asked().len() == 1);
    kill(child.id(), "INT");
    let ran = Ran::from(child.wait_with_output().expect("it ends"));
    assert_eq!(ran.code, 130, "{ran:#?}");
    assert!(ran.err.contains("--resume"), "{}", ran.err);
    until("the connection is closed", || server.gone() == 1);
    // In the middle of a call.
    let child = begin(&["-p", "two", "--continue", "--mode", "bypass"]);
    let pid: u32 = crew.awaits("pid").trim().parse().expect("a pid");
    kill(child.id(), "TERM");
    let ran = Ran::from(child.wait_with_output().expect("it ends"));
    assert_eq!(ran.code, 130, "{ran:#?}");
    assert!(!lives(pid), "the shell has ended with its call");
    let told = answer(&crew, &server, "three", &["--continue"]);
    assert_eq!(told["text"], "later");
    let last = server.asked().last().expect("a request").json();
    let words = last["messages"].to_string();
    for word in ["one", "two", "three"] {
        assert!(words.contains(word), "{word}: {words}");
    }
    assert_paired(&last);
}

/// Every call has its result in the next message, as providers demand.
pub fn assert_paired(body: &Value) {
    let messages = body["messages"].as_array().expect("messages");
    let ids = |message: &Value, kind: &str, key: &str| -> Vec<String> {
        let blocks = message["content"].as_array().into_iter().flatten();
        blocks.filter(|b| b["type"] == kind).map(|b| b[key].as_str().unwrap_or_default().to_owned()).collect()
    };
    for (at, message) in messages.iter().enumerate() {
        let calls = ids(message, "tool_use", "id");
        let results = messages.get(at + 1).map(|next| ids(next, "tool_result", "tool_use_id")).unwrap_or_default();
        assert_eq!(calls, results, "message {at} of {body:#}");
    }
}

#[test]
fn a_session_whose_process_was_killed_in_a_call_goes_on_without_that_call() {
    let crew = Crew::new();
    let server = ModelServer::new(|n, _| {
        Answer::Reply(match n {
            0 => calls(&[("a", "Bash", json!({ "command": "touch here; echo > ready; exec sleep 1000" }))]),
            _ => says("back"),
        })
    });
    let mut child = agent(&crew, &server, &["-p", "one", "--mode", "bypass"]).spawn().expect("it starts");
    crew.awaits("ready");
    child.kill().expect("it is killed");
    child.wait().expect("it ends");
    let transcript = session(&crew).join("main.jsonl");
    let torn = std::fs::read_to_string(&transcript).expect("a transcript") + r#"{"type":"turn","ro"#;
    std::fs::write(&transcript, torn).expect("a torn tail");
    let told = answer(&crew, &server, "two", &["--continue"]);
    assert_eq!(told["text"], "back");
    let body = server.asked()[1].json();
    assert_paired(&body);
    assert!(body.to_string().contains("one") && body.to_string().contains("two"));
    assert!(!body["messages"].to_string().contains("sleep 1000"));
    for pid in crate::support::with_environment("CREWMUX_HOME", crew.home().to_str().expect("plain")) {
        // The killed agent could end nothing any more.
        kill(pid, "KILL");
    }
}

#[test]
fn a_conversation_that_grows_too_long_is_shortened_and_keeps_its_task() {
    let crew = Crew::new();
    let server = ModelServer::new(|n, body| {
        let mut reply = match n {
            0 | 2 => calls(&[("a", "Glob", json!({ "pattern": "*" }))]),
            1 => says("SUMMARY-OF-IT"),
            3 => refusal(400, "prompt is too long: 9 tokens > 8 maximum"),
            4 => says("SECOND-SUMMARY"),
            _ => says("done"),
        };
        let used = if n == 0 { 900 } else { 10 };
        reply.usage = Some(json!({ "input_tokens": used, "output_tokens": 1 }));
        assert!(body["messages"].is_array());
        Answer::Reply(reply)
    });
    let told = answer(&crew, &server, "the TASK of it", &["--set", "context_window=1000"]);
    assert_eq!(told["text"], "done");
    let asked = server.asked();
    assert!(asked[1].json()["messages"].to_string().contains("about to be cut"));
    let after = asked[2].json();
    assert_eq!(after["messages"].as_array().map(Vec::len), Some(1));
    for word in ["SUMMARY-OF-IT", "the TASK of it"] {
        assert!(after["messages"][0].to_string().contains(word), "{word}");
    }
    let last = asked[5].json()["messages"].to_string();
    assert!(last.contains("SECOND-SUMMARY") && last.contains("the TASK of it") && !last.contains("SUMMARY-OF-IT\n"));
}

#[test]
fn a_budget_ends_the_turn_and_says_so() {
    let crew = Crew::new();
    let mut call = calls(&[("a", "Glob", json!({ "pattern": "*" }))]);
    call.usage = Some(json!({ "input_tokens": 600, "output_tokens": 1 }));
    let server = ModelServer::of(vec![call.clone(), call.clone(), call]);
    let ran = run(&crew, &server, &["-p", "go", "--set", "max_session_tokens=1000"]);
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("1202 of 1000 tokens are spent"), "{}", ran.err);
    let ran = run(&crew, &server, &["-p", "go", "--max-turns", "1"]);
    assert!(ran.code == 1 && ran.err.contains("all of its 1 turns"), "{}", ran.err);
    assert_eq!(server.asked().len(), 3);
}

#[test]
fn an_answer_in_a_prescribed_form_is_data_alone() {
    let crew = Crew::new();
    crew.write("form.json", r#"{"type":"object","required":["n"],"properties":{"n":{"type":"integer"}}}"#);
    let server = ModelServer::of(vec![
        calls(&[("a", "StructuredOutput", json!({ "n": "many" }))]),
        calls(&[("b", "StructuredOutput", json!({ "n": 3 }))]),
    ]);
    let ran = run(&crew, &server, &["-p", "count", "--output-schema", "form.json"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert_eq!(serde_json::from_str::<Value>(&ran.out).expect("json"), json!({ "n": 3 }));
    assert!(results(&server.asked()[1].json())[0].1, "the wrong form is told to the model");
}

#[test]
fn recorded_answers_play_without_a_key_and_without_a_server() {
    let crew = Crew::new();
    crew.write("notes.txt", "heron\n");
    let path = crew.dir().join("notes.txt").display().to_string();
    let server = ModelServer::of(vec![calls(&[("a", "Read", json!({ "file_path": path }))]), says("It is heron.")]);
    answer(&crew, &server, "what is the word?", &["--record", "tape.jsonl"]);
    let played = crew.json(&["agent", "-p", "what is the word?", "--cassette", "tape.jsonl"]);
    assert_eq!(played["text"], "It is heron.");
    assert_eq!(played["spent"]["tool_calls"], 1);
    let other = crew.fails(1, &["agent", "-p", "something else", "--cassette", "tape.jsonl"]);
    assert!(other.err.contains("has no answer") && other.err.contains("something else"), "{}", other.err);
}

#[test]
fn a_project_can_neither_take_the_key_nor_run_programs_nor_allow_itself_anything() {
    let crew = Crew::new();
    let server = ModelServer::of(vec![says("hi")]);
    for line in [
        "base_url = \"http://127.0.0.1:9\"",
        "headers = { x = \"y\" }",
        "permissions = { allow = [\"Bash\"] }",
        "permission_mode = \"bypass\"",
        "web_search = { command = [\"x\"] }",
        "project_mcp = true",
    ] {
        crew.write(".crewmux/agent.toml", &format!("{line}\n"));
        let ran = run(&crew, &server, &["-p", "go"]);
        assert_eq!(ran.code, 2, "{line}: {ran:#?}");
        assert!(ran.err.contains("which a project may not"), "{line}: {}", ran.err);
    }
    crew.write(".crewmux/agent.toml", "modle = \"x\"\n");
    let ran = run(&crew, &server, &["-p", "go"]);
    assert!(ran.code == 2 && ran.err.contains("modle") && ran.err.contains("agent.toml"), "{}", ran.err);
    assert!(server.asked().is_empty());
    // What it may say counts, and the person's own flags count more.
    crew.write(".crewmux/agent.toml", "model = \"from-the-project\"\n");
    crew.write(".mcp.json", r#"{"mcpServers":{"x":{"command":"touch","args":["started"]}}}"#);
    answer(&crew, &server, "go", &[]);
    assert_eq!(server.asked()[0].json()["model"], "from-the-project");
    assert!(!crew.dir().join("started").exists(), "a program of the project's choice was started");
}

#[test]
fn commands_are_confined_by_the_mode() {
    let crew = Crew::new();
    let outside = tempfile::tempdir_in("/tmp").expect("a folder");
    let far = outside.path().join("x").display().to_string();
    let script = format!("echo in > inside; echo out > {far}; echo tmp > $TMPDIR/t && echo made");
    let server = ModelServer::new(move |n, _| {
        Answer::Reply(if n % 2 == 0 { calls(&[("a", "Bash", json!({ "command": script }))]) } else { says("ok") })
    });
    if !crewmux::sandbox::support().files {
        eprintln!("skipped: this kernel has no Landlock");
        return;
    }
    answer(&crew, &server, "go", &["--mode", "read-only"]);
    assert!(results(&server.asked()[1].json())[0].2.contains("made"), "its own TMPDIR can be written");
    assert!(!crew.dir().join("inside").exists());
    answer(&crew, &server, "go", &["--mode", "accept_edits"]);
    assert_eq!(crew.read("inside"), "in\n");
    assert!(!outside.path().join("x").exists());
    // Nobody can be asked under -p: what would be asked is refused, and the model told.
    answer(&crew, &server, "go", &[]);
    let refused = results(&server.asked()[5].json());
    assert!(refused[0].1, "{refused:?}");
}
