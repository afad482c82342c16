//! The agent in a shell: one prompt and its answer (`-p`), or a prompt that stays.

mod once;
mod printer;
mod terminal;

pub use once::{Answered, once};
pub use printer::Printer;
pub use terminal::{Desk, Ended, talk};
