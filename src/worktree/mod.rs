//! Git work trees for members and their children: the only room that runs git.
//!
//! Nothing that somebody put into a repository or a tree is started here: no hook, no file-system monitor, no program
//! for showing differences. What a tree is stands in a record where its own program cannot write.

mod diff;
mod find;
mod git;
mod hold;
mod lock;
mod look;
mod make;
mod merge;
mod record;
mod remove;
mod repo;
mod setup;
mod sweep;
#[cfg(test)]
mod tests;

pub use diff::{Form, diff};
pub use find::{find, lives};
pub use hold::{Held, hold, holder};
pub use look::{Look, left_behind, look};
pub use make::{Ask, Made, branch, commits, is_agent_word, make};
pub use merge::{How, Merged, is_merged, merge};
pub use record::{Record, Stage, tidy};
pub use remove::{Settled, discard, settle, why_kept};
pub use repo::Repo;
pub use setup::{Setup, set_up};
pub use sweep::{Kept, sweep};
