//! What people and models look at, as text.

pub mod graph;
pub mod xml;
