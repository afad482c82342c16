//! Adds a member.

use std::path::PathBuf;

use super::args::Globals;
use super::error::{CommandError, ErrorKind, ResultExt};
use super::values;
use super::{output, team};
use crate::act::{Desk, Verb};
use crate::launch;
use crate::model::agent::AgentSpec;
use crate::model::id::SpawnId;
use crate::model::name::Name;
use crate::model::sandbox::{Fallback, Mode, Network, UnixSockets};
use crate::model::spec::{Deliver, EngineKind, Isolation, OnShutdown, Restart};
use crate::model::spec::{MemberSpec, palette};
use crate::model::time::Span;
use crate::os::clock;
use crate::spec::{preset, program};
use serde_json::Map;
use std::path::Path;
use std::time::Duration;

/// Add a member to the team; only the lead and the operator may
///
/// Returns when the member has said that it is ready. A taken name is a conflict.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  crewmux spawn tests --engine worker
  crewmux spawn watch --deliver stdin -- ./watch.sh --fast
  crewmux spawn fix --isolation worktree -- ./fix.sh")]
pub struct Args {
    /// The new member's name
    pub name: Name,
    /// Its program, after `--`
    #[arg(last = true, value_name = "ARGV")]
    pub argv: Vec<String>,
    /// How its teammate drives the program; `acp` with `--agent`, `command` where a program is given, else `worker`
    #[arg(long, value_parser = values::engine())]
    pub engine: Option<EngineKind>,
    /// A preset of an agent, such as `claude`, for an `acp` member
    #[arg(long, value_name = "PRESET")]
    pub agent: Option<String>,
    /// The mode of an agent's session: plan, ask, full, or one of its own
    #[arg(long, value_name = "MODE")]
    pub mode: Option<String>,
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
    /// Whether it shares the folder or gets a git work tree and a branch of its own
    #[arg(long, value_parser = values::isolation())]
    pub isolation: Option<Isolation>,
    /// What its programs may write; `off` for `command`, else `workspace-write`
    #[arg(long, value_parser = values::sandbox())]
    pub sandbox: Option<Mode>,
    /// What it can do, for tasks that require it; may be repeated
    #[arg(long, value_name = "WORD")]
    pub capability: Vec<String>,
}

impl Args {
    /// The engine that is asked for, or the one that fits what is given.
    #[must_use]
    pub fn engine(&self) -> EngineKind {
        self.engine.unwrap_or(match (&self.agent, self.argv.is_empty()) {
            (Some(_), _) => EngineKind::Acp,
            (None, true) => EngineKind::Worker,
            (None, false) => EngineKind::Command,
        })
    }

    /// What is said of an agent; its preset's program stands in for one that is not given.
    fn agent(&self, engine: EngineKind, command: &mut Vec<String>) -> Result<Option<Box<AgentSpec>>, CommandError> {
        let Some(name) = &self.agent else {
            let plain = AgentSpec { mode: self.mode.clone(), ..AgentSpec::default() };
            return Ok((engine == EngineKind::Acp).then(|| Box::new(plain)));
        };
        if engine != EngineKind::Acp {
            let message = format!("`--agent` is not for a `{}` member", engine.as_str());
            return Err(CommandError::usage(message).hint("leave `--engine` out: an agent is `acp`"));
        }
        let preset = preset::preset(name).map_err(|e| CommandError::usage(e.to_string()).hint(e.help()))?;
        if command.is_empty() {
            command.clone_from(&preset.command);
            if let Some(program) = command.first()
                && program::find(program, Path::new("/")).is_err()
            {
                return Err(CommandError::usage(format!("{} is not installed: no `{program}` on PATH", preset.title))
                    .hint(preset.missing));
            }
        }
        Ok(Some(Box::new(AgentSpec { preset: Some(preset), mode: self.mode.clone(), ..AgentSpec::default() })))
    }

    /// The member as the lead takes it: paths absolute, the program there.
    fn member_spec(&self, desk: &mut Desk) -> Result<MemberSpec, CommandError> {
        let engine = self.engine();
        let here =
            std::env::current_dir().or_fail(ErrorKind::Failed, || "cannot tell the current folder".to_owned())?;
        let mut command = self.argv.clone();
        let agent = self.agent(engine, &mut command)?;
        match (engine, command.first_mut()) {
            (EngineKind::Acp, None) => {
                return Err(CommandError::usage("an `acp` member needs an agent")
                    .hint(format!("`crewmux spawn {} --agent PRESET`, or its program after `--`", self.name)));
            }
            (EngineKind::Command, None) => {
                return Err(CommandError::usage("a `command` member needs a program")
                    .hint(format!("`crewmux spawn {} -- PROGRAM ARGS…`", self.name)));
            }
            (_, Some(word)) => {
                *word = program::find(word, &here)
                    .map_err(|why| CommandError::usage(format!("the program `{word}` {why}")))?;
            }
            (_, None) => {}
        }
        let team = desk.team()?;
        let cwd = match &self.cwd {
            Some(cwd) => folder(&here.join(cwd))?,
            None => team.cwd.clone(),
        };
        let count = team.teammates().count() + team.reserved.len();
        Ok(MemberSpec {
            name: self.name.clone(),
            engine,
            agent_type: None,
            command,
            deliver: self.deliver.unwrap_or_default(),
            cwd,
            restart: self.restart.unwrap_or_default(),
            plan_mode_required: self.plan_mode,
            execute: None,
            on_shutdown: OnShutdown::default(),
            settle: Span::default(),
            clean_env: false,
            env: self.env.iter().cloned().collect(),
            pass_env: Vec::new(),
            capabilities: self.capability.clone(),
            prompt: self.prompt.clone(),
            color: Some(palette(count).to_owned()),
            model: None,
            durable: false,
            isolation: self.isolation.unwrap_or_default(),
            setup: None,
            sandbox: self.sandbox.unwrap_or(Mode::of_engine(engine)),
            state_dirs: Vec::new(),
            unix_sockets: UnixSockets::default(),
            network: Network::default(),
            sandbox_fallback: Fallback::default(),
            agent,
            extra: Map::new(),
        })
    }
}

/// An existing folder, without `.` and `..` in it.
fn folder(path: &Path) -> Result<String, CommandError> {
    let shown = path.display().to_string();
    let full = path.canonicalize().or_fail(ErrorKind::Usage, || format!("cannot work in {shown}"))?;
    if !full.is_dir() {
        return Err(CommandError::usage(format!("{shown} is no folder")));
    }
    full.into_os_string().into_string().map_err(|_| CommandError::usage(format!("{shown} is not UTF-8")))
}

/// What a start may take beyond the time for its hello: a pane, and taking it all back where it fails.
const AROUND: Duration = Duration::from_secs(60);

pub fn run(args: &Args, globals: &Globals) -> Result<(), CommandError> {
    let mut client = team::open(globals)?;
    let spec = args.member_spec(&mut client.desk)?;
    launch::can_confine([&spec])?;
    let limits = client.desk.team()?.settings.limits.clone();
    let tree = if spec.isolation == Isolation::Worktree { limits.worktree.0 } else { Duration::ZERO };
    let patience = limits.hello.0.saturating_add(tree).saturating_add(AROUND);
    let spawn_id = args.id.unwrap_or_else(clock::new_spawn_id);
    let answer = client.perform_within(Verb::Spawn { spawn_id, spec: Box::new(spec) }, patience)?;
    let answer = team::noted(answer)?;
    if globals.json { output::json(&answer.value) } else { output::line(format!("{} is ready", args.name)) }
}
