//! An agent's turns: mail and tasks become prompts between them, and each turn becomes one report.

mod begin;
mod brief;
mod end;
mod feed;
mod permission;
mod plain;
mod session;
mod state;

pub use state::Agent;
