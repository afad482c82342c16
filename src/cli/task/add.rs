//! Adds a task.

use serde_json::Value;

use super::super::args::Globals;
use super::super::error::CommandError;
use super::super::text;
use super::super::values::{key_json, task_id};
use super::super::{output, team};
use crate::act::Verb;
use crate::model::id::TaskId;
use crate::model::name::Name;
use crate::model::task::NewTask;
use crate::model::time::Span;

/// Put a task on the board; prints its number
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  crewmux task add 'Count lines' --run -- ./count.sh src
  crewmux task add 'Merge the findings' --blocked-by 1 --blocked-by 2 --owner merge")]
pub struct Args {
    /// What is to be done, in a few words
    #[arg(value_name = "SUBJECT")]
    pub subject: String,
    /// All that needs saying; `-` reads stdin
    #[arg(long, value_name = "TEXT")]
    pub description: Option<String>,
    /// A task that must be completed first; may be repeated
    #[arg(long, value_name = "ID", value_parser = task_id, value_delimiter = ',')]
    pub blocked_by: Vec<TaskId>,
    /// A task that is to wait for this one; may be repeated
    #[arg(long, value_name = "ID", value_parser = task_id, value_delimiter = ',')]
    pub blocks: Vec<TaskId>,
    /// Who alone may take it
    #[arg(long, value_name = "NAME")]
    pub owner: Option<Name>,
    /// A capability its owner must have; may be repeated
    #[arg(long, value_name = "WORD")]
    pub requires: Vec<String>,
    /// How long one attempt may take
    #[arg(long, value_name = "DURATION")]
    pub timeout: Option<Span>,
    /// How often a failed or lost attempt is tried again
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub retries: u32,
    /// A worker runs the program after `--`
    #[arg(long, requires = "argv")]
    pub run: bool,
    /// The program a worker runs
    #[arg(last = true, value_name = "ARGV")]
    pub argv: Vec<String>,
    /// A field of your own; VALUE is JSON or a text; may be repeated
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_json)]
    pub meta: Vec<(String, Value)>,
}

impl Args {
    /// The task as the board takes it.
    pub fn new_task(&self) -> Result<NewTask, CommandError> {
        Ok(NewTask {
            subject: self.subject.clone(),
            description: self.description.as_deref().map_or(Ok(String::new()), text::given_or_stdin)?,
            active_form: None,
            owner: self.owner.clone(),
            blocked_by: self.blocked_by.clone(),
            blocks: self.blocks.clone(),
            requires: self.requires.clone(),
            run: (!self.argv.is_empty()).then(|| self.argv.clone()),
            timeout: self.timeout,
            retries: self.retries,
            metadata: self.meta.iter().cloned().collect(),
        })
    }
}

pub fn run(args: &Args, globals: &Globals) -> Result<(), CommandError> {
    let task = args.new_task()?;
    let mut client = team::open(globals)?;
    let answer = team::perform_past_hooks(&mut client, Verb::TaskAdd { task })?;
    if globals.json {
        return output::json(&answer.value);
    }
    output::line(answer.value["id"].as_str().unwrap_or_default())
}
