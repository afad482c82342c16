//! Team specs that people write: found, read, checked, and every mistake shown where it stands.

mod agent;
mod desk;
mod error;
mod find;
mod hooks;
mod leader;
mod load;
mod member;
mod order;
pub mod preset;
pub mod program;
mod sandbox;
mod section;
mod suggest;
mod task;
mod team;
mod vars;

pub use error::{Mistake, SpecError, quote};
pub use find::{Found, find, list};
pub use load::{LoadOptions, MAX_SPEC_BYTES, SPEC_VERSION, load, parse};
pub use suggest::{did_you_mean, nearest};

#[cfg(test)]
mod tests;
