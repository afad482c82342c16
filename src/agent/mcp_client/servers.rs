//! All servers of a session: what state each is in, and who waits for them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmcp::service::{Peer, RoleClient};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::config::Server;
use super::connection::Connection;
use super::tool::McpTool;
use crate::agent::tools::{Tool, locked};

/// How long an agent waits for the servers that it cannot do without.
pub const REQUIRED_WAIT: Duration = Duration::from_secs(30);

/// From so many tools on they are hidden until they are looked for: each one shown costs tokens in every request.
const MOST_SHOWN: usize = 40;

/// What a server is at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    Starting,
    Ready,
    /// It never answered as it should.
    Failed(String),
    /// It was there, and went.
    Gone(String),
}

struct Entry {
    state: State,
    peer: Option<Peer<RoleClient>>,
    tools: Vec<rmcp::model::Tool>,
}

/// The servers of a session. They end when this is closed.
pub struct Servers {
    entries: Mutex<BTreeMap<String, Entry>>,
    /// Hidden tools that were looked for.
    shown: Mutex<BTreeSet<String>>,
    changed: watch::Sender<u64>,
    stop: CancellationToken,
    tasks: TaskTracker,
    /// Told a line when a server fails or goes.
    notice: Box<dyn Fn(String) + Send + Sync>,
}

impl Servers {
    /// Begins to start all of them, and returns at once. The first of a name counts.
    #[must_use]
    pub fn start(servers: Vec<Server>, cwd: &Path, notice: impl Fn(String) + Send + Sync + 'static) -> Arc<Self> {
        let all = Arc::new(Self {
            entries: Mutex::default(),
            shown: Mutex::default(),
            changed: watch::channel(0).0,
            stop: CancellationToken::new(),
            tasks: TaskTracker::new(),
            notice: Box::new(notice),
        });
        for server in servers {
            let fresh = Entry { state: State::Starting, peer: None, tools: Vec::new() };
            let mut entries = locked(&all.entries);
            if entries.contains_key(&server.name) {
                continue;
            }
            entries.insert(server.name.clone(), fresh);
            drop(entries);
            all.tasks.spawn(Arc::clone(&all).keep(server, cwd.to_path_buf()));
        }
        all
    }

    async fn keep(self: Arc<Self>, server: Server, cwd: PathBuf) {
        let name = server.name.as_str();
        let opened = tokio::select! {
            opened = Connection::open(&server, &cwd) => opened,
            () = self.stop.cancelled() => return,
        };
        let mut connection = match opened {
            Ok(connection) => connection,
            Err(why) => {
                (self.notice)(format!("MCP server {name} failed: {why}"));
                return self.set(name, State::Failed(why), None, Vec::new());
            }
        };
        self.set(name, State::Ready, Some(connection.peer()), std::mem::take(&mut connection.tools));
        if let Some(words) = connection.stay(self.stop.cancelled()).await {
            let why = if words.is_empty() { "it ended by itself".to_owned() } else { words };
            (self.notice)(format!("MCP server {name} is gone, and its tools with it: {why}"));
            self.set(name, State::Gone(why), None, Vec::new());
        }
    }

    fn set(&self, name: &str, state: State, peer: Option<Peer<RoleClient>>, tools: Vec<rmcp::model::Tool>) {
        locked(&self.entries).insert(name.to_owned(), Entry { state, peer, tools });
        self.changed.send_modify(|n| *n += 1);
    }

    /// What each server is at.
    #[must_use]
    pub fn states(&self) -> BTreeMap<String, State> {
        locked(&self.entries).iter().map(|(name, entry)| (name.clone(), entry.state.clone())).collect()
    }

    /// Waits until none is starting any more, at most for `limit`.
    pub async fn settled(&self, limit: Duration) {
        let _ = self.until(limit, |states| states.values().all(|s| *s != State::Starting).then_some(())).await;
    }

    /// Waits for those that must be there, and gives up at once when one of them has failed.
    ///
    /// # Errors
    /// Names the server, and why it is not there.
    pub async fn require(&self, names: &[String], limit: Duration) -> Result<(), String> {
        let judge = |states: &BTreeMap<String, State>| {
            let mut all_there = true;
            for name in names {
                match states.get(name) {
                    None => return Some(Err(format!("the required MCP server {name} is not configured"))),
                    Some(State::Failed(why) | State::Gone(why)) => {
                        return Some(Err(format!("the required MCP server {name} is not there: {why}")));
                    }
                    Some(State::Starting) => all_there = false,
                    Some(State::Ready) => {}
                }
            }
            all_there.then_some(Ok(()))
        };
        let late = || {
            let states = self.states();
            let missing: Vec<&str> =
                names.iter().filter(|n| states.get(*n) != Some(&State::Ready)).map(String::as_str).collect();
            Err(format!("the required MCP server {} did not answer within {limit:?}", missing.join(", ")))
        };
        self.until(limit, judge).await.unwrap_or_else(late)
    }

    async fn until<T>(&self, limit: Duration, judge: impl Fn(&BTreeMap<String, State>) -> Option<T>) -> Option<T> {
        let mut changed = self.changed.subscribe();
        let wait = async {
            loop {
                if let Some(found) = judge(&self.states()) {
                    return found;
                }
                if changed.changed().await.is_err() {
                    std::future::pending::<()>().await;
                }
            }
        };
        tokio::time::timeout(limit, wait).await.ok()
    }

    /// The tools of all servers that answer now. Each is listed only as long as its server is there.
    #[must_use]
    pub fn tools(self: &Arc<Self>) -> Vec<Arc<dyn Tool>> {
        let entries = locked(&self.entries);
        let of = |(name, entry): (&String, &Entry)| {
            let all = Arc::clone(self);
            let name = name.clone();
            let tools: Vec<Arc<dyn Tool>> = entry
                .tools
                .iter()
                .map(|tool| Arc::new(McpTool::new(Arc::clone(&all), &name, tool.clone())) as Arc<dyn Tool>)
                .collect();
            tools
        };
        entries.iter().flat_map(of).collect()
    }

    /// Whether there are so many tools that they are hidden until they are looked for.
    #[must_use]
    pub fn hides(&self) -> bool {
        locked(&self.entries).values().map(|entry| entry.tools.len()).sum::<usize>() > MOST_SHOWN
    }

    /// The tools that are hidden now, by the names that they would be shown by.
    #[must_use]
    pub fn hidden(&self) -> Vec<(String, rmcp::model::Tool)> {
        if !self.hides() {
            return Vec::new();
        }
        let shown = locked(&self.shown);
        let entries = locked(&self.entries);
        let all = entries.iter().flat_map(|(server, entry)| {
            entry.tools.iter().map(move |tool| (super::tool::name_of(server, &tool.name), tool.clone()))
        });
        all.filter(|(name, _)| !shown.contains(name)).collect()
    }

    /// Shows hidden tools from now on.
    pub fn show(&self, names: impl Iterator<Item = String>) {
        locked(&self.shown).extend(names);
    }

    pub(super) fn is_hidden(&self, name: &str) -> bool {
        self.hides() && !locked(&self.shown).contains(name)
    }

    pub(super) fn peer(&self, name: &str) -> Result<Peer<RoleClient>, String> {
        match locked(&self.entries).get(name) {
            Some(Entry { peer: Some(peer), .. }) => Ok(peer.clone()),
            Some(Entry { state: State::Failed(why) | State::Gone(why), .. }) => Err(why.clone()),
            _ => Err("it is not there".to_owned()),
        }
    }

    /// Ends all servers, and returns when they have gone.
    pub async fn close(&self) {
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }
}
