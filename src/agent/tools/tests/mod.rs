//! The tools as a model calls them: by name, with JSON, through the gate.

mod bash;
mod board;
mod files;
mod others;
mod search;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::agent::id::AgentId;
use crate::agent::permission::Mode;

/// An agent in a folder of its own.
struct Agent {
    cx: Context,
    tools: Registry,
    root: PathBuf,
    _dir: tempfile::TempDir,
}

impl Agent {
    fn new(mode: Mode) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap().join("work");
        std::fs::create_dir(&root).unwrap();
        let mut cx = Context::new(AgentId::main(), root.clone(), mode);
        cx.call = "call-1".to_owned();
        Self { cx, tools: standard(Standard::default()), root, _dir: dir }
    }

    async fn call(&self, name: &str, input: Value) -> Outcome {
        self.tools.call(name, input, &self.cx).await
    }

    /// A call that must succeed.
    async fn does(&self, name: &str, input: Value) -> String {
        let said = self.call(name, input.clone()).await;
        assert!(!said.is_error, "{name} {input}: {}", said.as_text());
        said.as_text()
    }

    /// A call that must be refused.
    async fn fails(&self, name: &str, input: Value) -> String {
        let said = self.call(name, input.clone()).await;
        assert!(said.is_error, "{name} {input}: {}", said.as_text());
        said.as_text()
    }

    fn write(&self, path: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }
}

/// A registry of shells that remembers.
#[derive(Default)]
struct Shells {
    dir: PathBuf,
    stops: Mutex<HashMap<String, CancellationToken>>,
    ended: Mutex<Vec<(String, ShellEnd)>>,
    told: tokio::sync::Notify,
}

impl Shells {
    fn new(dir: &Path) -> Arc<Self> {
        Arc::new(Self { dir: dir.to_path_buf(), ..Self::default() })
    }

    async fn end(&self) -> ShellEnd {
        loop {
            let told = self.told.notified();
            if let Some((_, end)) = self.ended.lock().unwrap().first() {
                return end.clone();
            }
            told.await;
        }
    }
}

impl Tasks for Shells {
    fn register_shell(&self, shell: ShellTask) -> Result<Registered, String> {
        if shell.command.contains("too many") {
            return Err("too many run already".to_owned());
        }
        let (id, stop) = ("b1".to_owned(), CancellationToken::new());
        self.stops.lock().unwrap().insert(id.clone(), stop.clone());
        Ok(Registered { output_file: self.dir.join(&id), id, stop })
    }

    fn shell_ended(&self, id: &str, end: ShellEnd) {
        self.ended.lock().unwrap().push((id.to_owned(), end));
        self.told.notify_waiters();
    }
}
