//! The teammate process: a pane's own process and a thin async shell around `decide::teammate`.
//!
//! It owns its member's mail, lease, status and exit record; the engine only carries work in and results
//! out. It never touches tmux and never writes the roster.

mod carry;
mod context;
pub mod engine;
mod env;
mod hooks;
mod mail;
mod run;
mod sandbox;
mod screen;
mod status;
mod trees;
mod turn;
mod verbs;
mod words;
mod work;

pub use context::{Place, StartError};
pub use env::{Identity, pack as pack_env, whole as whole_env};
pub use run::run;
