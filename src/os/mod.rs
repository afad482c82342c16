//! (room os)
