//! Behaviour through the real program and a real tmux. One binary, a module a behaviour; a test that
//! shows a case from the field carries its id (`f07_…`).

mod model_server;
mod puppet;
mod support;

mod agent;
mod agents;
mod cli;
mod decisions;
mod docs;
mod ending;
mod faults;
mod hooks;
mod keyboard;
mod leads;
mod leftovers;
mod mail;
mod mcp;
mod names;
mod permissions;
mod plans;
mod real_agents;
mod replay;
mod requests;
mod restarts;
mod results;
mod sandbox;
mod smoke;
mod tasks;
mod tmux;
mod versions;
mod worktrees;
