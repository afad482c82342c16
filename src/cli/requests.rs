//! Lists requests.

use super::args::Globals;
use super::error::CommandError;
use super::{output, team};
use crate::act::Client;
use crate::model::request::{Request, RequestState};
use crate::view::RequestView;
use crate::view::requests::table;

/// List the open requests: plans, shutdowns, permissions
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  crewmux requests
  crewmux requests --all --json")]
pub struct Args {
    /// Those already decided or ended, too
    #[arg(long)]
    pub all: bool,
}

pub fn run(args: &Args, globals: &Globals) -> Result<(), CommandError> {
    let mut client = team::open(globals)?;
    let views: Vec<RequestView> = seen_by(&mut client)?
        .iter()
        .filter(|r| args.all || r.state == RequestState::Open)
        .map(RequestView::from)
        .collect();
    if globals.json {
        return output::json(&views);
    }
    if views.is_empty() {
        output::note(if args.all { "no requests" } else { "no open requests" });
        return Ok(());
    }
    let style = output::style();
    output::text(&table(&views, &style))?;
    let open = crate::view::requests::open(&views, &style);
    if open.is_empty() { Ok(()) } else { output::text(&format!("\n{open}")) }
}

/// The requests that the caller has to do with, oldest first: all of them, or those about the member that calls.
pub(super) fn seen_by(client: &mut Client) -> Result<Vec<Request>, CommandError> {
    let me = (!client.is_operator()).then(|| client.name());
    let mut found = all(client)?;
    found.retain(|r| me.as_ref().is_none_or(|me| r.member == *me));
    Ok(found)
}

/// All requests, oldest first.
pub(super) fn all(client: &mut Client) -> Result<Vec<Request>, CommandError> {
    let mut found: Vec<Request> = client.desk.ledger.view()?.0.requests().values().cloned().collect();
    found.sort_by_key(|r| (r.created_at, r.id));
    Ok(found)
}
