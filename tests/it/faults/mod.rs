//! Faults on purpose: every party killed at its writes, a disk that refuses, a clock that jumps. After each, what was
//! acknowledged is there, the team can be resumed and taken down, and nothing runs on.

mod acknowledged;
mod others;
mod writes;
