//! (room os)
pub mod clock;
