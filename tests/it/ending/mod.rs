//! Ending: F16 to F24.

mod crash;
mod foreign;
mod leads;
mod members;
mod shutdown;
mod start;
