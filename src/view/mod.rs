//! What people look at: text tables, the feed, the lead's screen. The structs here are the documented `--json` shapes.

pub mod agents;
pub mod answers;
pub mod dashboard;
pub mod feed;
pub mod gather;
pub mod graph;
pub mod inbox;
pub mod leftovers;
pub mod letter;
pub mod mailbox;
pub mod plain;
pub mod replay;
pub mod requests;
pub mod specs;
pub mod status;
pub mod table;
pub mod tasks;
pub mod teams;
pub mod worktrees;
pub mod xml;

pub use dashboard::{Size, dashboard, frame};
pub use feed::feed;
pub use plain::{Lines, Style, count, safe};
pub use requests::RequestView;
pub use status::{Alive, LeadView, MemberView, StatusView, TaskCounts};
pub use teams::TeamRow;
