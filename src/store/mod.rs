//! (room store)
