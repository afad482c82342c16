//! Sends a message.

use std::path::PathBuf;

use super::args::Globals;
use super::error::CommandError;
use super::{text, values};
use crate::model::id::MessageId;
use crate::model::message::Priority;
use crate::model::time::Span;

/// Send a message to a member, the lead, the operator or everyone
///
/// TO is a name, name@team, `lead`, `operator`, or `*` for all but oneself. The text is the argument, a file, or with
/// `-` what comes in on stdin; after `--` it may begin with anything. Up to 256 KiB travel in the message, up to
/// 8 MiB beside it. Prints the message's id and, for each recipient, its place in the mailbox and what waits before it.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  crewmux send scan 'look at src/ first'
  crewmux send '*' --file plan.md --summary 'the new plan'
  git diff | crewmux send lead - --priority later")]
pub struct Args {
    /// Who gets it
    #[arg(value_name = "TO")]
    pub to: String,
    /// The text; `-` reads stdin
    #[arg(value_name = "TEXT", required_unless_present = "file", allow_hyphen_values = true)]
    pub text: Option<String>,
    /// Read the text from a file
    #[arg(long, value_name = "FILE", conflicts_with = "text")]
    pub file: Option<PathBuf>,
    /// Five to ten words that say what it is about
    #[arg(long, value_name = "TEXT")]
    pub summary: Option<String>,
    /// When it is handed over: `now` interrupts, and is for the lead and the operator
    #[arg(long, value_parser = values::priority())]
    pub priority: Option<Priority>,
    /// The message this answers
    #[arg(long, value_name = "ID")]
    pub reply_to: Option<MessageId>,
    /// The id of this message: sent twice, it is one message
    #[arg(long, value_name = "UUID")]
    pub id: Option<MessageId>,
    /// Return only when it is on disk
    #[arg(long)]
    pub durable: bool,
    /// Leave it for a member that has ended, for its next start
    #[arg(long)]
    pub queue: bool,
    /// Wait until it was read, for ever or this long (exit 5)
    #[arg(long, value_name = "DURATION", num_args = 0..=1, require_equals = true)]
    pub wait: Option<Option<Span>>,
}

impl Args {
    /// The text to send, read from where the caller keeps it.
    pub fn content(&self) -> Result<String, CommandError> {
        match (&self.file, &self.text) {
            (Some(file), _) => text::from_file(file),
            (None, Some(given)) => text::given_or_stdin(given),
            (None, None) => Err(CommandError::usage("there is no text to send").hint("give TEXT, --file FILE or -")),
        }
    }
}

pub fn run(_args: &Args, _globals: &Globals) -> Result<(), CommandError> {
    Err(CommandError::not_wired("send"))
}
