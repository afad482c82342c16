//! (room spec)
