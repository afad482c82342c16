//! Shows a plan.

use super::super::args::Globals;
use super::super::error::CommandError;
use super::super::values::RequestRef;
use super::super::{output, requests, team};
use crate::model::request::RequestKind;
use crate::view::RequestView;
use crate::view::plain::{Lines, safe};
use std::io::IsTerminal;

/// Show a plan as it was submitted
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  crewmux plan show 9c41d7aa")]
pub struct Args {
    /// The request the plan came with
    #[arg(value_name = "ID")]
    pub id: RequestRef,
}

pub fn run(args: &Args, globals: &Globals) -> Result<(), CommandError> {
    let mut client = team::open(globals)?;
    let mut plans = requests::seen_by(&mut client)?;
    plans.retain(|r| r.kind == RequestKind::Plan);
    let id = args.id.resolve(plans.iter().map(|r| r.id))?;
    let Some(request) = plans.iter().find(|r| r.id == id) else {
        return Err(CommandError::not_found(format!("no plan `{id}`")));
    };
    if globals.json {
        return output::json(&RequestView::from(request));
    }
    let path = client.desk.dir.plans().join(format!("{id}.md"));
    let plan = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        // Written just after the ledger's record, which holds it too.
        Err(_) => request.body["plan"].as_str().unwrap_or_default().to_owned(),
    };
    let end = if plan.ends_with('\n') { "" } else { "\n" };
    if std::io::stdout().is_terminal() {
        output::text(&format!("{}{end}", safe(&plan, Lines::Keep)))
    } else {
        output::text(&format!("{plan}{end}"))
    }
}
