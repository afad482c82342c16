//! What a tool gets to know of the agent that calls it.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use super::limit::Limits;
use super::services::{Confine, NoPerson, NoTasks, Person, Quiet, Sink, Tasks, ToolEvent, Unconfined};
use crate::agent::id::AgentId;
use crate::agent::permission::{Asker, Mode, Nobody, Rules};

/// Where an agent stands. Tools change it; children get a copy of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Here {
    pub cwd: PathBuf,
    /// Further folders in which it may read and write as in `cwd`: scratch, outputs, those a person named.
    pub also: Vec<PathBuf>,
    pub mode: Mode,
    /// Where it stood before it entered a work tree, and that work tree.
    pub left: Option<(PathBuf, PathBuf)>,
}

/// A file as it was when the agent last saw all of it, or wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    pub modified: Option<SystemTime>,
    pub bytes: u64,
    pub hash: blake3::Hash,
}

/// The files that an agent has seen, by their real paths. A child starts with a copy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FilesRead {
    seen: HashMap<PathBuf, Seen>,
}

impl FilesRead {
    pub fn saw(&mut self, path: &Path, content: &[u8], modified: Option<SystemTime>) {
        let seen = Seen { modified, bytes: content.len() as u64, hash: blake3::hash(content) };
        self.seen.insert(path.to_path_buf(), seen);
    }

    #[must_use]
    pub fn get(&self, path: &Path) -> Option<&Seen> {
        self.seen.get(path)
    }

    /// Whether the file still is what was seen; `None` where it was not seen at all.
    #[must_use]
    pub fn is_current(&self, path: &Path, content: &[u8]) -> Option<bool> {
        self.seen.get(path).map(|seen| seen.bytes == content.len() as u64 && seen.hash == blake3::hash(content))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TodoStatus {
    Pending,
    InProgress,
    Completed,
}

/// One thing to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Todo {
    /// What is to be done, as an order: "Run the tests".
    pub content: String,
    pub status: TodoStatus,
    /// The same while it is being done: "Running the tests".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active_form: Option<String>,
}

/// One for each agent; a call gets a clone with its own id and token ([`Context::for_call`]).
#[derive(Clone)]
pub struct Context {
    pub agent: AgentId,
    /// The id of this tool call.
    pub call: String,
    /// Ends the call; what it started is ended with it.
    pub cancel: CancellationToken,
    /// It may not take the screen.
    pub background: bool,
    pub here: Arc<Mutex<Here>>,
    pub files: Arc<Mutex<FilesRead>>,
    pub todos: Arc<Mutex<Vec<Todo>>>,
    /// Shared with children: what a person allowed for good counts for all.
    pub rules: Arc<Mutex<Rules>>,
    /// Tools that stand in the list and are refused when called, with the reason.
    pub refused: Arc<BTreeMap<String, String>>,
    pub asker: Arc<dyn Asker>,
    pub person: Arc<dyn Person>,
    pub tasks: Arc<dyn Tasks>,
    pub sink: Arc<dyn Sink>,
    pub confine: Arc<dyn Confine>,
    pub limits: Limits,
    /// A folder for outputs that are too long to be shown; it must be one of those that may be read.
    pub outputs: Option<PathBuf>,
}

impl Context {
    /// An agent in `cwd` that has nobody to ask, nothing in the background and no sandbox; the fields say otherwise
    /// where it has.
    #[must_use]
    pub fn new(agent: AgentId, cwd: PathBuf, mode: Mode) -> Self {
        let here = Here { cwd, also: Vec::new(), mode, left: None };
        Self {
            agent,
            call: String::new(),
            cancel: CancellationToken::new(),
            background: false,
            here: Arc::new(Mutex::new(here)),
            files: Arc::default(),
            todos: Arc::default(),
            rules: Arc::default(),
            refused: Arc::default(),
            asker: Arc::new(Nobody),
            person: Arc::new(NoPerson),
            tasks: Arc::new(NoTasks),
            sink: Arc::new(Quiet),
            confine: Arc::new(Unconfined),
            limits: Limits::default(),
            outputs: None,
        }
    }

    /// For one call of this agent.
    #[must_use]
    pub fn for_call(&self, call: &str) -> Self {
        Self { call: call.to_owned(), cancel: self.cancel.child_token(), ..self.clone() }
    }

    /// Where the agent stands now.
    #[must_use]
    pub fn here(&self) -> Here {
        locked(&self.here).clone()
    }

    #[must_use]
    pub fn mode(&self) -> Mode {
        locked(&self.here).mode
    }

    /// A file for this call's output, which is not there yet. Call ids come from a model: they name no path.
    pub(super) fn output_file(&self) -> Option<PathBuf> {
        let id = uuid::Uuid::new_v4().simple().to_string();
        self.outputs.as_ref().map(|folder| folder.join(format!("{}-{}.txt", self.agent, &id[..8])))
    }

    pub fn show(&self, event: ToolEvent) {
        self.sink.show(&self.agent, &self.call, event);
    }
}

/// A panic elsewhere leaves these values whole: each is changed in one step.
pub(in crate::agent) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
