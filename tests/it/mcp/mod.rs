//! `crewmux mcp`: with a client written by hand in a member's pane, and with the protocol's own library outside.

mod client;
mod guest;
mod library;
mod odd;
mod plain;
