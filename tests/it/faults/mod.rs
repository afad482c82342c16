//! Faults on purpose: every party killed at its writes or at any moment, stopped with a lock in its hands, a disk that
//! refuses, a clock that jumps, more members than there are wake-ups. After each, what was acknowledged is there, the team
//! can be resumed and taken down, and nothing runs on.

mod acknowledged;
mod deaths;
mod every;
mod many;
mod others;
mod stopped;
mod writes;
