//! (room lead)
