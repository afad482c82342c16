//! An agent that speaks the Agent Client Protocol and does what its prompts say, word for word: for tests, and to try
//! out a team without a model. Every line of a prompt that begins with a word below is carried out, in order:
//!
//! `say TEXT`, `tool TITLE`, `slow MS` (a cancel ends it), `permission COMMAND`, `read PATH`, `write PATH TEXT`,
//! `terminal COMMAND`, `plan A;B`, `diff PATH`, `junk TEXT`, `raw LINE`, `big BYTES`, `escape`, `fail`, `die`, `hang` (until it is
//! killed), `deaf` (a cancel ends nothing), `late MS TEXT` (after the turn), `mode`, `error TEXT` (its error output).
//!
//! What it is asked is appended to the file `STUB_LOG`, a JSON line each. `STUB_FAIL` is how many prompts fail first, by a
//! count in the file of that name. With `STUB_FROM` only the words of that member are carried out. `STUB_STAYS` makes it ignore the end of its input, `STUB_SILENT` every request.

use std::collections::HashMap;
use std::io::{BufRead, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// What both threads share.
struct Shared {
    cancelled: AtomicBool,
    next: AtomicU64,
    /// Who waits for the client's answers.
    waiting: Mutex<HashMap<u64, Sender<Value>>>,
    mode: Mutex<String>,
}

fn main() {
    let shared = Arc::new(Shared {
        cancelled: AtomicBool::new(false),
        next: AtomicU64::new(1000),
        waiting: Mutex::default(),
        mode: Mutex::new("ask".to_owned()),
    });
    let (prompts, asked) = channel::<(Value, String)>();
    let turns = shared.clone();
    std::thread::spawn(move || {
        for (id, text) in asked {
            turn(&turns, &id, &text);
        }
    });
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
        if std::env::var_os("STUB_SILENT").is_none() {
            take(&shared, &prompts, &message);
        }
    }
    if std::env::var_os("STUB_STAYS").is_some() {
        loop {
            std::thread::park();
        }
    }
}

fn take(shared: &Shared, prompts: &Sender<(Value, String)>, message: &Value) {
    let (id, params) = (message["id"].clone(), &message["params"]);
    log(message);
    match message["method"].as_str() {
        None => {
            let id = id.as_u64().unwrap_or_default();
            if let Some(waiting) = shared.waiting.lock().expect("no panic").remove(&id) {
                let _ = waiting.send(message.clone());
            }
        }
        Some("initialize") => result(
            &id,
            json!({"protocolVersion": 1, "agentInfo": {"name": "stub", "version": "1.0.0"},
                "agentCapabilities": {"loadSession": std::env::var_os("STUB_NO_LOAD").is_none()}}),
        ),
        Some("session/new") => {
            let session = format!("stub-{}", std::process::id());
            result(&id, json!({"sessionId": session, "modes": modes(shared)}));
        }
        Some("session/load") => {
            for text in ["an old question", "an old answer"] {
                let chunk = json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}});
                update(&chunk);
            }
            result(&id, json!({"modes": modes(shared)}));
        }
        Some("session/set_mode") => {
            *shared.mode.lock().expect("no panic") = params["modeId"].as_str().unwrap_or_default().to_owned();
            result(&id, json!({}));
        }
        Some("session/prompt") => {
            shared.cancelled.store(false, Ordering::SeqCst);
            let blocks = params["prompt"].as_array().cloned().unwrap_or_default();
            let text: Vec<&str> = blocks.iter().filter_map(|b| b["text"].as_str()).collect();
            let _ = prompts.send((id, text.join("\n")));
        }
        Some("session/cancel") => shared.cancelled.store(true, Ordering::SeqCst),
        Some(_) if !id.is_null() => {
            send(&json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "method not found"}}));
        }
        Some(_) => {}
    }
}

fn modes(shared: &Shared) -> Value {
    let mode = |id: &str| json!({"id": id, "name": id});
    let current = shared.mode.lock().expect("no panic").clone();
    json!({"currentModeId": current, "availableModes": [mode("plan"), mode("ask"), mode("full")]})
}

fn turn(shared: &Shared, id: &Value, text: &str) {
    if failing() {
        return send(&json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32603, "message": "the model is away"}}));
    }
    let mut late = Vec::new();
    // Whose words count, where not all do.
    let from = std::env::var("STUB_FROM").ok();
    let mut heard = from.is_none();
    for line in text.lines() {
        if let Some(from) = &from {
            match line.strip_prefix("<teammate-message from=\"") {
                Some(sender) => heard = sender.starts_with(from.as_str()),
                None if line.starts_with("</teammate-message>") => heard = false,
                None => {}
            }
        }
        if !heard {
            continue;
        }
        // As it came: escaped as XML.
        let line = line
            .replace("&lt;", "<")
            .replace("&gt;", ">")
            .replace("&quot;", "\"")
            .replace("&apos;", "'")
            .replace("&amp;", "&");
        let (word, rest) = line.split_once(' ').unwrap_or((&line, ""));
        match word {
            "fail" => {
                let error = json!({"code": -32603, "message": "it failed", "data": rest});
                return send(&json!({"jsonrpc": "2.0", "id": id, "error": error}));
            }
            "late" => late.push(rest.to_owned()),
            _ => {
                if !act(shared, word, rest) {
                    break;
                }
            }
        }
    }
    let cancelled = shared.cancelled.load(Ordering::SeqCst);
    let stop = if cancelled { "cancelled" } else { "end_turn" };
    let usage = json!({"totalTokens": 100, "inputTokens": 60, "outputTokens": 40});
    result(id, json!({"stopReason": stop, "usage": usage}));
    for word in late {
        let (ms, text) = word.split_once(' ').unwrap_or((&word, ""));
        std::thread::sleep(Duration::from_millis(ms.parse().unwrap_or_default()));
        say(text);
    }
}

