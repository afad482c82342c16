//! Children: subagents, forks, workers of a coordinator; their lives, and what is told of them.

pub mod lifecycle;
pub mod progress;
pub mod verdict;
