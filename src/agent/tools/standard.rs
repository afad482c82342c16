//! The tools that every agent of ours can have; its role and its definition take away from them.

use std::sync::Arc;

use serde_json::Value;

use super::ask_user::AskUser;
use super::bash::Bash;
use super::edit::Edit;
use super::exit_plan_mode::ExitPlanMode;
use super::glob::Glob;
use super::grep::Grep;
use super::notebook_edit::NotebookEdit;
use super::read::Read;
use super::services::Planner;
use super::skill::Skill;
use super::structured_output::StructuredOutput;
use super::team::{EnterWorktree, ExitWorktree, Seat, TaskCreate, TaskGet, TaskList, TaskUpdate};
use super::todo_write::TodoWrite;
use super::tool_search::ToolSearch;
use super::web_fetch::WebFetch;
use super::web_search::WebSearch;
use super::write::Write;
use super::{Registry, Tool};
use crate::agent::mcp_client::Servers;

/// What some tools need to be of use.
#[derive(Default)]
pub struct Standard {
    /// Who decides on plans; without it the person does.
    pub planner: Option<Arc<dyn Planner>>,
    /// Where the web is searched, if anywhere.
    pub web_search: Option<WebSearch>,
    pub skills: Option<Skill>,
    /// The MCP servers of the session. Their tools are those that answer now.
    pub servers: Option<Arc<Servers>>,
    /// The place in a team, if there is one; it also is who decides on plans.
    pub seat: Option<Seat>,
    /// The form of the final answer, if one is prescribed.
    pub output_schema: Option<Value>,
}

/// In the order in which they are shown.
#[must_use]
pub fn standard(with: Standard) -> Registry {
    let mut tools: Vec<Arc<dyn Tool>> = vec![
        Arc::new(Bash),
        Arc::new(Read),
        Arc::new(Edit),
        Arc::new(Write),
        Arc::new(Glob),
        Arc::new(Grep),
        Arc::new(NotebookEdit),
        Arc::new(TodoWrite),
        Arc::new(AskUser),
        Arc::new(WebFetch),
    ];
    if let Some(search) = with.web_search {
        tools.push(Arc::new(search));
    }
    if let Some(skills) = with.skills {
        tools.push(Arc::new(skills));
    }
    let planner = with.planner.or_else(|| with.seat.clone().map(|seat| Arc::new(seat) as Arc<dyn Planner>));
    tools.push(Arc::new(ExitPlanMode { planner }));
    if let Some(seat) = with.seat {
        tools.push(Arc::new(TaskCreate(seat.clone())));
        tools.push(Arc::new(TaskGet(seat.clone())));
        tools.push(Arc::new(TaskList(seat.clone())));
        tools.push(Arc::new(TaskUpdate(seat.clone())));
        tools.push(Arc::new(EnterWorktree(seat.clone())));
        tools.push(Arc::new(ExitWorktree(seat)));
    }
    if let Some(form) = with.output_schema {
        tools.push(Arc::new(StructuredOutput { form }));
    }
    if let Some(servers) = with.servers {
        tools.push(Arc::new(ToolSearch(Arc::clone(&servers))));
        tools.extend(servers.tools());
    }
    let mut registry = Registry::default();
    tools.into_iter().for_each(|tool| registry.add(tool));
    registry
}
