//! What a session is equipped with: its tools, what runs beside it, and what it is told of both.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use super::{Face, Membership};
use crate::agent::AgentId;
use crate::agent::definition::{Library, folders as folders_of};
use crate::agent::filter;
use crate::agent::mcp_client::{self, Server, Servers};
use crate::agent::query::{Inbox, LateTools, Shared};
use crate::agent::settings::{self, Settings};
use crate::agent::spawn::kept::Nest;
use crate::agent::spawn::{Nursery, Seed, coordinator};
use crate::agent::tools::{
    BoxFuture, Context, Possible, Registry, Sandboxed, Skill, Standard, ToolEvent, WebSearch, standard,
};
use crate::agent::wire::Turn;
use crate::model::message::Priority;

/// The server tool by which the provider itself searches.
const PROVIDER_SEARCH: &str = "web_search_20250305";

/// A message that waits for an agent.
#[derive(Clone, Debug)]
pub struct Waiting {
    pub priority: Priority,
    pub turn: Turn,
}

/// What runs and waits beside a conversation: children, shells, their notifications.
pub trait Backlog: Send + Sync {
    /// Takes all that waits for `agent`, in the order in which it is to enter.
    fn take(&self, agent: &AgentId) -> Vec<Waiting>;

    /// How much waits for `agent`.
    fn waiting(&self, agent: &AgentId) -> usize;

    /// Children and shells that run.
    fn running(&self) -> usize;

    /// Returns when something has come to wait or has ended since it was called. May return without need.
    fn changed(&self) -> BoxFuture<'_, ()>;

    /// Ends everything in the background.
    fn stop_all(&self);

    /// Puts the child in the foreground into the background; `false` where there is none.
    fn to_background(&self) -> bool;
}

/// For whom.
pub struct Of<'a> {
    pub settings: &'a Arc<Settings>,
    pub face: &'a Face,
    pub cwd: &'a Path,
    pub attended: bool,
    pub coordinator: bool,
    pub team: Option<&'a Membership>,
    pub session_dir: PathBuf,
    pub servers: Vec<Value>,
    pub output_schema: Option<Value>,
    pub shared: &'a Shared,
}

pub struct Outfit {
    pub registry: Registry,
    pub late: LateTools,
    /// The MCP servers of the session.
    pub servers: Arc<Servers>,
    pub possible: Possible,
    pub backlog: Arc<dyn Backlog>,
    pub inbox: Arc<dyn Inbox>,
    /// More for the system prompt.
    pub system: Vec<String>,
}

/// Chooses the tools; what they need of the session is put into `cx`.
pub fn outfit(of: &Of<'_>, cx: &mut Context) -> Outfit {
    folders(of, cx);
    let wanted = servers(of);
    let servers_named: Vec<String> = wanted.iter().map(|server| server.name.clone()).collect();
    let servers = Servers::start(wanted, of.cwd, notices(of.face));
    let (skills, wrong) = Skill::find(of.cwd, settings::person_file().as_deref().and_then(Path::parent));
    let notice = notices(of.face);
    wrong.into_iter().for_each(|line| notice(format!("a skill is left out: {line}")));
    let seat = of.team.and_then(Membership::seat);
    let tools = standard(Standard {
        web_search: of.settings.web_search.as_ref().map(search),
        skills: Some(skills).filter(|skills| !skills.skills().is_empty()),
        servers: Some(Arc::clone(&servers)),
        seat: seat.clone(),
        output_schema: of.output_schema.clone(),
        ..Standard::default()
    });
    let nursery =
        Nursery::new(cx.outputs.clone().unwrap_or_else(|| of.session_dir.join("outputs")), of.settings.max_children);
    cx.tasks = Arc::clone(&nursery) as _;
    let seed = Arc::new(Seed {
        settings: Arc::clone(of.settings),
        shared: of.shared.clone(),
        tools,
        servers: Arc::clone(&servers),
        library: library(of),
        nest: Nest(of.session_dir.join("children")),
        nursery: Arc::clone(&nursery),
        seat,
        team: of.team.is_some(),
        coordinator: of.coordinator,
        attended: of.attended,
    });
    let role = seed.role();
    let mut registry = seed.registry();
    registry.retain(|tool| filter::gets(&role, tool.name()));
    let possible = Possible {
        main: true,
        team: of.team.is_some(),
        person: of.attended,
        repository: of.cwd.ancestors().any(|dir| dir.join(".git").exists()),
        output_schema: of.output_schema.clone(),
        background_shells: true,
        ..Possible::default()
    };
    Outfit {
        registry,
        late: late_tools(&seed, &servers),
        servers,
        possible,
        backlog: Arc::clone(&nursery) as _,
        inbox: nursery,
        system: coordinates(of, &servers_named),
    }
}

