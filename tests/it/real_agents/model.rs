//! The scripted model server and its log.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

pub struct Model {
    server: Child,
    pub port: u16,
    log: PathBuf,
}

impl Model {
    pub fn start(tools: &Path, dir: &Path, more: &[Value]) -> Self {
        let mut script: Value = serde_json::from_str(include_str!("script.json")).expect("json");
        let rules = script["rules"].as_array_mut().expect("rules");
        // Those for titles come first: they carry a prompt's words, but are no turn.
        let at = rules.iter().position(|r| r["match"].is_string()).expect("a rule for prompts");
        rules.splice(at..at, more.iter().cloned());
        let path = dir.join("model.json");
        std::fs::write(&path, script.to_string()).expect("a script");
        let log = dir.join("model.log");
        let mut server = Command::new("python3")
            .arg(tools.join("fake_model.py"))
            .args(["--port", "0", "--script"])
            .arg(path)
            .arg("--log")
            .arg(&log)
            .stdout(Stdio::piped())
            .spawn()
            .expect("python3 runs");
        let mut line = String::new();
        let out = server.stdout.take().expect("its output");
        BufReader::new(out).read_line(&mut line).expect("it tells its port");
        Self { server, port: line.trim().parse().expect("a port"), log }
    }

    /// The bodies of the requests of one make that belong to turns, in order.
    pub fn turns(&self, dialect: &str) -> Vec<String> {
        let text = String::from_utf8_lossy(&std::fs::read(&self.log).unwrap_or_default()).into_owned();
        let lines = text.lines().filter_map(|l| serde_json::from_str::<Value>(l).ok());
        let own = lines.filter(|l| l["ev"] == "request" && l["dialect"] == dialect);
        let turns = own.filter(|l| l["tools"].as_array().is_some_and(|tools| !tools.is_empty()));
        turns.map(|l| l["raw"].as_str().unwrap_or_default().to_owned()).collect()
    }

    /// The last of them: the whole conversation.
    pub fn last(&self, dialect: &str) -> String {
        self.turns(dialect).pop().unwrap_or_default()
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}
