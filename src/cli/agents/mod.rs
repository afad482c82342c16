//! The verbs for agent definitions.

pub mod list;
pub mod show;

use std::path::PathBuf;

use super::args::Globals;
use super::error::CommandError;
use super::up::spec_error;
use crate::agent::definition::{Broken, Library, folders};

/// Look at the kinds of child agents that `crewmux agent` can start
#[derive(clap::Args, Debug)]
#[command(
    subcommand_value_name = "VERB",
    subcommand_help_heading = "Verbs",
    after_help = "\
Examples:
  crewmux agents list
  crewmux agents show Explore"
)]
pub struct Args {
    #[command(subcommand)]
    pub verb: Verb,
}

#[derive(clap::Subcommand, Debug)]
pub enum Verb {
    List(list::Args),
    Show(show::Args),
}

pub fn run(args: &Args, globals: &Globals) -> Result<(), CommandError> {
    match &args.verb {
        Verb::List(args) => list::run(args, globals),
        Verb::Show(args) => show::run(args, globals),
    }
}

/// Every definition that counts in the current folder.
fn library() -> Result<Library, CommandError> {
    let here = std::env::current_dir()?;
    Ok(Library::load(&folders(&here, config_dir().as_deref())))
}

/// `$XDG_CONFIG_HOME`, else `~/.config`. A relative one is to be ignored (XDG Base Directory Specification).
fn config_dir() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|dir| dir.is_absolute());
    set("XDG_CONFIG_HOME").or_else(|| set("HOME").map(|home| home.join(".config")))
}

/// A broken file, with the offending text underlined.
fn broken(file: &Broken) -> CommandError {
    spec_error(&file.error)
}
