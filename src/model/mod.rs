//! What things are. Pure: no file, no clock, no environment, no process.

pub mod address;
pub mod agent;
pub mod hook;
pub mod id;
pub mod message;
pub mod name;
pub mod request;
pub mod sandbox;
pub mod spec;
pub mod task;
pub mod team;
pub mod time;
pub mod tree;
