//! Behaviour through the real program and a real tmux. One binary, a module a behaviour; a test that
//! shows a case from the field carries its id (`f07_…`).

mod puppet;
mod support;

mod docs;

mod names;

mod ending;
mod mail;
mod smoke;
mod tmux;
mod decisions;
mod plans;
mod requests;
