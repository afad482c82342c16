//! Submits a plan.

use std::path::PathBuf;

use super::super::args::Globals;
use super::super::error::CommandError;
use super::super::follow::{self, What};
use super::super::text;
use super::super::{output, team};
use crate::act::{Client, Verb};
use crate::model::id::RequestId;
use crate::model::request::RequestState;
use crate::model::time::Span;
use crate::os::clock;
use crate::view::answers::PlanView;

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

pub fn run(args: &Args, globals: &Globals) -> Result<(), CommandError> {
    let plan = args.content()?;
    let mut client = team::open(globals)?;
    let id = clock::new_request_id();
    let verb = Verb::SubmitPlan { request_id: id, plan, summary: args.summary.clone() };
    let answer = team::perform(&mut client, verb)?;
    let Some(limit) = args.wait() else {
        return if globals.json { output::json(&answer.value) } else { output::line(id) };
    };
    let decided = wait(&mut client, id, limit)?;
    let view = decided.unwrap_or(PlanView { id, state: RequestState::Open, feedback: None });
    if globals.json {
        output::json(&view)?;
    } else {
        output::text(&view.text())?;
    }
    match view.state {
        RequestState::Approved => Ok(()),
        RequestState::Open => Err(CommandError::timed_out(format!("no decision on plan {id} in time"))
            .hint("it stays open; `crewmux requests` lists it")),
        state => Err(CommandError::failed(format!("plan {id} is {}", state.as_str()))),
    }
}

/// The decision as the lead writes it into the ledger; `None` when it does not come in time.
fn wait(client: &mut Client, id: RequestId, limit: Option<Span>) -> Result<Option<PlanView>, CommandError> {
    let folder = client.desk.dir.path().to_owned();
    let mut told = false;
    follow::until(&mut client.desk, &What::Folders(vec![folder]), limit.map(|span| span.0), |desk| {
        if !desk.dir.exists() {
            return Err(CommandError::not_found(format!("team `{}` has ended", desk.name)));
        }
        let request = desk.ledger.view()?.0.get(id).filter(|r| r.state != RequestState::Open);
        if let Some(request) = request {
            let feedback = request.decision.as_ref().and_then(|d| d.feedback.clone());
            return Ok(Some(PlanView { id, state: request.state, feedback }));
        }
        // A lead that is brought back decides what was left open, so this is no reason to give up.
        if !told && !desk.lead_alive()? {
            told = true;
            output::note("note: no lead is running; the plan waits for one");
        }
        Ok(None)
    })
}
