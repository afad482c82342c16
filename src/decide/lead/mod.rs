//! The lead's decisions: who is in the team, who is started and ended, and which requests are decided.
//!
//! A pure step function: `(state, event, now) -> effects`. The shell around it (`crate::lead`) carries
//! the effects out in their order and comes back with what happened as further events.

mod begin;
pub mod ending;
mod guest;
mod hooks;
mod join;
mod leader;
mod permissions;
mod requests;
mod shutdown;
mod state;
#[cfg(test)]
mod tests;
mod trees;

pub use ending::{exit_of, reason};
pub use state::{Effect, Event, EventRecord, Finish, Lead, Phase, SHUTDOWN_GRACE, Seat, Start, Why};
