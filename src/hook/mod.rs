//! Hooks: programs of the spec, run when something happens. They get it as JSON, and may object.
//!
//! Knows what a hook is told and what its end means; what follows from an objection is decided by who runs it.

mod call;
mod run;
mod slots;

pub use call::{About, Call, call, left_of};
pub use slots::Slots;
