//! Behaviour through the real program and a real tmux. One binary, a module a behaviour; a test that
//! shows a case from the field carries its id (`f07_…`).

mod support;

mod names;

mod smoke;

mod tmux;
