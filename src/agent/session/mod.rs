//! A session: one main conversation in one folder, what runs beside it, and where it lies on disk.

mod face;
mod outfit;
mod shelf;
mod team;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::AgentId;
use super::budget::{Purse, Spent};
use super::mcp_client::Servers;
use super::permission::Mode;
use super::prompt;
use super::provider::{Cassette, Failure, Limiter, Messages, Provider, Recorder};
use super::query::{Conversation, Parts, Shared, StopReason, TurnError};
use super::settings::Settings;
use super::tools::{Context, ToolEvent};
use super::transcript::Transcript;
use super::wire::{Block, Head, Thinking, Turn};
use crate::model::message::Priority;

pub use face::Face;
pub use outfit::{Backlog, Outfit, Waiting};
pub use shelf::{Kept, Shelf, ShelfError};
pub use team::Membership;

/// How long a turn waits for MCP servers that are still starting; their tools come later then.
const SERVERS_WAIT: Duration = Duration::from_secs(10);

/// How long children and shells may take to end with their session.
const CLOSING: Duration = Duration::from_secs(10);

/// What a session is started with.
pub struct Start {
    pub cwd: PathBuf,
    /// Further folders in which it may work.
    pub also: Vec<PathBuf>,
    pub settings: Settings,
    pub face: Face,
    /// Whether somebody holds the session: a terminal, or an open protocol. Nobody does under `-p`.
    pub attended: bool,
    /// Starts workers and judges, and acts on nothing itself.
    pub coordinator: bool,
    /// More for the system prompt.
    pub instructions: Option<String>,
    /// MCP servers that the client wants attached.
    pub servers: Vec<serde_json::Value>,
    /// What the answer must look like.
    pub output_schema: Option<serde_json::Value>,
}

/// One session.
pub struct Session {
    pub id: String,
    pub cwd: PathBuf,
    pub settings: Arc<Settings>,
    pub purse: Purse,
    conversation: tokio::sync::Mutex<Conversation>,
    backlog: Arc<dyn Backlog>,
    servers: Arc<Servers>,
    face: Face,
    cx: Context,
    shelf: Shelf,
    kept: Mutex<Kept>,
    running: Mutex<Option<CancellationToken>>,
}

