//! A lead that is gone is named on every border, with the command that brings it back.
//!
//! tmux itself writes it, when the lead's pane dies: nobody else may be left who could. tmux is known to
//! lose such a hook when many panes die at once, so this is for people to see and nothing relies on it.

use super::commands::{self as cmd, Scope};
use super::error::TmuxError;
use super::label::GONE;
use super::server::Tmux;
use super::text::one_line;

const GONE_CHARS: usize = 200;

impl Tmux {
    /// From now on every border shows `gone` once the program in `pane` has ended; until then, none does.
    ///
    /// # Errors
    /// When the server does not take it.
    pub async fn mark_lead(&self, pane: &str, gone: &str) -> Result<(), TmuxError> {
        // tmux parses the hook's text as a command: inside single quotes nothing but a quote is special.
        let text = one_line(gone, GONE_CHARS).replace('\'', "").replace('#', "##");
        let hook = format!("set-option -g {GONE} '{text}'");
        self.ask(&[cmd::set(Scope::Global, GONE, ""), cmd::set_hook(pane, "pane-died", &hook)]).await.map(drop)
    }
}