/// False: the turn is cancelled.
fn act(shared: &Shared, word: &str, rest: &str) -> bool {
    let n = shared.next.fetch_add(1, Ordering::SeqCst);
    match word {
        "say" => say(rest),
        "tool" => {
            update(
                &json!({"sessionUpdate": "tool_call", "toolCallId": format!("t{n}"), "title": rest, "kind": "execute", "status": "in_progress"}),
            );
            update(&json!({"sessionUpdate": "tool_call_update", "toolCallId": format!("t{n}"), "status": "completed"}));
        }
        "diff" => {
            let diff = json!({"type": "diff", "path": rest, "oldText": "a\nb\n", "newText": "a\nc\n"});
            update(
                &json!({"sessionUpdate": "tool_call", "toolCallId": format!("t{n}"), "title": format!("edit {rest}"), "kind": "edit", "status": "completed", "content": [diff]}),
            );
        }
        "plan" => {
            let entry = |text: &str| json!({"content": text, "priority": "medium", "status": "pending"});
            let entries: Vec<Value> = rest.split(';').map(entry).collect();
            update(&json!({"sessionUpdate": "plan", "entries": entries}));
        }
        "slow" | "deaf" | "hang" => {
            let until = Instant::now() + Duration::from_millis(rest.parse().unwrap_or(u64::from(u32::MAX)));
            while Instant::now() < until {
                if word == "slow" && shared.cancelled.load(Ordering::SeqCst) {
                    return false;
                }
                std::thread::sleep(Duration::from_millis(5));
            }
        }
        "die" => std::process::exit(9),
        "junk" => line(rest),
        "raw" => line(rest),
        "error" => eprintln!("{rest}"),
        "big" => say(&"x".repeat(rest.parse().unwrap_or_default())),
        "escape" => {
            say("\u{1b}[31mred\u{1b}[0m \u{1b}]0;title\u{7}plain");
            update(
                &json!({"sessionUpdate": "tool_call", "toolCallId": format!("\u{1b}[2J{n}"), "title": "a \u{1b}[5mtitle\u{1b}]52;c;QQ==\u{7}", "kind": "read", "status": "completed"}),
            );
        }
        "mode" => say(&format!("mode {}", shared.mode.lock().expect("no panic"))),
        "permission" => {
            let option = |id: &str, kind: &str| json!({"optionId": id, "name": id, "kind": kind});
            let options = [option("yes", "allow_once"), option("ever", "allow_always"), option("no", "reject_once")];
            let call = json!({"toolCallId": format!("t{n}"), "title": format!("run {rest}"), "kind": "execute", "rawInput": {"command": rest}});
            let answer = ask(
                shared,
                n,
                "session/request_permission",
                json!({"sessionId": session(), "toolCall": call, "options": options}),
            );
            let outcome = answer["result"]["outcome"].clone();
            say(&format!("permission {}", outcome["optionId"].as_str().or(outcome["outcome"].as_str()).unwrap_or("?")));
        }
        "read" => {
            let answer = ask(shared, n, "fs/read_text_file", json!({"sessionId": session(), "path": rest}));
            say(&format!(
                "read {}",
                answer["result"]["content"].as_str().map_or_else(|| answer["error"].to_string(), str::to_owned)
            ));
        }
        "write" => {
            let (path, text) = rest.split_once(' ').unwrap_or((rest, ""));
            let answer =
                ask(shared, n, "fs/write_text_file", json!({"sessionId": session(), "path": path, "content": text}));
            say(&if answer["error"].is_null() { "written".to_owned() } else { format!("refused {}", answer["error"]) });
        }
        "terminal" => {
            let made = ask(
                shared,
                n,
                "terminal/create",
                json!({"sessionId": session(), "command": "sh", "args": ["-c", rest]}),
            );
            let id = made["result"]["terminalId"].clone();
            let of = json!({"sessionId": session(), "terminalId": id});
            let end = ask(shared, n + 100_000, "terminal/wait_for_exit", of.clone());
            let output = ask(shared, n + 200_000, "terminal/output", of.clone());
            ask(shared, n + 300_000, "terminal/release", of);
            say(&format!(
                "terminal {} {}",
                end["result"]["exitCode"],
                output["result"]["output"].as_str().unwrap_or("?")
            ));
        }
        _ => {}
    }
    !shared.cancelled.load(Ordering::SeqCst)
}

fn ask(shared: &Shared, id: u64, method: &str, params: Value) -> Value {
    let (answer, answered): (Sender<Value>, Receiver<Value>) = channel();
    shared.waiting.lock().expect("no panic").insert(id, answer);
    send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
    answered.recv().unwrap_or_default()
}

/// Whether this prompt is one of the first that are to fail.
fn failing() -> bool {
    let Some(path) = std::env::var_os("STUB_FAIL") else { return false };
    let left: u32 = std::fs::read_to_string(&path).ok().and_then(|t| t.trim().parse().ok()).unwrap_or(0);
    let _ = std::fs::write(&path, left.saturating_sub(1).to_string());
    left > 0
}

fn session() -> String {
    format!("stub-{}", std::process::id())
}

fn say(text: &str) {
    update(&json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": format!("{text}\n")}}));
}

fn update(update: &Value) {
    send(&json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": session(), "update": update}}));
}

fn result(id: &Value, result: Value) {
    send(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
}

fn send(message: &Value) {
    line(&message.to_string());
}

fn line(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{text}").and_then(|()| out.flush());
}

fn log(message: &Value) {
    let Some(path) = std::env::var_os("STUB_LOG") else { return };
    let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
    if let Ok(mut file) = file {
        let _ = file.write_all(format!("{message}\n").as_bytes());
    }
}
