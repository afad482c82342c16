//! Children: subagents, forks, workers of a coordinator; their lives, and what is told of them.

mod agent_tool;
mod child;
pub mod coordinator;
mod fork;
pub mod kept;
pub mod lifecycle;
mod message;
mod nursery;
mod output;
pub mod progress;
mod run;
mod seed;
mod stop;
mod tree;
pub mod verdict;

pub use nursery::{New, Nursery, One};
pub use seed::Seed;
