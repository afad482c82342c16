//! How the team is.

use super::args::Globals;
use super::error::CommandError;
use super::follow::{self, What};
use super::{output, team};
use crate::act::Desk;
use crate::view::status::text;
use crate::view::{StatusView, gather};
use std::io::IsTerminal;

/// Show the roster, states, tasks, open requests and unread mail
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  crewmux status
  crewmux status --watch   # redrawn when something changes
  crewmux status --json")]
pub struct Args {
    /// Stay, and show each change; with --json one object a line
    #[arg(long)]
    pub watch: bool,
}

pub fn run(args: &Args, globals: &Globals) -> Result<(), CommandError> {
    let mut client = team::open(globals)?;
    if args.watch {
        return watch(&mut client.desk, globals.json);
    }
    let status = gather::status(&mut client.desk)?;
    if globals.json { output::json(&status) } else { output::text(&text(&status, &output::style())) }
}

fn watch(desk: &mut Desk, json: bool) -> Result<(), CommandError> {
    let mut shown: Option<StatusView> = None;
    let gone = follow::until(desk, &What::Everything, None, |desk| {
        let status = match gather::status(desk) {
            Ok(status) => status,
            // Taken down between two looks.
            Err(_) if !desk.dir.exists() => return Ok(Some(())),
            Err(error) => return Err(error.into()),
        };
        if shown.as_ref().is_some_and(|before| same(before, &status)) {
            return Ok(None);
        }
        if json {
            output::json_line(&status)?;
        } else {
            draw(&status)?;
        }
        shown = Some(status);
        Ok(None)
    })?;
    if gone.is_some() {
        follow::team_has_gone(desk);
    }
    Ok(())
}

/// Whether nothing but the clock has moved.
fn same(a: &StatusView, b: &StatusView) -> bool {
    StatusView { at: b.at, ..a.clone() } == *b
}

/// On a terminal each picture takes the place of the one before.
fn draw(status: &StatusView) -> Result<(), CommandError> {
    let picture = text(status, &output::style());
    if std::io::stdout().is_terminal() {
        output::text(&format!("\x1b[H\x1b[2J{picture}"))
    } else {
        output::text(&format!("{picture}\n"))
    }
}
