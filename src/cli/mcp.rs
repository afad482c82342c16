//! The team as an MCP server.

use tokio::signal::unix::{SignalKind, signal};

use super::args::Globals;
use super::error::CommandError;
use super::join;
use super::team;
use crate::act::{ActError, Client, Descent, Desk};
use crate::mcp::{Identity, Served, Session, serve};
use crate::model::name::Name;
use crate::model::team::Member;
use crate::os::{clock, process};
use crate::store::{Home, Lease, LeaseText, lease};

/// Serve the team to an MCP client on stdin and stdout
///
/// The client has the rights of whoever starts this: in a member's pane it is that member, at a person's shell the
/// operator, who may act for a member with --as. A member that `crewmux join` made is whoever serves it so. `docs/MCP.md`
/// lists the tools.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  crewmux mcp
  crewmux mcp --team audit --as scan")]
pub struct Args {
    /// Act for this living member, or be one that `crewmux join` made; the same as --member
    #[arg(long = "as", value_name = "NAME", conflicts_with = "member")]
    pub as_member: Option<Name>,
}

pub fn run(args: &Args, globals: &Globals) -> Result<(), CommandError> {
    let home = Home::from_env()?;
    let team = team::resolve(globals, &home)?;
    let member = args.as_member.clone().or_else(|| globals.member.clone());
    if let Some(name) = &member
        && Desk::open(&home, &team)?.team()?.member(name).is_some_and(Member::is_guest)
    {
        // Who is a member already cannot be another one.
        Client::open(&home, &team, Some(name))?;
        return join::come(&home, &team, name);
    }
    let _held = member.as_ref().map(|name| hold(&home, &team, name)).transpose()?;
    let session = Session::open(&home, &team, Identity::Caller { member })?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().max_blocking_threads(16).build()?;
    let served = runtime.block_on(async {
        let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
        let gone = session.gone().clone();
        tokio::spawn(async move {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
            // What waits takes back what it asked for, and its client gets its last answers.
            gone.cancel();
        });
        Ok::<_, std::io::Error>(serve(session, || {}).await)
    });
    // A thread may hang in a read of stdin; nothing waits for it.
    runtime.shutdown_background();
    match served? {
        Ok(Served::Closed | Served::NoClient) => Ok(()),
        Err(error) => Err(CommandError::failed("no MCP client is on stdin")
            .cause(&error)
            .hint("put `crewmux mcp` into the configuration of an MCP client; it starts it by itself")),
    }
}

/// Who acts for a member from outside is the only one to do so. A member's own programs may be several.
fn hold(home: &Home, team: &Name, name: &Name) -> Result<Option<Lease>, CommandError> {
    if Descent::find().is_some_and(|own| own.is_of(home, team)) || name.is_lead() || name.is_operator() {
        return Ok(None);
    }
    let mut desk = crate::act::Desk::open(home, team)?;
    desk.member(name).map_err(|error| error.hint(format!("`crewmux join {name}` makes a place for it")))?;
    let dir = desk.dir.member(name);
    if !lease::is_held(&dir.lease()).map_err(ActError::from)? {
        return Err(CommandError::no_lead(format!("`{name}` is not running"))
            .hint(format!("`crewmux restart {name}` starts it")));
    }
    let me = process::me();
    let text = LeaseText {
        boot_id: process::boot_id(),
        pid: me.pid,
        start_time: me.start_time,
        life: clock::new_life(),
        command: "crewmux mcp".to_owned(),
    };
    match Lease::take(&dir.client_lease(), &text, lease::RETRY) {
        Ok(lease) => Ok(Some(lease)),
        Err(error) => Err(CommandError::conflict(format!("another MCP client acts for `{name}` already"))
            .cause(&error)
            .hint("end it first, or leave out --as to act as the operator")),
    }
}
