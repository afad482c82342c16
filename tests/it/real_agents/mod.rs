//! Agents that people have, offline: their models are a scripted server on loopback.
//!
//! They run where `AGENTS_DIR` (a folder for each agent, with what npm installs) and `CREWMUX_REAL_AGENTS` (a folder with
//! `fake_model.py`) are set; otherwise each test says by name what it skips. What was seen goes into
//! `real-agents.md` in cargo's folder for tests, a row each, for the table in `docs/agents.md`.

mod decided;
mod model;
mod plans;
mod team;
mod teams;
mod world;
