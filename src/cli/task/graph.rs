//! Draws the board.

use super::super::args::Globals;
use super::super::error::CommandError;
use super::super::{output, team};
use crate::model::task::{Task, TaskStatus};
use crate::view::graph;

/// Draw the tasks and what waits for what
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  crewmux task graph
  crewmux task graph --format dot | dot -Tsvg > board.svg")]
pub struct Args {
    /// How to draw it
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    Text,
    Dot,
    Mermaid,
}

pub fn run(args: &Args, globals: &Globals) -> Result<(), CommandError> {
    let mut client = team::open(globals)?;
    let board = &client.desk.board.view()?.board;
    let tasks: Vec<&Task> = board.tasks().values().filter(|t| t.status != TaskStatus::Deleted).collect();
    if globals.json {
        return output::json(&tasks);
    }
    output::text(&match args.format {
        Format::Text => graph::text(tasks),
        Format::Dot => graph::dot(tasks),
        Format::Mermaid => graph::mermaid(tasks),
    })
}
