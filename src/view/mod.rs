//! (room view)
