//! The command line: one file a verb. Parses, calls, prints; wires the rooms together.

pub mod args;
pub mod condition;
pub mod docs;
pub mod error;
pub mod follow;
mod log_lines;
pub mod mailbox;
pub mod output;
mod pane;
pub mod progress;
pub mod specs;
pub mod team;
pub mod text;
pub mod usage;
pub mod values;

pub mod approve;
pub mod attach;
pub mod capture;
pub mod completions;
pub mod doctor;
pub mod down;
pub mod events;
pub mod inbox;
pub mod lead;
pub mod logs;
pub mod ls;
pub mod man;
pub mod plan;
pub mod ready;
pub mod reject;
pub mod requests;
pub mod restart;
pub mod run;
pub mod send;
pub mod shutdown;
pub mod spawn;
pub mod status;
pub mod stop;
pub mod task;
pub mod teammate;
pub mod teams;
pub mod up;
pub mod wait;

pub use args::{Cli, Globals, Verb, run};
pub use error::{CommandError, ErrorKind, ResultExt};
