//! Panes: the only room that runs tmux. One private server a team, every target an id.

mod attach;
mod commands;
mod error;
mod label;
mod layout;
mod lead_mark;
mod panes;
mod process;
mod run;
mod server;
mod terminfo;
mod text;
mod types;
mod version;

#[cfg(test)]
mod tests;

pub use attach::{OuterTmux, View};
pub use error::TmuxError;
pub use server::Tmux;
pub use text::shell_quote;
pub use types::{Pane, PaneInfo, PaneSpec, Started};
pub use version::Version;
