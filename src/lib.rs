//! crewmux: a named team of processes in tmux panes that coordinates through plain files.
//!
//! The rooms, ground floor first; a room imports only what lies below it:
//! `model` < `decide` < `os` < `sandbox` < `store` < `spec` < `hook` < `act` < `tmux` < `worktree` < `view` < `mcp` < `agent` < `teammate` < `lead` < `launch` < `cli`.

pub mod act;
pub mod agent;
pub mod cli;
pub mod decide;
pub mod hook;
#[cfg(any(test, feature = "fuzzing"))]
pub mod hostile;
pub mod launch;
pub mod lead;
pub mod mcp;
pub mod model;
pub mod os;
pub mod sandbox;
#[cfg(test)]
mod sim;
pub mod spec;
pub mod store;
pub mod teammate;
pub mod tmux;
pub mod view;
pub mod worktree;
