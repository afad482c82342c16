//! The shutdown handshake.

use super::args::Globals;
use super::error::CommandError;
use crate::model::name::Name;
use crate::model::time::Span;

/// Ask a member, or all, to end; wait until they are gone
///
/// The member finishes or refuses; a refusal's reason is shown (exit 1). Who does not answer within the grace time is
/// stopped.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  crewmux shutdown scan --reason 'work is done'
  crewmux shutdown --all --grace 10s")]
pub struct Args {
    /// Who is to end
    #[arg(value_name = "NAME", required_unless_present = "all")]
    pub name: Option<Name>,
    /// Every member
    #[arg(long, conflicts_with = "name")]
    pub all: bool,
    /// Why, for the member to read
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
    /// How long an answer may take
    #[arg(long, value_name = "DURATION")]
    pub grace: Option<Span>,
    /// End it even if it refuses
    #[arg(long)]
    pub force: bool,
}

pub fn run(_args: &Args, _globals: &Globals) -> Result<(), CommandError> {
    Err(CommandError::not_wired("shutdown"))
}
