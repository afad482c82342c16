//! A client written by hand: JSON lines into a pipe, JSON lines out of a file.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::{Crew, until};

/// A server in a puppet's pane, or below any other shell, and the test as its client.
pub struct Client<'a> {
    crew: &'a Crew,
    pipe: Option<File>,
    out: PathBuf,
    next: u64,
    /// The order that runs the server, if a puppet does.
    pub order: String,
}

impl<'a> Client<'a> {
    /// Has the puppet `member` run `crewmux ARGS…` and says hello to it.
    pub fn inside(crew: &'a Crew, member: &str, args: &str) -> Self {
        let mut client = Self::silent(crew, member, args);
        client.hello();
        client
    }

    /// The same without a word said.
    pub fn silent(crew: &'a Crew, member: &str, args: &str) -> Self {
        static NEXT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(1);
        let name = format!("mcp{}", NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed));
        let (pipe, out) = (crew.dir().join(format!("{name}.in")), crew.dir().join(format!("{name}.out")));
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs");
        assert!(made.success());
        let order = crew.order(member, &format!("exec crewmux {args} <{name}.in >{name}.out"));
        // Opens when the other side does.
        let pipe = std::fs::OpenOptions::new().write(true).open(pipe).expect("a pipe");
        Self { crew, pipe: Some(pipe), out, next: 1, order }
    }

    pub fn hello(&mut self) -> Value {
        let hello =
            json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        let answer = self.request("initialize", hello);
        self.write(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string());
        answer
    }

    pub fn write(&mut self, line: &str) {
        let pipe = self.pipe.as_mut().expect("the pipe is open");
        pipe.write_all(format!("{line}\n").as_bytes()).expect("the server reads");
    }

    /// Everything that the server has said.
    pub fn said(&self) -> Vec<Value> {
        self.crew.journal(&self.out)
    }

    /// Asks, and does not wait. The id of the request.
    pub fn ask(&mut self, method: &str, params: Value) -> u64 {
        let id = self.next;
        self.next += 1;
        self.write(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string());
        id
    }

    /// The answer to a request, with its error if it has one. Pings are answered meanwhile.
    pub fn answer(&mut self, id: u64) -> Value {
        let mut found = Value::Null;
        until(&format!("an answer to request {id}"), || {
            let said = self.said();
            found = said.into_iter().find(|m| m["id"] == id && m.get("method").is_none()).unwrap_or_default();
            !found.is_null()
        });
        found
    }

    pub fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params);
        let answer = self.answer(id);
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }

    /// Begins a call of a tool.
    pub fn begin(&mut self, tool: &str, arguments: Value) -> u64 {
        let meta = json!({"progressToken": format!("p{}", self.next)});
        self.ask("tools/call", json!({"name": tool, "arguments": arguments, "_meta": meta}))
    }

    /// The text of a tool's answer; a refusal fails the test.
    pub fn end(&mut self, id: u64) -> String {
        let result = self.answer(id)["result"].clone();
        assert_ne!(result["isError"], true, "{result}");
        text(&result)
    }

    pub fn call(&mut self, tool: &str, arguments: Value) -> String {
        let id = self.begin(tool, arguments);
        self.end(id)
    }

    /// [`Client::call`] of a tool that answers JSON.
    pub fn json(&mut self, tool: &str, arguments: Value) -> Value {
        let text = self.call(tool, arguments);
        serde_json::from_str(&text).unwrap_or_else(|e| panic!("{tool}: {e}\n{text}"))
    }

    /// The text of a tool's refusal.
    pub fn refused(&mut self, tool: &str, arguments: Value) -> String {
        let id = self.begin(tool, arguments);
        let result = self.answer(id)["result"].clone();
        assert_eq!(result["isError"], true, "{tool}: {result}");
        text(&result)
    }

    pub fn tools(&mut self) -> Vec<String> {
        let listed = self.request("tools/list", json!({}));
        let tools = listed["tools"].as_array().expect("tools");
        tools.iter().map(|t| t["name"].as_str().expect("a name").to_owned()).collect()
    }

    /// Answers every ping that was not answered.
    pub fn pong(&mut self) {
        let said = self.said();
        for ping in said.iter().filter(|m| m["method"] == "ping") {
            self.write(&json!({"jsonrpc": "2.0", "id": ping["id"], "result": {}}).to_string());
        }
    }

    /// Closes the server's stdin.
    pub fn close(&mut self) {
        self.pipe = None;
    }
}

fn text(result: &Value) -> String {
    result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {result}")).to_owned()
}
