//! What to do: pure decisions over folded state. Time and ids come in as arguments.

pub mod authority;
pub mod board;
pub mod lead;
pub mod ledger;
pub mod permit;
pub mod plant;
pub mod restart;
pub mod teammate;
