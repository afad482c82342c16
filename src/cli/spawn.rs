//! Adds a member.

use std::path::PathBuf;

use super::args::Globals;
use super::error::CommandError;
use super::values;
use crate::model::id::SpawnId;
use crate::model::name::Name;
use crate::model::spec::{Deliver, EngineKind, Restart};

/// Add a member to the team; only the lead and the operator may
///
/// Returns when the member has said that it is ready. A taken name is a conflict.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  crewmux spawn tests --engine worker
  crewmux spawn watch --deliver stdin -- ./watch.sh --fast")]
pub struct Args {
    /// The new member's name
    pub name: Name,
    /// Its program, after `--`
    #[arg(last = true, value_name = "ARGV")]
    pub argv: Vec<String>,
    /// How its teammate drives the program; `command` where a program is given, else `worker`
    #[arg(long, value_parser = values::engine())]
    pub engine: Option<EngineKind>,
    /// Its first instructions
    #[arg(long, value_name = "TEXT")]
    pub prompt: Option<String>,
    /// It may only plan until its plan is approved
    #[arg(long)]
    pub plan_mode: bool,
    /// The id of this spawn: the same id twice is one member
    #[arg(long, value_name = "UUID")]
    pub id: Option<SpawnId>,
    /// The folder it works in
    #[arg(long, value_name = "DIR")]
    pub cwd: Option<PathBuf>,
    /// A variable for its environment; may be repeated
    #[arg(long, value_name = "KEY=VALUE", value_parser = values::key_value)]
    pub env: Vec<(String, String)>,
    /// How mail reaches its program
    #[arg(long, value_parser = values::deliver())]
    pub deliver: Option<Deliver>,
    /// When it is started again
    #[arg(long, value_parser = values::restart())]
    pub restart: Option<Restart>,
    /// What it can do, for tasks that require it; may be repeated
    #[arg(long, value_name = "WORD")]
    pub capability: Vec<String>,
}

impl Args {
    /// The engine that is asked for, or the one that fits what is given.
    #[must_use]
    pub fn engine(&self) -> EngineKind {
        self.engine.unwrap_or(if self.argv.is_empty() { EngineKind::Worker } else { EngineKind::Command })
    }
}

pub fn run(_args: &Args, _globals: &Globals) -> Result<(), CommandError> {
    Err(CommandError::not_wired("spawn"))
}