/// A server's tools come when it has started, whenever that is.
fn late_tools(seed: &Seed, servers: &Arc<Servers>) -> LateTools {
    let servers = Arc::clone(servers);
    let role = seed.role();
    Arc::new(move || {
        let mut tools = servers.tools();
        tools.retain(|tool| filter::gets(&role, tool.name()));
        tools
    })
}

/// What a coordinator is told besides.
fn coordinates(of: &Of<'_>, servers: &[String]) -> Vec<String> {
    let told = || coordinator::prompt(&filter::BACKGROUND, servers, scratch(of).as_deref());
    of.coordinator.then(told).into_iter().collect()
}

/// Where agents leave things for each other: the team's scratchpad; of who works alone one of the session.
fn scratch(of: &Of<'_>) -> Option<PathBuf> {
    match of.team {
        Some(_) => std::env::var_os("CREWMUX_SCRATCH").map(PathBuf::from),
        None => Some(of.session_dir.join("scratch")),
    }
}

/// Every kind of child that can be named here. A file that cannot be used is told.
fn library(of: &Of<'_>) -> Library {
    let config =
        settings::person_file().as_deref().and_then(Path::parent).and_then(Path::parent).map(Path::to_path_buf);
    let library = Library::load(&folders_of(of.cwd, config.as_deref()));
    let notice = notices(of.face);
    for broken in library.broken() {
        notice(format!("an agent definition is left out: {}: {}", broken.path.display(), broken.error));
    }
    library
}

/// Long outputs and temporary files have folders of the session; commands are confined by the mode.
fn folders(of: &Of<'_>, cx: &mut Context) {
    let made = |name: &str| {
        let dir = of.session_dir.join(name);
        std::fs::create_dir_all(&dir).is_ok().then_some(dir)
    };
    cx.outputs = made("outputs");
    let tmp = made("tmp");
    let mut here = cx.here.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    here.also.extend(cx.outputs.iter().chain(&tmp).cloned());
    if let Some(scratch) = scratch(of).filter(|dir| std::fs::create_dir_all(dir).is_ok()) {
        here.also.push(scratch);
    }
    drop(here);
    let network = of.settings.network;
    // A member's commands speak for it, in every mode.
    let always = of.team.map(Membership::own_words).unwrap_or_default();
    let commits = of.team.map(Membership::commits).unwrap_or_default();
    cx.confine = Arc::new(Sandboxed { tmp, network, always, commits, ..Sandboxed::default() });
}

/// Those the client named, and where the person allows it those of the project's `.mcp.json`. One that cannot be read is told.
fn servers(of: &Of<'_>) -> Vec<Server> {
    let notice = notices(of.face);
    let mut all: Vec<Server> = Vec::new();
    for value in &of.servers {
        match Server::from_value(value) {
            // The team is reached by tools of the agent's own.
            Ok(server) if server.name == filter::TEAM_SERVER && of.team.is_some() => {}
            Ok(server) => all.push(server),
            Err(error) => notice(error.to_string()),
        }
    }
    if of.settings.project_mcp {
        match mcp_client::project(of.cwd, |name| std::env::var(name).ok()) {
            Ok(found) => all.extend(found),
            Err(error) => notice(format!("{error}")),
        }
    }
    all
}

fn search(by: &settings::WebSearch) -> WebSearch {
    match by {
        settings::WebSearch::Word(_) => WebSearch::Provider(PROVIDER_SEARCH.to_owned()),
        settings::WebSearch::Command { command } => WebSearch::Command(command.clone()),
    }
}

fn notices(face: &Face) -> impl Fn(String) + Send + Sync + 'static {
    let sink = Arc::clone(&face.sink);
    move |line| sink.show(&AgentId::main(), "", ToolEvent::Notice(line))
}
