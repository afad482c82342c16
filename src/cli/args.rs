//! The command tree and the way from an argument list to an exit code.

use std::ffi::OsString;
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
    after_help = "Example:\n  crewmux run audit --cwd ~/src/project    a whole team, from launch to report",
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
    Join(join),
    Shutdown(shutdown),
    Stop(stop),
    Restart(restart),
    Send(send),
    Inbox(inbox),
    Requests(requests),
    Approve(approve),
    Reject(reject),
    Plan(plan),
    Permission(permission),
    Task(task),
    Worktree(worktree),
    Events(events),
    Logs(logs),
    Capture(capture),
    Teams(teams),
    Agent(agent),
    Agents(agents),
    Mcp(mcp),
    Ready(ready),
    Doctor(doctor),
    Gc(gc),
    Replay(replay),
    Completions(completions),
    Man(man),
}

/// What crewmux starts itself and nobody types: one verb without the tree of all others, which takes longer to build than
/// to read the arguments of one, and whose memory a teammate would keep for life.
#[derive(Parser, Debug)]
struct Alone<A: clap::Args> {
    #[command(flatten)]
    globals: Globals,
    #[command(flatten)]
    args: A,
}

/// `args` begin with the verb.
fn run_alone<A: clap::Args>(
    args: &[OsString],
    verb: fn(&A, &Globals) -> Result<(), CommandError>,
) -> (Result<(), CommandError>, bool) {
    match Alone::<A>::try_parse_from(args) {
        Ok(alone) => (verb(&alone.args, &alone.globals), false),
        Err(error) => (usage::report(&error, args), false),
    }
}

/// Runs the program's own command line: parse, act, print the error, give the exit code.
#[must_use]
pub fn run() -> ExitCode {
    let args: Vec<OsString> = std::env::args_os().collect();
    let words = args.get(1..).unwrap_or_default();
    let (result, json) = match words.first().and_then(|verb| verb.to_str()) {
        Some(crate::sandbox::VERB) => return super::sandbox_exec::run(words),
        Some("lead") => run_alone(words, super::lead::run),
        Some("teammate") => run_alone(words, super::teammate::run),
        _ => match Cli::try_parse_from(&args) {
            Ok(cli) => (cli.verb.run(&cli.globals), cli.globals.json),
            Err(error) => {
                // What was not parsed cannot say whether it asked for JSON: the words are looked at.
                let json = words.iter().take_while(|arg| *arg != "--").any(|arg| arg == "--json");
                (usage::report(&error, words), json)
            }
        },
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            error.print(json);
            error.exit_code()
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    fn parse(line: &[&str]) -> Cli {
        Cli::try_parse_from(std::iter::once("crewmux").chain(line.iter().copied())).unwrap()
    }

    fn help(verb: &[&str]) -> String {
        let words = ["crewmux"].iter().chain(verb).chain(&["-h"]).copied();
        Cli::try_parse_from(words).unwrap_err().to_string()
    }

    #[test]
    fn the_tree_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn help_of_some_verbs() {
        insta::assert_snapshot!("help_send", help(&["send"]));
        insta::assert_snapshot!("help_spawn", help(&["spawn"]));
        insta::assert_snapshot!("help_task_add", help(&["task", "add"]));
        insta::assert_snapshot!("help", help(&[]));
    }

    #[test]
    fn every_verb_shows_an_example() {
        fn look(command: &clap::Command, path: &str) {
            for verb in command.get_subcommands().filter(|verb| !verb.is_hide_set()) {
                let path = format!("{path} {}", verb.get_name());
                let help = verb.get_after_help().map(ToString::to_string).unwrap_or_default();
                assert!(help.contains(&path), "{path} has no example of its own");
                assert!(verb.get_about().is_some(), "{path} says nothing of itself");
                look(verb, &path);
            }
        }
        look(&Cli::command(), "crewmux");
    }

    #[test]
    fn the_examples_of_all_verbs_parse() {
        fn collect(command: &clap::Command, out: &mut Vec<String>) {
            for verb in command.get_subcommands() {
                let help = verb.get_after_help().map(ToString::to_string).unwrap_or_default();
                out.extend(help.lines().filter_map(|line| line.find("crewmux ").map(|at| line[at..].to_owned())));
                collect(verb, out);
            }
        }
        let mut examples = Vec::new();
        collect(&Cli::command(), &mut examples);
        assert!(examples.len() > 40);
        for example in examples {
            // What stands behind a number sign, a pipe or an arrow is no longer ours.
            let end = [" #", " | ", " > "].iter().filter_map(|cut| example.find(cut)).min().unwrap_or(example.len());
            let mut words = vec![String::new()];
            let mut quoted = false;
            for c in example[..end].trim_end().chars() {
                match c {
                    '\'' => quoted = !quoted,
                    ' ' if !quoted => words.push(String::new()),
                    _ => words.last_mut().unwrap().push(c),
                }
            }
            if let Err(error) = Cli::try_parse_from(words) {
                panic!("{example}\n{error}");
            }
        }
    }

    #[test]
    fn texts_may_begin_with_a_dash_and_programs_keep_their_options() {
        for line in [&["send", "scan", "-x; $(true)"][..], &["send", "scan", "--", "--json"]] {
            let Verb::Send(args) = parse(line).verb else { panic!("not send") };
            assert_eq!(args.text.as_deref(), line.last().copied());
        }
        let Verb::Spawn(args) = parse(&["spawn", "a", "--", "./p", "--json", "-h"]).verb else { panic!("not spawn") };
        assert_eq!(args.argv, ["./p", "--json", "-h"]);
        let cli = parse(&["send", "--json", "scan", "hi", "--member", "lead", "--wait=5s"]);
        assert!(cli.globals.json);
        assert_eq!(cli.globals.member, Some(Name::lead()));
        let Verb::Send(args) = cli.verb else { panic!("not send") };
        assert_eq!(args.wait, Some(Some(crate::model::time::Span::secs(5))));
        let Verb::Send(args) = parse(&["send", "scan", "--wait", "hi"]).verb else { panic!("not send") };
        assert_eq!((args.wait, args.text.as_deref()), (Some(None), Some("hi")));
    }
}
