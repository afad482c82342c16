//! The protocol's face: the agent as an ACP agent on stdio, for teammates, editors and any other client.

mod content;
mod face;
mod serve;
mod show;

pub use serve::{Load, serve};

/// In `initialize`, a client says by this key in the `_meta` of its capabilities that it heeds [`WAKE`].
pub const WAKES: &str = "crewmux/wake";
/// Told to a client when something waits and no turn runs; it then prompts with nothing, and what waits enters.
pub const WAKE: &str = "_crewmux/wake";
/// In the `_meta` of an answer to a prompt: what the session has spent so far.
pub const SPENT: &str = "crewmux/spent";
/// In the `_meta` of an answer to a prompt: how many children and shells still run.
pub const RUNNING: &str = "crewmux/running";
