//! The parser's own answers in the shape of this house: help and version on stdout, mistakes as a usage error.

use std::ffi::OsString;

use clap::CommandFactory;
use clap::error::ErrorKind as ClapKind;

use super::args::Cli;
use super::error::CommandError;
use super::output;

/// Prints help or the version; anything else becomes a usage error. `args` is the command line without the program.
pub fn report(error: &clap::Error, args: &[OsString]) -> Result<(), CommandError> {
    match error.kind() {
        ClapKind::DisplayHelp | ClapKind::DisplayVersion => {
            let text = error.render();
            output::text(&if output::color_on_stdout() { text.ansi().to_string() } else { text.to_string() })
        }
        _ => Err(to_command_error(error, args)),
    }
}

/// The sentence of the parser as message, its tips and the usage line as hints.
pub(crate) fn to_command_error(error: &clap::Error, args: &[OsString]) -> CommandError {
    let path = verb_path(args);
    if matches!(error.kind(), ClapKind::DisplayHelpOnMissingArgumentOrSubcommand | ClapKind::MissingSubcommand) {
        return CommandError::usage("a verb is missing").hint(format!("`{path} --help` lists the verbs"));
    }
    let text = error.to_string();
    let mut message = Vec::new();
    let mut hints = Vec::new();
    for line in text.lines().map(str::trim) {
        if let Some(tip) = line.strip_prefix("tip: ") {
            hints.push(tip.to_owned());
        } else if let Some(usage) = line.strip_prefix("Usage: ") {
            hints.push(format!("usage: {usage}"));
        } else if line.starts_with("For more information") {
            break;
        } else if !line.is_empty() && hints.is_empty() {
            message.push(line.strip_prefix("error: ").unwrap_or(line));
        }
    }
    if message.is_empty() {
        message.push("the command line cannot be read");
    }
    let mut out = CommandError::usage(message.join(" "));
    out.hints = hints;
    let shows = if error.kind() == ClapKind::InvalidSubcommand { "lists the verbs" } else { "shows an example" };
    out.hint(format!("`{path} --help` {shows}"))
}

/// `crewmux task add` for `--json task add --retries x`: as far down the tree as the words lead.
fn verb_path(args: &[OsString]) -> String {
    let mut at = Cli::command();
    let mut path = at.get_name().to_owned();
    for word in args.iter().take_while(|arg| *arg != "--").filter_map(|arg| arg.to_str()) {
        let Some(verb) = at.find_subcommand(word).cloned() else { continue };
        path += " ";
        path += verb.get_name();
        at = verb;
    }
    path
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    fn mistake(line: &str) -> CommandError {
        let args: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        let parsed = Cli::try_parse_from(std::iter::once("crewmux".into()).chain(args.iter().cloned()));
        to_command_error(&parsed.unwrap_err(), &args)
    }

    #[test]
    fn every_mistake_is_a_usage_error_with_the_help_that_fits() {
        for (line, message, hint) in [
            ("", "a verb is missing", "`crewmux --help` lists the verbs"),
            ("--json task", "a verb is missing", "`crewmux task --help` lists the verbs"),
            ("snd", "unrecognized subcommand 'snd'", "a similar subcommand exists: 'send'"),
            ("send", "arguments were not provided: <TO> <TEXT>", "usage: crewmux send <TO> <TEXT>"),
            ("up a --foo", "unexpected argument '--foo' found", "`crewmux up --help` shows an example"),
            ("up", "were not provided: <SPEC>", "`crewmux up --help` shows an example"),
            ("up a --resume b", "cannot be used with", "`crewmux up --help` shows an example"),
            ("spawn ../x", "it contains '/'", "`crewmux spawn --help` shows an example"),
            (
                "spawn a --engine tmux",
                "[possible values: acp, command, worker]",
                "`crewmux spawn --help` shows an example",
            ),
            (
                "task add x --timeout soon",
                "`soon` is not a length of time",
                "`crewmux task add --help` shows an example",
            ),
            ("task done first", "tasks are numbered", "`crewmux task done --help` shows an example"),
            ("wait --for nothing", "a condition is idle", "`crewmux wait --help` shows an example"),
            ("shutdown a --all", "cannot be used with", "`crewmux shutdown --help` shows an example"),
            ("status --team .x", "starts with '.'", "`crewmux status --help` shows an example"),
        ] {
            let error = mistake(line);
            assert_eq!(error.kind.code(), 2, "{line}");
            assert!(error.message.contains(message), "{line}: {}", error.message);
            assert!(error.hints.iter().any(|h| h == hint), "{line}: {:?}", error.hints);
            assert!(!error.message.contains('\n'), "{line}: {}", error.message);
            assert_eq!(error.to_json()["error"]["code"], 2);
        }
    }
}
