//! Children: in front, in the background, forked, gone on with, judged.

use serde_json::{Value, json};

use super::acp::Editor;
use super::{answer, run};
use crate::model_server::{Answer, Asked, ModelServer, calls, results, says};
use crate::support::Crew;

/// Whether a request is the main loop's.
fn is_main(body: &Value) -> bool {
    body["system"].to_string().contains("You are a coding agent")
}

fn last_text(body: &Value) -> String {
    let last = body["messages"].as_array().and_then(|all| all.last()).cloned().unwrap_or_default();
    let texts = last["content"].as_array().into_iter().flatten().filter_map(|block| block["text"].as_str());
    texts.collect::<Vec<_>>().join("\n")
}

fn tools(body: &Value) -> Vec<String> {
    body["tools"].as_array().into_iter().flatten().filter_map(|tool| tool["name"].as_str().map(str::to_owned)).collect()
}

fn agent_call(id: &'static str, more: Value) -> (&'static str, &'static str, Value) {
    let mut input = json!({ "description": "find the word", "prompt": "Find the word in notes.txt." });
    let fields = input.as_object_mut().expect("an object");
    fields.extend(more.as_object().expect("an object").clone());
    (id, "Agent", input)
}

/// Requests of children, in the order in which they came.
fn of_children(server: &ModelServer) -> Vec<Value> {
    server.asked().iter().map(Asked::json).filter(|body| !is_main(body)).collect()
}

#[test]
fn a_child_sees_only_its_prompt_has_its_own_tools_and_is_gone_on_with_by_name() {
    let crew = Crew::new();
    crew.write("notes.txt", "the word is heron\n");
    let server = ModelServer::new(|_, body| {
        let said = last_text(body);
        Answer::Reply(match (is_main(body), results(body).first().cloned()) {
            (true, None) if said.contains("<task-notification>") => says("BOTH DONE"),
            (true, None) => calls(&[agent_call("t1", json!({ "subagent_type": "Explore", "name": "scout" }))]),
            (true, Some((id, ..))) if id == "t1" => {
                calls(&[("t2", "SendMessage", json!({ "to": "scout", "message": "And how many letters?" }))])
            }
            (true, Some(_)) => says("waiting"),
            (false, None) if said.contains("how many") => says("Five."),
            (false, None) => calls(&[("r", "Read", json!({ "file_path": "notes.txt" }))]),
            (false, Some((_, _, text))) => says(&format!("Found: {}", text.contains("heron"))),
        })
    });
    let told = answer(&crew, &server, "what is the word?", &[]);
    assert_eq!(told["text"], "BOTH DONE", "an answer waits for children in the background");
    let asked: Vec<Value> = server.asked().iter().map(Asked::json).collect();
    let children = of_children(&server);
    assert_eq!(tools(&children[0]), ["Bash", "Read", "Glob", "Grep"]);
    assert_eq!(children[0]["model"], "claude-haiku-4-5", "a small one looks");
    assert_eq!(children[0]["messages"].as_array().map(Vec::len), Some(1), "nothing of its caller's conversation");
    assert_eq!(last_text(&children[0]), "Find the word in notes.txt.");
    // Its words are the result of the call, and are told once.
    let result = asked.iter().flat_map(results).find(|(id, ..)| id == "t1").expect("a result");
    assert!(
        !result.1 && result.2.starts_with("Found: true") && result.2.contains("SendMessage to scout"),
        "{result:?}"
    );
    let resumed = asked.iter().flat_map(results).find(|(id, ..)| id == "t2").expect("an answer");
    let resumed: Value = serde_json::from_str(&resumed.2).expect("json");
    assert_eq!((&resumed["status"], &resumed["fitted"]), (&json!("resumed"), &json!("agent name")));
    let again = children.last().expect("one");
    assert!(again["messages"].to_string().contains("the word is heron"), "it knows what it knew");
    assert_eq!(again["model"], "claude-haiku-4-5");
    let notified: Vec<String> =
        asked.iter().map(last_text).filter(|text| text.starts_with("<task-notification>")).collect();
    assert_eq!(notified.len(), 1);
    assert!(notified[0].contains("find the word&quot; completed") && notified[0].contains("Five."), "{notified:?}");
    let file = resumed["output_file"].as_str().expect("a file");
    assert!(std::fs::read_to_string(file).expect("its output").contains("[Read]"));
}

