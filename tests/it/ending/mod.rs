//! Ending: F16 to F24.
