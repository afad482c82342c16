//! Shows the team's session.

use super::args::Globals;
use super::error::CommandError;
use super::pane::{Place, block_on};
use super::values::someone;
use super::{output, team};
use crate::model::name::Name;
use crate::tmux::{OuterTmux, View, shell_quote};
use serde_json::json;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Show the team's tmux session, at a member's pane
///
/// From inside another tmux, one new window there holds the team's session.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  crewmux attach scan
  crewmux attach --print   # the command that does it, for a script")]
pub struct Args {
    /// Whose pane to show; the lead's otherwise
    #[arg(value_name = "MEMBER", value_parser = someone)]
    pub pane: Option<Name>,
    /// Look only: keys do nothing
    #[arg(long)]
    pub read_only: bool,
    /// Print the tmux command instead of running it
    #[arg(long)]
    pub print: bool,
}

pub fn run(args: &Args, globals: &Globals) -> Result<(), CommandError> {
    let mut client = team::open(globals)?;
    let name = client.desk.name.clone();
    let place = Place::of(&mut client.desk)?;
    let pane = block_on(async {
        match &args.pane {
            Some(member) => place.pane(&mut client.desk, member).await.map(Some),
            None => place.check().await.map(|()| None),
        }
    })?;
    let view = View { session: &place.tmux_place.session, pane: pane.as_deref(), read_only: args.read_only };
    let outer = OuterTmux::from_env().transpose()?;
    if args.print {
        let argv = if outer.is_some() { place.tmux.nested_argv(view)? } else { place.tmux.attach_argv(view)? };
        return print(&argv, globals.json);
    }
    match outer {
        Some(outer) if outer.socket == place.tmux.socket() => {
            Err(CommandError::conflict(format!("this terminal shows team `{name}` already"))
                .hint("switch windows with the prefix key and a number"))
        }
        Some(outer) => {
            let window = block_on(async { Ok(place.tmux.open_in(&outer, name.as_str(), view).await?) })?;
            if globals.json { output::json(&json!({"window": window})) } else { Ok(()) }
        }
        None => become_tmux(&place.tmux.attach_argv(view)?),
    }
}

fn print(argv: &[OsString], json: bool) -> Result<(), CommandError> {
    if json {
        let argv: Vec<_> = argv.iter().map(|a| a.to_string_lossy()).collect();
        return output::json(&json!({"argv": argv}));
    }
    output::line(shell_quote(argv))
}

/// This process becomes the tmux client: the terminal, its signals and the exit code are tmux's from here on.
fn become_tmux(argv: &[OsString]) -> Result<(), CommandError> {
    let [program, args @ ..] = argv else { return Err(CommandError::failed("there is nothing to run")) };
    let error = Command::new(program).args(args).exec();
    Err(CommandError::failed("cannot start tmux").cause(&error))
}
