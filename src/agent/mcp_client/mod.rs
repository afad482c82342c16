//! The agent as a client of MCP servers: they are started or reached, their tools are called, and what becomes of them is told.

mod config;
mod connection;
mod servers;
mod stdio;
mod tool;

pub use config::{ConfigError, How, Server, project};
pub use servers::{REQUIRED_WAIT, Servers, State};
pub use tool::McpTool;

#[cfg(test)]
mod tests;
