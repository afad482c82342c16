//! Reads a mailbox.

use super::args::Globals;
use super::error::CommandError;
use super::values::someone;
use crate::model::name::Name;

/// Read one's own mailbox, or with --member another's
///
/// Shows what is unread. Nothing moves without --ack, which marks what was shown as read.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  crewmux inbox --ack
  crewmux inbox --follow --json | while read -r message; do …; done
  crewmux inbox --member scan --all")]
pub struct Args {
    /// What was read already, too
    #[arg(long)]
    pub all: bool,
    /// Stay, and show mail as it comes
    #[arg(long)]
    pub follow: bool,
    /// Mark what is shown as read
    #[arg(long)]
    pub ack: bool,
    /// Only mail of this sender
    #[arg(long, value_name = "NAME", value_parser = someone)]
    pub from: Option<Name>,
    /// Only mail of this type (text, report, task_assigned, …)
    #[arg(long = "type", value_name = "TYPE")]
    pub kind: Option<String>,
}

pub fn run(_args: &Args, _globals: &Globals) -> Result<(), CommandError> {
    Err(CommandError::not_wired("inbox"))
}