#[test]
fn what_cannot_be_is_refused_in_words_and_no_child_starts_another() {
    let crew = Crew::new();
    let server = ModelServer::of(vec![
        calls(&[
            agent_call("t1", json!({ "subagent_type": "Nobody" })),
            agent_call("t2", json!({ "name": "no name" })),
            agent_call("t3", json!({ "prompt": " " })),
            ("t4", "SendMessage", json!({ "to": "ghost", "message": "hello" })),
            ("t5", "SendMessage", json!({ "to": "uds:/tmp/x", "message": "hello" })),
            ("t6", "TaskStop", json!({ "shell_id": "sh00000000" })),
            ("t7", "TaskOutput", json!({ "task_id": "sh00000000" })),
        ]),
        says("well"),
    ]);
    answer(&crew, &server, "try", &[]);
    let got = results(&server.asked()[1].json());
    let of = |id: &str| got.iter().find(|(of, ..)| of == id).map(|(_, bad, text)| (*bad, text.as_str())).expect("one");
    for (id, words) in [
        ("t1", "general-purpose, Explore, Plan, verification, worker"),
        ("t2", "is no name"),
        ("t3", "the prompt is empty"),
        ("t4", "There is no agent \"ghost\""),
        ("t5", "reach nobody here"),
        ("t6", "Nothing was started yet"),
        ("t7", "There is no task"),
    ] {
        let (bad, text) = of(id);
        assert!(bad && text.contains(words), "{id}: {text}");
    }
    // A definition that asks for the tool does not get it.
    crew.write(
        ".crewmux/agents/chief.md",
        "---\nname: chief\ndescription: starts others\ntools: Agent, Read, SendMessage\n---\nBe.\n",
    );
    let server = ModelServer::new(|_, body| {
        Answer::Reply(match (last_text(body).contains("be a chief"), results(body).is_empty()) {
            (true, _) => calls(&[agent_call("t", json!({ "subagent_type": "chief" }))]),
            (false, true) => says("child"),
            (false, false) => says("end"),
        })
    });
    let ran = run(&crew, &server, &["-p", "be a chief"]);
    assert_eq!(ran.out.trim(), "end", "{ran:?}");
    assert_eq!(tools(&server.asked()[1].json()), ["Read"]);
}

#[test]
fn a_shell_in_the_background_is_read_stopped_and_told_of_once() {
    let crew = Crew::new();
    let server = ModelServer::new(|_, body| {
        let got = results(body).first().cloned();
        let id_of = |text: &str| {
            let head = text.lines().next().unwrap_or_default();
            serde_json::from_str::<Value>(head).ok().and_then(|v| v["task_id"].as_str().map(str::to_owned))
        };
        let ids = body["messages"].as_array().into_iter().flatten().flat_map(|m| results(&json!({ "messages": [m] })));
        let shell = ids.filter_map(|(_, _, text)| id_of(&text)).next();
        Answer::Reply(match (got, shell) {
            (None, None) => {
                calls(&[("b", "Bash", json!({ "command": "echo begun; sleep 1000", "run_in_background": true }))])
            }
            (Some((of, ..)), Some(id)) if of == "b" => {
                calls(&[("o", "TaskOutput", json!({ "task_id": id, "block": true, "timeout": 300 }))])
            }
            (Some((of, ..)), Some(id)) if of == "o" => calls(&[("s", "TaskStop", json!({ "task_id": id }))]),
            (Some((of, ..)), _) if of == "s" => says("stopping"),
            _ => says("ENDED"),
        })
    });
    let told = answer(&crew, &server, "run it", &["--mode", "bypass"]);
    assert_eq!(told["text"], "ENDED");
    let asked: Vec<Value> = server.asked().iter().map(Asked::json).collect();
    let all: Vec<(String, bool, String)> = asked.iter().flat_map(results).collect();
    let of = |id: &str| all.iter().find(|(of, ..)| of == id).expect("one").2.clone();
    assert!(of("o").contains("\"status\":\"running\"") && of("o").contains("begun"), "{}", of("o"));
    assert!(of("s").contains("\"type\":\"shell\"") && of("s").contains("sleep 1000"), "{}", of("s"));
    let notified: Vec<String> = asked.iter().map(last_text).filter(|t| t.starts_with("<task-notification>")).collect();
    assert!(notified.len() == 1 && notified[0].contains("killed"), "{notified:?}");
}

