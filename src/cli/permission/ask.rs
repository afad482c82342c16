//! Asks for permission.

use serde_json::Value;

use super::super::args::Globals;
use super::super::error::CommandError;
use super::super::follow::{self, What};
use super::super::{output, team};
use crate::act::{Client, Verb};
use crate::model::id::RequestId;
use crate::model::request::{Request, RequestState};
use crate::model::time::Span;
use crate::os::clock;
use crate::view::answers::PermissionView;

/// Ask the lead for permission to do something
///
/// A person, or the agent that leads, sees what is asked and decides with `approve` or `reject`. Nobody's answer is a
/// denial. With --wait: exit 0 when it is allowed, 1 when it is denied or has expired, 5 when --wait=DURATION is over
/// first.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  crewmux permission ask deploy --reason 'the tests are green' --wait
  crewmux permission ask shell --input '{\"command\":\"rm -r build\"}' --scope 'rm below build/' --expires 1m --wait")]
pub struct Args {
    /// What it is for, in a word: a tool, an action
    #[arg(value_name = "TOOL")]
    pub tool: String,
    /// What exactly would be done, as JSON or as text
    #[arg(long, value_name = "JSON", allow_hyphen_values = true)]
    pub input: Option<String>,
    /// Why, for whoever decides
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
    /// What `approve --always` would cover; without it, this very input
    #[arg(long, value_name = "TEXT")]
    pub scope: Option<String>,
    /// When it counts as denied (5m where nothing is said, a day at most)
    #[arg(long, value_name = "DURATION")]
    pub expires: Option<Span>,
    /// Wait for the decision, until it expires or this long
    #[arg(long, value_name = "DURATION", num_args = 0..=1, require_equals = true)]
    pub wait: Option<Option<Span>>,
}

impl Args {
    fn verb(&self, id: RequestId) -> Verb {
        let input =
            self.input.as_ref().map(|text| serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.clone())));
        Verb::RequestPermission {
            request_id: id,
            tool: self.tool.clone(),
            input: input.unwrap_or_default(),
            reason: self.reason.clone(),
            scope: self.scope.clone(),
            expires_ms: self.expires.map(|span| u64::try_from(span.0.as_millis()).unwrap_or(u64::MAX)),
        }
    }
}

pub fn run(args: &Args, globals: &Globals) -> Result<(), CommandError> {
    let mut client = team::open(globals)?;
    let id = clock::new_request_id();
    let answer = team::perform(&mut client, args.verb(id))?;
    let Some(limit) = args.wait else {
        return if globals.json { output::json(&answer.value) } else { output::line(id) };
    };
    let view = PermissionView::of(id, wait(&mut client, id, limit)?.as_ref());
    if globals.json {
        output::json(&view)?;
    } else {
        output::text(&view.text())?;
    }
    match view.state {
        RequestState::Approved => Ok(()),
        RequestState::Open => Err(CommandError::timed_out(format!("no decision on permission {id} in time"))
            .hint("it stays open until it expires; `crewmux requests` lists it")),
        RequestState::Rejected => Err(CommandError::failed("it was denied")),
        RequestState::Expired => {
            Err(CommandError::failed("nobody decided in time, which is a denial")
                .hint("ask again if it is still needed"))
        }
        RequestState::Withdrawn => Err(CommandError::failed("the question was taken back")),
    }
}

/// The request once it has ended; `None` when that does not come in time.
fn wait(client: &mut Client, id: RequestId, limit: Option<Span>) -> Result<Option<Request>, CommandError> {
    let folder = client.desk.dir.path().to_owned();
    let mut told = false;
    follow::until(&mut client.desk, &What::Folders(vec![folder]), limit.map(|span| span.0), |desk| {
        if !desk.dir.exists() {
            return Err(CommandError::not_found(format!("team `{}` has ended", desk.name)));
        }
        if let Some(ended) = desk.ended_request(id)? {
            return Ok(Some(ended));
        }
        if !told && !desk.lead_alive()? {
            told = true;
            output::note("note: no lead is running; the question waits for one");
        }
        Ok(None)
    })
}
