//! The team as tools of the Model Context Protocol: an MCP server on stdio, in the name of whoever its client is.
//!
//! It is one more caller of [`crate::act`] and has no rights of its own: a tool is a verb, an answer short enough for a
//! model, an error that says what to do next. What waits for somebody else (a decision, a read message) reports
//! progress meanwhile, and ends when its call is cancelled or its client goes.

mod answer;
mod mail;
mod members;
mod params;
mod requests;
mod resources;
mod server;
mod session;
mod tasks;
pub mod tools;
mod wait;

pub use server::{ServeError, Served, serve};
pub use session::{Identity, Session};
