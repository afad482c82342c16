//! Ending: F16 to F24.

mod crash;
pub use crash::kill_all;
mod foreign;
mod leads;
mod members;
mod recovery;
mod shutdown;
mod start;
