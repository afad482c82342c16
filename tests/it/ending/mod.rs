//! Ending: F16 to F24.

mod crash;
mod foreign;
mod leads;
mod members;
mod recovery;
mod shutdown;
mod start;
