//! Verbs as data and the one door they go through.
//!
//! `act(desk, who, verb)` is where it is decided who may do what, and nowhere else. A person's shell calls
//! it as the operator; a member's shell writes the verb into the member's outbox and its teammate calls
//! it as the member ([`client`] does either). It knows nothing of tmux and starts nothing: what needs the
//! lead becomes control mail to the lead.

mod ask;
pub mod board;
pub mod client;
pub mod desk;
mod door;
mod error;
pub mod hooks;
pub mod inbox;
mod limits;
mod near;
pub mod outbox;
pub mod outlook;
pub mod permission;
mod report;
pub mod send;
pub mod task;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
mod verb;
pub mod who;

pub use client::Client;
pub use desk::Desk;
pub use door::{Done, act};
pub use error::ActError;
pub use inbox::ack_with;
pub use outlook::{Counts, TeamOutlook, outlook};
pub use verb::{Answer, Send, Verb};
pub use who::{Descent, Who};
