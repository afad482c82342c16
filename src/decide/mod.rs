//! (room decide)
