//! The tools of a team's member: its board, its plan, and work trees of its own.

mod board;
mod seat;
mod worktree;

pub use board::{TaskCreate, TaskGet, TaskList, TaskUpdate};
pub use seat::Seat;
pub use worktree::{EnterWorktree, ExitWorktree};
