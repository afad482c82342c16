//! The lead process: a thin async shell around `decide::lead`.
//!
//! It owns the lead's lease, the roster, the panes, the ledger and `events.jsonl`. It hosts no engine.

mod board;
mod carry;
mod ends;
mod hooks;
mod panes;
mod run;
mod screen;
mod trees;
mod words;

pub use carry::bury_unread;
pub use panes::{lead_pane, teammate_pane};
pub use run::{LeadError, Outcome, Place, run};
