//! Lists what was allowed for always.

use super::super::args::Globals;
use super::super::error::CommandError;
use super::super::{output, team};
use crate::view::RequestView;
use crate::view::requests::table;

/// List the permissions that were given for always
///
/// A later question of the same tool and scope (or, where the question named no scope, of the same input) is
/// allowed without asking, for whoever of the team asks, as long as the team stands.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  crewmux permission list --json")]
pub struct Args {}

pub fn run(_args: &Args, globals: &Globals) -> Result<(), CommandError> {
    let mut client = team::open(globals)?;
    let views: Vec<RequestView> = client.desk.ledger.view()?.0.grants().into_iter().map(RequestView::from).collect();
    if globals.json {
        return output::json(&views);
    }
    if views.is_empty() {
        output::note("nothing was allowed for always");
        return Ok(());
    }
    let style = output::style();
    output::text(&table(&views, &style))
}