/// Why there is no session.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    #[error(transparent)]
    Shelf(#[from] ShelfError),
    #[error(transparent)]
    Provider(#[from] Failure),
}

impl Session {
    /// Begins a new session.
    ///
    /// # Errors
    /// When its folder cannot be made, or the provider cannot be had.
    pub fn begin(start: Start) -> Result<Arc<Self>, SessionError> {
        let shelf = Shelf::from_env()?;
        let kept = shelf.make(&start.cwd, &start.settings.model_id("inherit"), start.coordinator)?;
        Self::open(start, shelf, kept, None)
    }

    /// Takes a session up again, by its id; `None` is the last one of this folder.
    ///
    /// # Errors
    /// When there is none, or it cannot be read.
    pub fn resume(mut start: Start, id: Option<&str>) -> Result<Arc<Self>, SessionError> {
        let shelf = Shelf::from_env()?;
        let kept = match id {
            Some(id) => shelf.find(id)?,
            None => shelf.last(&start.cwd)?,
        };
        start.cwd.clone_from(&kept.cwd);
        start.coordinator = kept.coordinator;
        let recalled = shelf.recall(&kept.id)?;
        Self::open(start, shelf, kept, Some((recalled.turns, recalled.spent)))
    }

    fn open(
        start: Start,
        shelf: Shelf,
        kept: Kept,
        earlier: Option<(Vec<Turn>, Option<Spent>)>,
    ) -> Result<Arc<Self>, SessionError> {
        let Start { cwd, also, settings, face, attended, coordinator, instructions, servers, output_schema } = start;
        let settings = Arc::new(settings);
        let team = Membership::find();
        let provider = provider(&settings, &cwd)?;
        let limiter = Limiter::new(settings.requests_at_once, Some(shelf.limits_file(&settings)));
        let purse = Purse::new(settings.allowance(), settings.prices.clone());
        let shared = Shared {
            provider,
            limiter,
            purse: purse.clone(),
            retries: settings.retries,
            window: settings.context_window,
            compact_at: settings.compact_at,
        };
        let mut cx = Context::new(AgentId::main(), cwd.clone(), settings.permission_mode);
        cx.here.lock().unwrap_or_else(PoisonError::into_inner).also = also;
        *cx.rules.lock().unwrap_or_else(PoisonError::into_inner) = settings.permissions.clone();
        cx.asker = Arc::clone(&face.asker);
        cx.person = Arc::clone(&face.person);
        cx.sink = Arc::clone(&face.sink);
        let of = outfit::Of {
            settings: &settings,
            face: &face,
            cwd: &cwd,
            attended,
            coordinator,
            team: team.as_ref(),
            session_dir: shelf.dir(&kept.id),
            servers,
            output_schema,
            shared: &shared,
        };
        let outfit = outfit::outfit(&of, &mut cx);
        let mut system = vec![prompt::system(&cwd, team.as_ref())];
        system.extend(outfit.system);
        system.extend(instructions);
        let head = Head {
            model: settings.model_id("inherit"),
            max_tokens: settings.max_tokens,
            thinking: Some(settings.thinking_tokens).filter(|n| *n > 0).map(|budget_tokens| Thinking { budget_tokens }),
            temperature: settings.temperature,
            system,
            tools: Vec::new(),
        };
        let facts: super::query::Facts = match team {
            Some(team) => Arc::new(move || team.facts()),
            None => Arc::new(String::new),
        };
        let parts = Parts {
            agent: AgentId::main(),
            source: "main".to_owned(),
            depth: 0,
            head,
            registry: outfit.registry,
            possible: outfit.possible,
            cx: cx.clone(),
            shared,
            watcher: Arc::clone(&face.watcher),
            inbox: outfit.inbox,
            facts,
            late: Some(outfit.late),
            transcript: Some(Transcript::at(shelf.transcript(&kept.id))),
            max_turns: Some(settings.max_turns).filter(|n| *n > 0),
        };
        let conversation = match earlier {
            Some((turns, spent)) => {
                purse.restore(spent.unwrap_or_default());
                Conversation::resumed(parts, turns)
            }
            None => Conversation::new(parts),
        };
        Ok(Arc::new(Self {
            id: kept.id.clone(),
            cwd,
            settings,
            purse,
            conversation: tokio::sync::Mutex::new(conversation),
            backlog: outfit.backlog,
            servers: outfit.servers,
            face,
            cx,
            shelf,
            kept: Mutex::new(kept),
            running: Mutex::new(None),
        }))
    }

    fn running(&self) -> MutexGuard<'_, Option<CancellationToken>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a turn with what a person or client says and all that waits, in order of priority. `to_the_end`: goes on until no child runs
    /// and nothing waits, for callers that cannot be told later.
    ///
    /// # Errors
    /// When the provider fails for good.
    pub async fn prompt(&self, said: Vec<Block>, to_the_end: bool) -> Result<StopReason, TurnError> {
        let cancel = CancellationToken::new();
        let mut conversation = self.conversation.lock().await;
        *self.running() = Some(cancel.clone());
        let done = self.turns(&mut conversation, said, to_the_end, &cancel).await;
        *self.running() = None;
        done
    }

    async fn turns(
        &self,
        conversation: &mut Conversation,
        said: Vec<Block>,
        to_the_end: bool,
        cancel: &CancellationToken,
    ) -> Result<StopReason, TurnError> {
        self.note(&said);
        tokio::select! {
            () = self.servers.settled(SERVERS_WAIT) => {}
            () = cancel.cancelled() => return Ok(StopReason::Cancelled),
        }
        let mut inputs = in_order(self.backlog.take(&AgentId::main()), said);
        loop {
            if inputs.is_empty() {
                return Ok(StopReason::EndTurn);
            }
            let stop = conversation.turn(inputs, cancel.clone()).await?;
            if !to_the_end || !stop.is_whole() {
                return Ok(stop);
            }
            inputs = loop {
                let waiting = in_order(self.backlog.take(&AgentId::main()), Vec::new());
                if !waiting.is_empty() {
                    break waiting;
                }
                if self.backlog.running() == 0 {
                    return Ok(stop);
                }
                tokio::select! {
                    () = self.backlog.changed() => {}
                    () = cancel.cancelled() => return Ok(StopReason::Cancelled),
                }
            };
        }
    }

    /// Ends the turn that is running, if one is. Children in the background go on.
    pub fn cancel(&self) {
        if let Some(cancel) = self.running().as_ref() {
            cancel.cancel();
        }
    }

    #[must_use]
    pub fn is_running(&self) -> bool {
        self.running().is_some()
    }

    #[must_use]
    pub fn backlog(&self) -> &Arc<dyn Backlog> {
        &self.backlog
    }

    #[must_use]
    pub fn face(&self) -> &Face {
        &self.face
    }

    #[must_use]
    pub fn mode(&self) -> Mode {
        self.cx.mode()
    }

    /// Changes the permission mode, from the next call on.
    pub fn set_mode(&self, mode: Mode) {
        self.cx.here.lock().unwrap_or_else(PoisonError::into_inner).mode = mode;
        self.cx.show(ToolEvent::Mode(mode));
    }

    /// The last answer's text.
    pub async fn last_text(&self) -> String {
        self.conversation.lock().await.last_text()
    }

    /// The turns there are, to show them again.
    pub async fn turns_so_far(&self) -> Vec<Turn> {
        self.conversation.lock().await.turns().to_vec()
    }

    /// Tokens that the model read last.
    pub async fn context_tokens(&self) -> u64 {
        self.conversation.lock().await.context_tokens()
    }

    /// Shortens the conversation now.
    ///
    /// # Errors
    /// When no summary can be had.
    pub async fn compact(&self) -> Result<(), TurnError> {
        let cancel = CancellationToken::new();
        let mut conversation = self.conversation.lock().await;
        *self.running() = Some(cancel.clone());
        let done = conversation.compact(&cancel).await;
        *self.running() = None;
        done
    }

    /// Ends all that belongs to the session and returns when it has gone.
    pub async fn close(&self) {
        self.cancel();
        self.backlog.stop_all();
        let gone = async {
            while self.backlog.running() > 0 {
                self.backlog.changed().await;
            }
        };
        // What cannot be ended was named where it was stopped; nobody waits for it for ever.
        let _ = tokio::time::timeout(CLOSING, gone).await;
        self.servers.close().await;
    }

    /// Notes what the session is about, and that it was used.
    fn note(&self, said: &[Block]) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.title.is_none() {
            let first = said.iter().find_map(Block::as_text).unwrap_or_default();
            kept.title = first.lines().find(|line| !line.trim().is_empty()).map(|line| line.chars().take(80).collect());
        }
        kept.mode = self.cx.mode();
        // A list of sessions that is a moment old is no reason to stop working.
        if let Err(error) = self.shelf.update(&mut kept) {
            tracing::warn!("{error}");
        }
    }
}

/// What is urgent before what was said, what can wait after it.
fn in_order(waiting: Vec<Waiting>, said: Vec<Block>) -> Vec<Turn> {
    let (now, later): (Vec<_>, Vec<_>) = waiting.into_iter().partition(|one| one.priority == Priority::Now);
    let said: Vec<Block> = said.into_iter().filter(|block| !block.is_blank()).collect();
    let said = Some(Turn::user(said)).filter(|turn| !turn.content.is_empty());
    now.into_iter().map(|one| one.turn).chain(said).chain(later.into_iter().map(|one| one.turn)).collect()
}

fn provider(settings: &Settings, cwd: &std::path::Path) -> Result<Arc<dyn Provider>, Failure> {
    let inner: Box<dyn Provider> = match &settings.cassette {
        Some(path) => Box::new(Cassette::open(path, cwd)?),
        None if settings.lacks_key() => {
            return Err(Failure::Settings(
                "there is no key for the model's server: set ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN, or `base_url` for a server \
                 that needs none"
                    .to_owned(),
            ));
        }
        None => Box::new(Messages::new(settings.endpoint())),
    };
    Ok(match &settings.record {
        Some(path) => Arc::new(Recorder::new(inner, path.clone())),
        None => Arc::from(inner),
    })
}
