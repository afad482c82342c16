//! Waits for a condition.

use super::args::Globals;
use super::condition::Condition;
use super::error::CommandError;
use super::follow::{self, What};
use super::met::{Asked, Found};
use super::{output, team};
use crate::act::Desk;
use crate::model::time::Span;
use crate::view::inbox::mail;
use crate::view::requests;

/// Wait until something is so
///
/// Conditions:
///   idle                nobody works, and nothing waits that somebody would take up by itself
///   done                no task is in progress and none can still be claimed
///   member:NAME=STATE   a member is in a state (idle, busy, exited, …)
///   task:ID=STATUS      a task has a status (completed, failed, …)
///   message:FROM        mail from FROM is unread in one's own mailbox; prints it
///   request             a request is open; prints it
///
/// Given more than once, all must hold. Exits 5 when the time runs out.
#[derive(clap::Args, Debug)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  crewmux wait --for done --timeout 10m
  crewmux wait --for task:3=completed --for member:scan=idle"
)]
pub struct Args {
    /// What to wait for; may be repeated
    #[arg(long = "for", value_name = "COND", required = true)]
    pub conditions: Vec<Condition>,
    /// Give up after this long (exit 5)
    #[arg(long, value_name = "DURATION")]
    pub timeout: Option<Span>,
}

pub fn run(args: &Args, globals: &Globals) -> Result<(), CommandError> {
    let mut client = team::open(globals)?;
    let mut asked: Vec<Asked> = Vec::new();
    for condition in &args.conditions {
        asked.push(Asked::new(condition.clone(), &mut client, globals.member.as_ref())?);
    }
    let mut told = false;
    let limit = args.timeout.map(|span| span.0);
    let met = follow::until(&mut client.desk, &What::Everything, limit, |desk| {
        if !told && !desk.lead_alive()? {
            told = true;
            output::note("note: no lead is running; nothing is started or decided until one is");
        }
        all(&mut asked, desk)
    })?;
    match met {
        Some(found) => found.iter().try_for_each(|f| show(f, globals.json)),
        None => {
            let open: Vec<String> = asked.iter().filter(|a| !a.held).map(|a| a.condition.to_string()).collect();
            Err(CommandError::timed_out(format!("not so in time: {}", open.join(", ")))
                .hint("`crewmux status` shows how things are"))
        }
    }
}

/// What was found, once every condition holds in the same look.
fn all(asked: &mut [Asked], desk: &mut Desk) -> Result<Option<Vec<Found>>, CommandError> {
    let mut found = Vec::new();
    let mut every = true;
    for one in asked {
        let now = one.look(desk)?;
        one.held = now.is_some();
        every &= one.held;
        found.extend(now.into_iter().flatten());
    }
    Ok(every.then_some(found))
}

fn show(found: &Found, json: bool) -> Result<(), CommandError> {
    let style = output::style();
    match found {
        Found::Mail(view) if json => output::json_line(view),
        Found::Request(view) if json => output::json_line(view),
        Found::Mail(view) => output::text(&mail(view, &style)),
        Found::Request(view) => output::text(&requests::open(std::slice::from_ref(view), &style)),
    }
}
