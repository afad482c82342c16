//! Bringing teams up and down, from outside: what `up`, `run` and `down` do before there is a lead and
//! after there is none. Whoever works here holds the team's lock for as long as it does.

mod archive;
mod clear;
mod confine;
mod down;
mod gc;
mod hold;
mod make;
mod repair;
mod up;

pub use confine::can_confine;
pub use down::{DownOptions, Downed, down, start_take_down};
pub use gc::{Kind, Leftover, find_leftovers, remove_leftovers};
pub use hold::Hold;
pub use up::{Step, Up, UpOptions, resume, resume_held, up};

use crate::act::ActError;
use crate::tmux::TmuxError;

/// A runtime for the few tmux calls that a verb makes.
fn runtime() -> Result<tokio::runtime::Runtime, ActError> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|e| ActError::failed("cannot start the runtime").cause(e.to_string()))
}

fn of_tmux(what: &str, error: &TmuxError) -> ActError {
    let failed = ActError::failed(format!("cannot {what}")).cause(error.to_string());
    match error.hint() {
        Some(hint) => failed.hint(hint),
        None => failed,
    }
}
