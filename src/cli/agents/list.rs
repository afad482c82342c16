//! All definitions.

use super::{broken, library};
use crate::agent::definition::{Found, Source};
use crate::cli::args::Globals;
use crate::cli::error::CommandError;
use crate::cli::output;
use crate::view::agents::{AgentRow, table};

/// List the agent definitions that are found from here, nearest first, then those that are built in
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  crewmux agents list
  crewmux agents list --json")]
pub struct Args {}

pub fn run(_args: &Args, globals: &Globals) -> Result<(), CommandError> {
    let library = library()?;
    let rows: Vec<AgentRow> = library.all().iter().map(row).collect();
    if globals.json {
        output::json(&rows)?;
    } else {
        output::text(&table(&rows, &output::style()))?;
    }
    if library.broken().is_empty() {
        return Ok(());
    }
    let mut error = CommandError::usage(match library.broken().len() {
        1 => "one file holds no usable definition".to_owned(),
        n => format!("{n} files hold no usable definitions"),
    });
    for file in library.broken() {
        if globals.json {
            error = file.error.lines().into_iter().fold(error, CommandError::because);
        } else {
            broken(file).print(false);
        }
    }
    Err(error.hint("mend or remove what is broken; the other definitions can be used"))
}

fn row(found: &Found) -> AgentRow {
    let definition = &found.definition;
    AgentRow {
        name: definition.name.clone(),
        description: definition.description.clone(),
        tools: definition.tools_text(),
        model: definition.model.as_str().to_owned(),
        mode: definition.permission_mode.map_or("accept_edits", |mode| mode.as_str()).to_owned(),
        max_turns: definition.max_turns,
        source: match &definition.source {
            Source::BuiltIn => "built-in".to_owned(),
            Source::File(path) => path.display().to_string(),
        },
        hidden: found.hidden,
    }
}
