//! What a program may touch, kept by the kernel.
//!
//! A confined program is started through a hidden verb of this same binary, which applies a [`Policy`] to itself and
//! then becomes the program: nothing of it is left to be asked or tricked. Knows no team and no member: it gets a list of
//! paths.

mod exec;
mod landlock;
mod policy;
mod seccomp;

pub use crate::model::sandbox::Mode;
pub use exec::{ConfineError, exec};
pub use landlock::{Support, support};
pub use policy::{Policy, VERB, wrap};

#[cfg(test)]
mod tests;
