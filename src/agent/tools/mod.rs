//! What a model can call: one file a tool, one registry, one gate that every call passes.
//!
//! A tool never decides whether it may run: [`Registry::call`] asks [`super::permission`] first. A tool never fails the turn: what
//! goes wrong is an [`Outcome`] that tells the model what to do next.

mod ask_user;
mod bash;
mod context;
mod cut;
mod edit;
mod exit_plan_mode;
mod file;
mod gate;
mod glob;
mod grep;
mod input;
mod limit;
mod notebook;
mod notebook_edit;
mod outcome;
mod path;
mod read;
mod registry;
mod sandboxed;
mod services;
mod shell;
mod skill;
mod standard;
mod structured_output;
pub mod team;
#[cfg(test)]
mod tests;
mod todo_write;
mod tool_search;
mod web_fetch;
mod web_search;
mod write;

use std::future::Future;
use std::pin::Pin;

use serde_json::Value;

use super::wire::ToolSpec;

pub use context::{Context, FilesRead, Here, Seen, Todo, TodoStatus};
pub use input::{parse, schema};
pub use limit::Limits;
pub use outcome::{Diff, Outcome};
pub use path::{Resolved, resolve};
pub use registry::Registry;
pub use sandboxed::Sandboxed;
pub use services::{
    Choice, Confine, NoPerson, NoTasks, Person, Planner, Quiet, Registered, ShellEnd, ShellTask, Sink, Tasks,
    ToolEvent, Unconfined,
};

pub use skill::{Skill, SkillFile};
pub use standard::{Standard, standard};
pub use tool_search::ToolSearch;
pub use web_search::WebSearch;

pub(in crate::agent) use context::locked;
pub(in crate::agent) use cut::{middle_cut, tail as last_part};

/// Tools are called from any task of the current-thread runtime and may be spawned, so what they return is `Send`.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What a tool does to the world; permissions go by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Read,
    Edit,
    Execute,
    Search,
    Fetch,
    /// Touches nothing outside the agent and its team: lists, plans, messages that have rules of their own.
    Think,
    /// Nobody knows, as with a tool of an MCP server.
    Other,
}

impl Kind {
    /// Whether calls of it may run beside each other.
    #[must_use]
    pub fn is_parallel(self) -> bool {
        matches!(self, Self::Read | Self::Search | Self::Fetch)
    }
}

/// What is possible for the agent that is shown its tools: descriptions and schemas are made from it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Possible {
    /// It is the main loop and no child.
    pub main: bool,
    /// It has a team.
    pub team: bool,
    /// A person, or a client that stands for one, can be asked.
    pub person: bool,
    /// It runs in the background.
    pub background: bool,
    /// Shells may run in the background.
    pub background_shells: bool,
    /// It is in plan mode.
    pub planning: bool,
    /// It stands in a git repository.
    pub repository: bool,
    /// What its answer has to look like, if that is prescribed.
    pub output_schema: Option<Value>,
    /// Tools that were looked for by ToolSearch and are shown from now on.
    pub loaded: std::collections::BTreeSet<String>,
}

/// What a permission rule is held against.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subject {
    /// The command, path, address or name that patterns match.
    pub text: String,
    /// It lies outside the folders that the agent works in.
    pub outside: bool,
}

impl Subject {
    #[must_use]
    pub fn of(text: impl Into<String>) -> Self {
        Self { text: text.into(), outside: false }
    }
}

/// Something that a model can call.
pub trait Tool: Send + Sync {
    fn name(&self) -> &str;

    /// Other names that it answers to.
    fn aliases(&self) -> &[&str] {
        &[]
    }

    /// What the model gets to see. Name and [`Tool::name`] are the same.
    fn spec(&self, possible: &Possible) -> ToolSpec;

    /// Whether it is of any use here; a tool that is not is neither listed nor called.
    fn is_listed(&self, _possible: &Possible) -> bool {
        true
    }

    /// Not shown until ToolSearch has found it.
    fn is_deferred(&self) -> bool {
        false
    }

    fn kind(&self) -> Kind;

    /// What this call is about. Called before [`Tool::call`], with an input that may be anything.
    fn subject(&self, _input: &Value, _cx: &Context) -> Subject {
        Subject::default()
    }

    fn call<'a>(&'a self, input: Value, cx: &'a Context) -> BoxFuture<'a, Outcome>;
}
