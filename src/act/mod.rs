//! (room act)
