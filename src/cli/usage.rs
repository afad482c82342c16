//! The parser's own answers in the shape of this house: help and version on stdout, mistakes as a usage error.

use clap::error::{ContextKind, ContextValue, ErrorKind as ClapKind};

use super::error::CommandError;
use super::output;

/// Prints help or the version; anything else becomes a usage error.
pub fn report(error: &clap::Error) -> Result<(), CommandError> {
    match error.kind() {
        ClapKind::DisplayHelp | ClapKind::DisplayVersion => {
            let text = error.render();
            let text = if output::color_on_stdout() { text.ansi().to_string() } else { text.to_string() };
            output::text(&text)
        }
        ClapKind::DisplayHelpOnMissingArgumentOrSubcommand | ClapKind::MissingSubcommand => {
            let verb = "a verb is missing";
            Err(CommandError::usage(verb).hint("`crewmux --help` lists the verbs"))
        }
        _ => Err(to_command_error(error)),
    }
}

/// The sentence of the parser as message, its tips and the usage line as hints.
fn to_command_error(error: &clap::Error) -> CommandError {
    let text = error.to_string();
    let mut message = Vec::new();
    let mut hints = Vec::new();
    let mut path = "crewmux".to_owned();
    for line in text.lines().map(str::trim) {
        if let Some(tip) = line.strip_prefix("tip: ") {
            hints.push(tip.to_owned());
        } else if let Some(usage) = line.strip_prefix("Usage: ") {
            path = verb_path(usage);
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
    // An unknown word has no usage line of its own verb to offer.
    if matches!(error.get(ContextKind::InvalidSubcommand), Some(ContextValue::String(_))) {
        return out.hint("`crewmux --help` lists the verbs");
    }
    out.hint(format!("`{path} --help` shows an example"))
}

/// `crewmux task add` of `crewmux task add [OPTIONS] <SUBJECT>`.
fn verb_path(usage: &str) -> String {
    let words: Vec<&str> = usage.split(' ').take_while(|w| w.chars().all(|c| c.is_ascii_lowercase())).collect();
    if words.is_empty() { "crewmux".to_owned() } else { words.join(" ") }
}
