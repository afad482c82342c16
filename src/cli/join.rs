//! Makes a program that somebody started by hand a member.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::json;

use super::args::Globals;
use super::error::CommandError;
use super::{output, team};
use crate::act::{Desk, Verb, client};
use crate::model::id::{Life, SpawnId};
use crate::model::name::Name;
use crate::model::spec::{EngineKind, MemberSpec, palette};
use crate::os::clock;
use crate::store::{Home, lease};

/// Make a program that you start yourself a member of the team
///
/// Its place has no pane and no program of ours: whoever starts `crewmux mcp --as NAME` as an MCP server, such as an agent
/// in a terminal of your own, is that member for as long as it runs, and its mail waits while nobody does. Prints what an
/// MCP client needs. Only the lead and the operator may.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  crewmux join scout
  crewmux join scout --capability rust --json")]
pub struct Args {
    /// The new member's name
    pub name: Name,
    /// What it is, as the roster shows it
    #[arg(long, value_name = "TEXT")]
    pub agent_type: Option<String>,
    /// What it can do, for tasks that require it; may be repeated
    #[arg(long, value_name = "WORD")]
    pub capability: Vec<String>,
    /// The id of this join: the same id twice is one member
    #[arg(long, value_name = "UUID")]
    pub id: Option<SpawnId>,
}

pub fn run(args: &Args, globals: &Globals) -> Result<(), CommandError> {
    let mut client = team::open(globals)?;
    let name = client.desk.name.clone();
    let team = client.desk.team()?;
    let count = team.teammates().count() + team.reserved.len();
    let spec: MemberSpec = serde_json::from_value(json!({
        "name": args.name, "engine": EngineKind::Mcp, "agent_type": args.agent_type, "cwd": team.cwd,
        "capabilities": args.capability, "color": palette(count), "sandbox": "off",
    }))
    .map_err(|e| CommandError::failed("such a member cannot be").cause(&e))?;
    let spawn_id = args.id.unwrap_or_else(clock::new_spawn_id);
    let answer = team::perform(&mut client, Verb::Spawn { spawn_id, spec: Box::new(spec) })?;
    let program = std::env::current_exe()?;
    let mut server = json!({"command": program, "args": ["mcp", "--team", name, "--as", args.name]});
    if let Some(home) = std::env::var_os("CREWMUX_HOME") {
        server["env"] = json!({"CREWMUX_HOME": home.to_string_lossy()});
    }
    let servers = json!({"mcpServers": {"crewmux": server}});
    if globals.json {
        let mut value = answer.value;
        value["mcp"] = servers;
        return output::json(&value);
    }
    output::line(format!("{} is a member, and away until its program comes", args.name))?;
    output::note("an MCP client that has this server is it:");
    output::line(servers.to_string())
}

/// How long the place may still be that of an earlier client, which is just going.
const PATIENCE: Duration = Duration::from_secs(3);

/// Becomes the member's teammate, whose client is on stdin and stdout.
pub fn come(home: &Home, team: &Name, name: &Name) -> Result<(), CommandError> {
    let mut desk = Desk::open(home, team)?;
    if !desk.lead_alive()? {
        return Err(CommandError::no_lead(format!("no lead of `{team}` is running"))
            .hint(format!("`crewmux up --resume {team}` brings it back")));
    }
    let (life, spawn_id) = free_life(&mut desk, name)?;
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("teammate").args(["--team", team.as_str(), "--member", name.as_str()]);
    command.arg("--home").arg(home.root());
    command.args([OsString::from("--life"), life.to_string().into()]);
    command.args([OsString::from("--spawn-id"), spawn_id.to_string().into()]);
    // The same process from now on, known by its command line as every teammate is.
    Err(CommandError::failed(format!("cannot become `{name}`")).cause(&command.exec()))
}

/// The life that waits for whoever comes: one that no process had yet.
fn free_life(desk: &mut Desk, name: &Name) -> Result<(Life, SpawnId), CommandError> {
    let dir = desk.dir.member(name);
    let begun = Instant::now();
    let mut taken = false;
    let found = client::wait(&[desk.dir.path().to_owned()], PATIENCE, || {
        let member = desk.member(name)?;
        if !member.is_active {
            return Ok(Some(None));
        }
        let life = member.life.filter(|_| member.pid.is_none()).map(|life| (life, member.spawn_id));
        taken = lease::is_held(&dir.lease())?;
        Ok(life.filter(|_| !taken).map(Some))
    })?;
    match found {
        Some(Some(life)) => Ok(life),
        Some(None) => Err(CommandError::conflict(format!("`{name}` has ended"))
            .hint(format!("`crewmux restart {name}` takes it back in"))),
        None if taken => Err(CommandError::conflict(format!("another MCP client is `{name}` already"))
            .hint("end it first, or give this one a place of its own with `crewmux join`")),
        None => Err(CommandError::no_lead(format!(
            "the lead gave `{name}` no place within {} s",
            begun.elapsed().as_secs()
        ))
        .hint("`crewmux status` shows whether it runs")),
    }
}
