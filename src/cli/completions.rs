//! Shell completions.

use super::args::Globals;
use super::error::CommandError;
use super::{docs, output};

/// Print completions for a shell
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  crewmux completions bash > ~/.local/share/bash-completion/completions/crewmux
  crewmux completions zsh > ~/.zfunc/_crewmux
  crewmux completions fish > ~/.config/fish/completions/crewmux.fish")]
pub struct Args {
    /// Which shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

pub fn run(args: &Args, _globals: &Globals) -> Result<(), CommandError> {
    output::text(&docs::completions(args.shell))
}
