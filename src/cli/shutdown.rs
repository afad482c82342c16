//! The shutdown handshake.

use super::args::Globals;
use super::error::CommandError;
use super::values::someone;
use super::{output, team};
use crate::act::Verb;
use crate::decide::lead::SHUTDOWN_GRACE;
use crate::model::name::Name;
use crate::model::time::Span;
use serde_json::Value;
use std::time::Duration;

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
    #[arg(value_name = "NAME", value_parser = someone, required_unless_present = "all")]
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

/// What the lead takes for its answer beyond the grace time: to end what does not answer, and its children.
const ENDING: Duration = Duration::from_secs(60);

pub fn run(args: &Args, globals: &Globals) -> Result<(), CommandError> {
    let mut client = team::open(globals)?;
    let grace = args.grace.map_or(SHUTDOWN_GRACE, |span| span.0);
    let verb = Verb::Shutdown {
        name: args.name.clone(),
        reason: args.reason.clone(),
        grace_ms: args.grace.map(|span| u64::try_from(span.0.as_millis()).unwrap_or(u64::MAX)),
        force: args.force,
    };
    let answer = team::noted(client.perform_within(verb, grace.saturating_add(ENDING))?)?;
    if globals.json {
        return output::json(&answer.value);
    }
    let names = |key: &str| -> Vec<String> {
        let list = answer.value[key].as_array().into_iter().flatten();
        list.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let forced = names("forced");
    for name in names("stopped") {
        let how = if forced.contains(&name) { "was stopped" } else { "has ended" };
        output::line(format!("{name} {how}"))?;
    }
    Ok(())
}
