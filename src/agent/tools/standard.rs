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
use super::structured_output::StructuredOutput;
use super::todo_write::TodoWrite;
use super::write::Write;
use super::{Registry, Tool};

/// What some tools need to be of use.
#[derive(Default)]
pub struct Standard {
    /// Who decides on plans; without it the person does.
    pub planner: Option<Arc<dyn Planner>>,
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
        Arc::new(ExitPlanMode { planner: with.planner }),
    ];
    if let Some(form) = with.output_schema {
        tools.push(Arc::new(StructuredOutput { form }));
    }
    Registry::new(tools)
}
