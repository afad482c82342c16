//! Where things lie: the team's files, their locks and what wakes who waits for them.
//!
//! This is the only room that opens the team's files. It knows nothing of tmux, programs or agents.
//! A writer exists only while its lock is held; a reader takes none.

pub mod backlog;
pub mod blob;
pub mod cursor;
pub mod cursors;
pub mod document;
pub mod error;
mod files;
pub mod hole;
pub mod home;
pub mod intake;
pub mod journal;
mod launcher;
pub mod lease;
pub mod lock;
mod locked;
mod look;
pub mod mailbox;
pub mod member_dir;
pub mod mend;
pub mod reach;
mod record;
mod repair;
pub mod roster;
mod scan;
pub mod segment;
pub mod state_log;
pub mod tail;
pub mod team_dir;
pub mod watch;

pub use error::{Result, StoreError};
pub use files::make_dirs;
pub use home::{DeadTeam, Home};
pub use journal::{Appended, Durability, Journal, LockedJournal};
pub use launcher::launcher_env;
pub use lease::{Lease, LeaseText};
pub use member_dir::MemberDir;
pub use state_log::{Folded, StateLog};
pub use tail::{BadLine, Batch, Line, Position, Tail};
pub use team_dir::TeamDir;
pub use watch::{Wake, Watch};

#[cfg(test)]
mod tests;
