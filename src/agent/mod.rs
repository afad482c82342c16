//! Our own agent: a coding agent that speaks the Agent Client Protocol on stdio, works alone in a shell, and can be a
//! teammate like any other program.
//!
//! It knows a team only as a client of `act`: what it may do there is decided by that door and not here.

pub mod acp;
pub mod budget;
pub mod definition;
pub mod filter;
pub mod http;
pub mod id;
pub mod identity;
pub mod mcp_client;
pub mod notification;
pub mod permission;
pub mod plain;
pub mod prompt;
pub mod provider;
pub mod query;
pub mod queue;
pub mod session;
pub mod settings;
pub mod spawn;
pub mod stream;
pub mod tools;
pub mod transcript;
pub mod wire;

pub use id::AgentId;
