//! Submits a plan.

use std::path::PathBuf;

use super::super::args::Globals;
use super::super::error::CommandError;
use super::super::text;
use crate::model::time::Span;

/// Submit a plan to the lead for approval
///
/// With --wait: exit 0 when it is approved, 1 when it is rejected (the feedback is printed), 5 when no decision comes
/// in time.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  crewmux plan submit plan.md --wait
  ./plan.sh | crewmux plan submit --summary 'rewrite the parser' --wait=10m")]
pub struct Args {
    /// The plan; stdin otherwise
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Five to ten words that say what it is about
    #[arg(long, value_name = "TEXT")]
    pub summary: Option<String>,
    /// Wait for the decision, for ever or this long
    #[arg(long, value_name = "DURATION", num_args = 0..=1, require_equals = true)]
    pub wait: Option<Option<Span>>,
    /// The same as --wait=DURATION
    #[arg(long, value_name = "DURATION", conflicts_with = "wait")]
    pub timeout: Option<Span>,
}

impl Args {
    /// The plan's text.
    pub fn content(&self) -> Result<String, CommandError> {
        match &self.file {
            Some(file) => text::from_file(file),
            None => text::given_or_stdin("-"),
        }
    }

    /// Whether to wait for the decision, and how long; the inner `None` is for ever.
    #[must_use]
    pub fn wait(&self) -> Option<Option<Span>> {
        self.wait.or(self.timeout.map(Some))
    }
}

pub fn run(_args: &Args, _globals: &Globals) -> Result<(), CommandError> {
    Err(CommandError::not_wired("plan submit"))
}
