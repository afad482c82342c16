//! Takes the team down.

use std::path::PathBuf;

use super::args::Globals;
use super::error::CommandError;
use crate::model::time::Span;

/// Take the team down: shutdown handshakes, then its session and live files go
///
/// Members that are at work are asked, and may refuse; --force ends them anyway.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  crewmux down
  crewmux down --grace 5s --archive ~/audits")]
pub struct Args {
    /// How long each member may take to end
    #[arg(long, value_name = "DURATION")]
    pub grace: Option<Span>,
    /// Leave the team's files where they are
    #[arg(long)]
    pub keep_files: bool,
    /// Move the team's files into this folder
    #[arg(long, value_name = "DIR", conflicts_with = "keep_files")]
    pub archive: Option<PathBuf>,
    /// End members that are at work or refuse
    #[arg(long)]
    pub force: bool,
}

pub fn run(_args: &Args, _globals: &Globals) -> Result<(), CommandError> {
    Err(CommandError::not_wired("down"))
}
