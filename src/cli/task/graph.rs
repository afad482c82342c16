//! Draws the board.

use super::super::args::Globals;
use super::super::error::CommandError;

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

pub fn run(_args: &Args, _globals: &Globals) -> Result<(), CommandError> {
    Err(CommandError::not_wired("task graph"))
}
