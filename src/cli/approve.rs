//! Approves a request.

use super::args::Globals;
use super::error::{CommandError, ErrorKind};
use super::values::RequestRef;
use super::{output, requests, team};
use crate::act::{Client, Verb};
use crate::model::name::Name;
use crate::model::request::{RequestKind, RequestState};
use crate::view::plain::short_id;

/// Approve a request
///
/// ID is a request's id, or 4 or more characters of its beginning or end, as `crewmux requests` shows them.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  crewmux approve 9c41d7aa
  crewmux approve 9c41d7aa --feedback 'mind the lock file'")]
pub struct Args {
    /// Which request
    #[arg(value_name = "ID")]
    pub id: RequestRef,
    /// A word to whoever asked
    #[arg(long, value_name = "TEXT")]
    pub feedback: Option<String>,
    /// Only if the plan still has this hash
    #[arg(long, value_name = "HASH")]
    pub hash: Option<String>,
    /// A permission: for the rest of this team, too
    #[arg(long)]
    pub always: bool,
}

pub fn run(args: &Args, globals: &Globals) -> Result<(), CommandError> {
    let said = Said { approve: true, feedback: args.feedback.as_ref(), hash: args.hash.as_ref(), always: args.always };
    decide(&args.id, &said, globals)
}

/// A decision as it was given.
pub(super) struct Said<'a> {
    pub approve: bool,
    pub feedback: Option<&'a String>,
    pub hash: Option<&'a String>,
    pub always: bool,
}

/// Decides the request that `id` names.
pub(super) fn decide(id: &RequestRef, said: &Said<'_>, globals: &Globals) -> Result<(), CommandError> {
    let mut client = team::open(globals)?;
    let known = requests::all(&mut client)?;
    let id = id.resolve(known.iter().map(|r| r.id))?;
    let request = known.iter().find(|r| r.id == id);
    let me = client.name();
    if let Some(late) =
        request.filter(|r| r.kind == RequestKind::Shutdown && r.member == me && r.state != RequestState::Open)
    {
        // Its teammate may be gone, and needs not be asked.
        return Err(CommandError::conflict(format!("request {id} is {} already", late.state.as_str()))
            .hint("`crewmux requests --all` shows what was decided"));
    }
    // Bound to what the ledger shows now: a plan that changed meanwhile is another one.
    let hash = said.hash.cloned().or_else(|| request.and_then(|r| r.hash.clone()));
    let verb = Verb::Decide {
        request_id: id,
        approve: said.approve,
        hash,
        feedback: said.feedback.cloned(),
        always: said.always,
    };
    let subject = request.filter(|r| r.kind == RequestKind::Shutdown).map(|r| r.member.clone());
    let answer = team::perform(&mut client, verb).map_err(|error| hinted(error, &client, subject.as_ref()))?;
    if globals.json {
        return output::json(&answer.value);
    }
    let state = if said.approve { "approved" } else { "rejected" };
    output::line(format!("{} {state}", short_id(&id.to_string())))
}

/// A shutdown is its subject's to decide; the operator can speak for it.
fn hinted(error: CommandError, client: &Client, subject: Option<&Name>) -> CommandError {
    match subject.filter(|_| error.kind == ErrorKind::Forbidden && client.is_operator()) {
        Some(subject) => error.hint(format!("decide it for the member with `--member {subject}`")),
        None => error,
    }
}
