//! (room teammate)
