//! What tools need of the agent around them, as traits: the screen, the person, the registry of tasks, the sandbox.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{BoxFuture, Diff, Todo};
use crate::agent::id::AgentId;
use crate::agent::permission::Mode;

/// Something to show while a tool works, or that it changed.
#[derive(Clone, Debug, PartialEq)]
pub enum ToolEvent {
    /// A part of what a running command prints.
    Output(String),
    /// The agent's list of things to do, whole.
    Plan(Vec<Todo>),
    /// A file was changed.
    Changed(Diff),
    /// The agent is in another permission mode from now on.
    Mode(Mode),
    /// The agent works in another folder from now on.
    Moved(PathBuf),
    /// The answer in the prescribed form.
    Structured(Value),
    /// For the person, a line.
    Notice(String),
}

/// Takes what tools have to show. `call` is the id of the tool call.
pub trait Sink: Send + Sync {
    fn show(&self, agent: &AgentId, call: &str, event: ToolEvent);
}

/// A question with answers to choose from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    pub question: String,
    /// Label, and what it means. None: any text is an answer.
    pub options: Vec<(String, String)>,
    pub several: bool,
}

/// The person in front of the agent, or a client that stands for one.
pub trait Person: Send + Sync {
    /// Whether anybody is there to answer.
    fn is_there(&self) -> bool;

    /// The labels chosen, or what was typed. An error says why there is no answer.
    fn choose<'a>(&'a self, agent: &'a AgentId, choice: Choice) -> BoxFuture<'a, Result<Vec<String>, String>>;

    /// Shows a plan and asks whether to go on with it: the mode to go on in, or what is to be different.
    fn judge_plan<'a>(&'a self, agent: &'a AgentId, plan: &'a str) -> BoxFuture<'a, Result<Mode, String>>;
}

/// Whoever decides on a plan in a team.
pub trait Planner: Send + Sync {
    /// Hands the plan in and waits: the mode to go on in, or what is to be different. `None`: agreed, and the next life of the member
    /// carries it out.
    fn submit<'a>(&'a self, plan: &'a str) -> BoxFuture<'a, Result<Option<Mode>, String>>;
}

/// A shell that goes on while its caller does other things.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShellTask {
    pub owner: AgentId,
    pub command: String,
    pub description: Option<String>,
}

/// A task's place in the registry.
#[derive(Clone, Debug)]
pub struct Registered {
    pub id: String,
    /// Exists, and is empty.
    pub output_file: PathBuf,
    /// Cancelled when the task is to stop, by whoever.
    pub stop: CancellationToken,
}

/// How a shell ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShellEnd {
    Exited(i32),
    Signalled(i32),
    /// Its `stop` was cancelled, and nothing of it runs any more.
    Stopped,
    Failed(String),
}

/// The registry of what runs for an agent: children, and shells in the background.
pub trait Tasks: Send + Sync {
    /// Takes a shell up, before it is started.
    ///
    /// # Errors
    /// Why it cannot be: too many, no place for the output.
    fn register_shell(&self, shell: ShellTask) -> Result<Registered, String>;

    /// It has ended: its owner is told once.
    fn shell_ended(&self, id: &str, end: ShellEnd);
}

/// Puts a command into the sandbox of a mode.
pub trait Confine: Send + Sync {
    /// Whether commands of this mode are really kept from what the mode forbids.
    fn confines(&self, mode: Mode) -> bool;

    /// A folder for temporary files that commands may write in every mode.
    fn tmp(&self) -> Option<&Path> {
        None
    }

    /// The command that runs `argv` confined. `writable` are the folders that the mode may write, if it may write any.
    ///
    /// # Errors
    /// Why there is no sandbox.
    fn wrap(&self, argv: Vec<OsString>, mode: Mode, writable: &[&Path]) -> Result<Vec<OsString>, String>;
}

/// Nothing is shown.
#[derive(Clone, Copy, Debug)]
pub struct Quiet;

impl Sink for Quiet {
    fn show(&self, _agent: &AgentId, _call: &str, _event: ToolEvent) {}
}

/// Nobody is there.
#[derive(Clone, Copy, Debug)]
pub struct NoPerson;

const NOBODY: &str = "nobody is there to answer; decide by yourself and say what you assumed";

impl Person for NoPerson {
    fn is_there(&self) -> bool {
        false
    }

    fn choose<'a>(&'a self, _agent: &'a AgentId, _choice: Choice) -> BoxFuture<'a, Result<Vec<String>, String>> {
        Box::pin(async { Err(NOBODY.to_owned()) })
    }

    fn judge_plan<'a>(&'a self, _agent: &'a AgentId, _plan: &'a str) -> BoxFuture<'a, Result<Mode, String>> {
        Box::pin(async { Err(NOBODY.to_owned()) })
    }
}

/// Nothing runs in the background here.
#[derive(Clone, Copy, Debug)]
pub struct NoTasks;

impl Tasks for NoTasks {
    fn register_shell(&self, _shell: ShellTask) -> Result<Registered, String> {
        Err("nothing can run in the background here; call it without run_in_background".to_owned())
    }

    fn shell_ended(&self, _id: &str, _end: ShellEnd) {}
}

/// Commands run as they are: the person decided so, or the agent itself stands in a sandbox already.
#[derive(Clone, Copy, Debug)]
pub struct Unconfined;

impl Confine for Unconfined {
    fn confines(&self, _mode: Mode) -> bool {
        false
    }

    fn wrap(&self, argv: Vec<OsString>, _mode: Mode, _writable: &[&Path]) -> Result<Vec<OsString>, String> {
        Ok(argv)
    }
}
