//! What only Linux has about processes and terminals, one file per mechanism.
//!
//! Never knows what a team, a member or a message is: only pids, file descriptors and the mark of a life.

pub mod again;
pub mod clock;
pub mod fault;
pub mod late_close;
pub mod life;
pub mod log_file;
mod outer;
pub mod own;
pub mod paste;
pub mod pidfd;
pub mod process;
pub mod reap;
pub mod relay;
pub mod spawn;
pub mod terminal;
pub mod tree;
pub mod trim;
mod watch;

#[cfg(test)]
mod tests;