#[test]
fn a_judge_that_ran_nothing_is_asked_once_more_and_then_has_failed() {
    let crew = Crew::new();
    let server = ModelServer::new(|_, body| {
        Answer::Reply(match (is_main(body), results(body).is_empty()) {
            (true, true) => calls(&[agent_call("v", json!({ "subagent_type": "verification" }))]),
            (true, false) => says("so be it"),
            (false, _) => says("All looks fine.\n\nVERDICT: PASS"),
        })
    });
    answer(&crew, &server, "judge it", &[]);
    let children = of_children(&server);
    assert_eq!(children.len(), 2, "asked once more, and not a third time");
    assert!(last_text(&children[1]).contains("no command was run"), "{}", last_text(&children[1]));
    let got = server.asked().iter().map(Asked::json).flat_map(|b| results(&b)).find(|(id, ..)| id == "v").expect("one");
    assert!(got.1 && got.2.contains("its report is not accepted"), "{got:?}");

    // One that ran what it judges, and probed it, is believed; the project is read-only for it and its own folder is not.
    let server = ModelServer::new(|_, body| {
        let command = "echo x >here; echo y >\"$TMPDIR/mine\" && cat \"$TMPDIR/mine\"";
        Answer::Reply(match (is_main(body), results(body).is_empty()) {
            (true, true) => calls(&[agent_call("v", json!({ "subagent_type": "verification" }))]),
            (true, false) => says("so be it"),
            (false, true) => calls(&[("b", "Bash", json!({ "command": command }))]),
            (false, false) => says(&format!(
                "### Check: it runs\nCommand: {command}\nOutput: y\nResult: pass\n\n### Probe (boundary): empty\nCommand: {command}\n\
                 Output: y\nResult: pass\n\nVERDICT: PASS"
            )),
        })
    });
    answer(&crew, &server, "judge it", &[]);
    let got = server.asked().iter().map(Asked::json).flat_map(|b| results(&b)).find(|(id, ..)| id == "v").expect("one");
    assert!(!got.1 && got.2.contains("VERDICT: PASS"), "{got:?}");
    if crewmux::sandbox::support().files {
        assert!(!crew.dir().join("here").exists());
    }
}

