//! The command tree and the way from an argument list to an exit code.

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use super::error::CommandError;
use super::{usage, values};
use crate::model::name::Name;

const EXIT_CODES: &str = "\
Exit codes:
  0    done
  1    failed (a task, a delivery of `*`, a rejected plan)
  2    usage
  3    no such team, member, task or request
  4    you may not (flat roster, not the lead, plan mode, team closed)
  5    timed out
  6    no lead is running
  7    conflict (name taken, claim lost, already decided, late, other hash)
  130  interrupted";

/// Launch a named team of processes in tmux panes and let it coordinate through plain files
///
/// A team is a lead and its teammates, each a process in a tmux pane of its own. They send each
/// other mail, share a board of tasks, and ask the lead or you for decisions.
#[derive(Parser, Debug)]
#[command(
    name = "crewmux",
    version,
    max_term_width = 100,
    disable_help_subcommand = true,
    subcommand_value_name = "VERB",
    subcommand_help_heading = "Verbs",
    after_help = "Example:\n  crewmux run audit --cwd ~/src/project    # a whole team, from launch to report",
    after_long_help = EXIT_CODES
)]
pub struct Cli {
    #[command(flatten)]
    pub globals: Globals,
    #[command(subcommand)]
    pub verb: Verb,
}

/// What every verb takes.
#[derive(clap::Args, Clone, Debug, Default)]
#[command(next_help_heading = "Global options")]
pub struct Globals {
    /// The team; else $CREWMUX_TEAM, else the only running one
    #[arg(long, global = true, value_name = "NAME")]
    pub team: Option<Name>,
    /// Act for this member, as the operator
    #[arg(long, global = true, value_name = "NAME", value_parser = values::someone)]
    pub member: Option<Name>,
    /// Print JSON, errors too
    #[arg(long, global = true)]
    pub json: bool,
}

impl Globals {
    /// The team that `--team` or `$CREWMUX_TEAM` names; `None` leaves it to the only running one.
    pub fn named_team(&self) -> Result<Option<Name>, CommandError> {
        if let Some(team) = &self.team {
            return Ok(Some(team.clone()));
        }
        match std::env::var_os("CREWMUX_TEAM").filter(|v| !v.is_empty()) {
            None => Ok(None),
            Some(text) => Name::parse(&text.to_string_lossy()).map(Some).map_err(|e| {
                CommandError::usage("$CREWMUX_TEAM is not a team name").cause(&e).hint("unset it, or give --team NAME")
            }),
        }
    }
}

macro_rules! verbs {
    ($($(#[$attr:meta])* $variant:ident($room:ident)),* $(,)?) => {
        /// One verb and its arguments.
        #[derive(Subcommand, Debug)]
        pub enum Verb {
            $($(#[$attr])* $variant(super::$room::Args),)*
        }

        impl Verb {
            /// Carries the verb out.
            pub fn run(&self, globals: &Globals) -> Result<(), CommandError> {
                match self {
                    $(Self::$variant(args) => super::$room::run(args, globals),)*
                }
            }
        }
    };
}

verbs! {
    Up(up),
    Run(run),
    Attach(attach),
    Ls(ls),
    Status(status),
    Wait(wait),
    Down(down),
    Spawn(spawn),
    Shutdown(shutdown),
    Stop(stop),
    Restart(restart),
    Send(send),
    Inbox(inbox),
    Requests(requests),
    Approve(approve),
    Reject(reject),
    Plan(plan),
    Task(task),
    Events(events),
    Logs(logs),
    Capture(capture),
    Teams(teams),
    Ready(ready),
    Doctor(doctor),
    Completions(completions),
    Man(man),
    #[command(hide = true)]
    Lead(lead),
    #[command(hide = true)]
    Teammate(teammate),
}

/// Runs the program's own command line: parse, act, print the error, give the exit code.
#[must_use]
pub fn run() -> ExitCode {
    // Errors of the parser itself must know about `--json` before it is parsed.
    let wants_json = std::env::args_os().skip(1).take_while(|a| a != "--").any(|a| a == "--json");
    let (result, json) = match Cli::try_parse() {
        Ok(cli) => (cli.verb.run(&cli.globals), cli.globals.json),
        Err(error) => (usage::report(&error), wants_json),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            error.print(json);
            error.exit_code()
        }
    }
}
