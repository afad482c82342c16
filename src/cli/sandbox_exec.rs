//! Confines itself and becomes a program; teammates start theirs through it.

use std::ffi::OsString;
use std::path::PathBuf;

use super::args::Globals;
use super::error::CommandError;
use super::values;
use crate::sandbox::{Mode, Policy, exec};

/// Run a program under a sandbox policy
#[derive(clap::Args, Debug)]
pub struct Args {
    /// What it may write
    #[arg(long, value_parser = values::sandbox())]
    pub mode: Mode,
    /// A folder or file that it may write; may be repeated
    #[arg(long, value_name = "PATH")]
    pub writable: Vec<PathBuf>,
    /// It may make Unix sockets
    #[arg(long)]
    pub unix_sockets: bool,
    /// It may make network sockets
    #[arg(long)]
    pub network: bool,
    /// Run it unconfined where the kernel has no Landlock
    #[arg(long)]
    pub fallback_off: bool,
    /// The program and its arguments
    #[arg(last = true, value_name = "ARGV", required = true)]
    pub argv: Vec<OsString>,
}

pub fn run(args: &Args, _globals: &Globals) -> Result<(), CommandError> {
    let policy = Policy {
        mode: args.mode,
        writable: args.writable.clone(),
        unix_sockets: args.unix_sockets,
        network: args.network,
        fallback_off: args.fallback_off,
    };
    match exec(&args.argv, &policy) {
        Ok(never) => match never {},
        // The code that a shell would give: whoever started it takes this for the program's.
        Err(error) => {
            let code = error.code();
            let shown = CommandError::failed("cannot start the program in its sandbox").cause(&error);
            let hint = error.hint();
            hint.into_iter().fold(shown, CommandError::hint).print(false);
            std::process::exit(code.into())
        }
    }
}