#[test]
fn five_forks_share_every_byte_up_to_what_each_is_to_do() {
    let crew = Crew::new();
    crew.write("notes.txt", "heron\n");
    let server = ModelServer::new(|_, body| {
        let said = last_text(body);
        Answer::Reply(match results(body).first().map(|(id, ..)| id.as_str().to_owned()) {
            _ if said.contains("<fork-directive>") => says("Scope: one\nDone."),
            None if said.contains("<task-notification>") => says("ALL TOLD"),
            None => calls(&[("r", "Read", json!({ "file_path": "notes.txt" }))]),
            Some(id) if id == "r" => {
                let call = |n: usize| {
                    let id: &'static str = ["f1", "f2", "f3", "f4", "f5"][n];
                    (id, "Agent", json!({ "description": format!("part {n}"), "prompt": format!("Do part {n}.") }))
                };
                calls(&(0..5).map(call).collect::<Vec<_>>())
            }
            Some(_) => says("they work"),
        })
    });
    let mut editor = Editor::new(&crew, &server, &[]);
    editor.initialize();
    let session = editor.session(&crew);
    editor.prompt(&session, "go");
    let done =
        || server.asked().iter().filter(|a| String::from_utf8_lossy(&a.body).contains("<fork-directive>")).count();
    crate::support::until("all forks have asked", || done() == 5);
    let asked = server.asked();
    let forks: Vec<&Asked> =
        asked.iter().filter(|a| String::from_utf8_lossy(&a.body).contains("<fork-directive>")).collect();
    let directive = |body: &[u8]| {
        let at = body.windows(16).position(|w| w == b"<fork-directive>").expect("a directive");
        body[..at].to_vec()
    };
    let first = directive(&forks[0].body);
    assert!(forks.iter().all(|fork| directive(&fork.body) == first), "the same bytes up to the directive");
    // The request that asked for the forks: all of it but its end begins theirs. Marks of the cache move on.
    let parent = asked.iter().find(|a| results(&a.json()).first().is_some_and(|(id, ..)| id == "r")).expect("it");
    let plain = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace(r#","cache_control":{"type":"ephemeral"}"#, "");
    let begins = plain(&parent.body);
    assert!(plain(&first).starts_with(begins.strip_suffix("]}").expect("the end of the messages")));
    let bodies: Vec<Value> = forks.iter().map(|fork| fork.json()).collect();
    for key in ["model", "system", "tools", "max_tokens", "thinking", "temperature"] {
        assert!(bodies.iter().all(|body| body[key] == parent.json()[key]), "{key}");
    }
    let last = &bodies[0]["messages"].as_array().expect("messages").last().cloned().expect("one");
    let answers = results(&json!({ "messages": [last] }));
    assert!(answers.len() == 5 && answers.iter().all(|(_, bad, text)| !bad && *text == answers[0].2), "{answers:?}");
    // Each end is told once, in the turn that the client begins for it.
    crate::support::until("all have ended", || {
        let dir =
            std::fs::read_dir(crew.home().join("agent/sessions")).expect("sessions").flatten().next().expect("one");
        std::fs::read_dir(dir.path().join("children")).map_or(0, |all| all.flatten().count()) >= 10
    });
    let mut told = 0;
    for _ in 0..20 {
        editor.prompt(&session, "and?");
        told = server
            .asked()
            .last()
            .map_or(0, |a| String::from_utf8_lossy(&a.body).matches("<task-notification>").count());
        if told >= 5 {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    assert_eq!(told, 5);
}

#[test]
fn a_child_in_front_ends_with_its_caller_s_turn_and_one_that_was_moved_does_not() {
    let crew = Crew::new();
    let server = ModelServer::new(|_, body| {
        let said = last_text(body);
        let child =
            |mark: &str| calls(&[("b", "Bash", json!({ "command": format!("echo $$ >{mark}; exec sleep 1000") }))]);
        Answer::Reply(match (is_main(body), results(body).first().cloned()) {
            (true, None) if said.contains("<task-notification>") => says("TOLD"),
            (true, None) => calls(&[agent_call("t", json!({ "prompt": format!("Do {said}.") }))]),
            (true, Some((_, _, text))) => says(&format!("GOT {text}")),
            (false, None) => child(if said.contains("first") { "first" } else { "second" }),
            (false, Some(_)) => says("I was ended."),
        })
    });
    let begin = |after: &str| {
        let set = format!("background_after={after}");
        let mut editor = Editor::new(&crew, &server, &["--mode", "bypass", "--set", "fork=false", "--set", &set]);
        editor.initialize();
        let session = editor.session(&crew);
        (editor, session)
    };
    let pid = |mark: &str| crew.awaits(mark).trim().parse::<u32>().expect("a pid");

    // It waits for it for ever; the turn is given up, and all that the child runs with it.
    let (mut editor, session) = begin("0s");
    let turn = editor
        .begin("session/prompt", &json!({ "sessionId": session, "prompt": [{ "type": "text", "text": "first" }] }));
    let first = pid("first");
    editor.send(&json!({ "jsonrpc": "2.0", "method": "session/cancel", "params": { "sessionId": session } }));
    assert_eq!(editor.end(turn).expect("an answer")["stopReason"], "cancelled");
    crate::support::until("its command is gone", || !crate::support::lives(first));

    // By itself it goes to the background: the turn ends, the child does not.
    let (mut editor, session) = begin("50ms");
    let done = editor.prompt(&session, "second");
    assert_eq!((&done["stopReason"], &done["_meta"]["crewmux/running"]), (&json!("end_turn"), &json!(1)), "{done}");
    let moved = server.asked().last().expect("one").json();
    let (_, bad, text) = results(&moved)[0].clone();
    assert!(!bad && text.contains("async_launched") && text.contains("put in the background"), "{text}");
    let second = pid("second");
    assert!(crate::support::lives(second), "the same run goes on");
    // With the session all of it ends.
    assert_eq!(editor.close(), Some(0));
    crate::support::until("its command is gone", || !crate::support::lives(second));
}
