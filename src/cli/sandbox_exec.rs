//! Confines itself and becomes a program; teammates start theirs through it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

use super::error::CommandError;
use super::values;
use crate::sandbox::{Mode, Policy, exec};

/// Run a program under a sandbox policy
#[derive(Parser, Debug)]
#[command(name = crate::sandbox::VERB)]
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
    /// It may set the times of files also where it may write nothing
    #[arg(long)]
    pub times: bool,
    /// The program and its arguments
    #[arg(last = true, value_name = "ARGV", required = true)]
    pub argv: Vec<OsString>,
}

/// Becomes the program. Where it returns, the code is one that a shell would give: whoever started it takes it for the
/// program's.
pub fn run(args: &[OsString]) -> ExitCode {
    let args = match Args::try_parse_from(args) {
        Ok(args) => args,
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(2);
        }
    };
    let policy = Policy {
        mode: args.mode,
        writable: args.writable,
        unix_sockets: args.unix_sockets,
        network: args.network,
        fallback_off: args.fallback_off,
        times: args.times,
    };
    match exec(&args.argv, &policy) {
        Ok(never) => match never {},
        Err(error) => {
            let shown = CommandError::failed("cannot start the program in its sandbox").cause(&error);
            error.hint().into_iter().fold(shown, CommandError::hint).print(false);
            ExitCode::from(error.code())
        }
    }
}
