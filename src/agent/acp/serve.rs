//! Serving one client: sessions are made, loaded, listed, prompted and cancelled.

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use agent_client_protocol::v1::schema::{
    AgentCapabilities, CancelNotification, ContentBlock, Implementation, InitializeRequest, InitializeResponse,
    ListSessionsRequest, ListSessionsResponse, LoadSessionRequest, LoadSessionResponse, McpCapabilities, McpServer,
    Meta, NewSessionRequest, NewSessionResponse, PromptCapabilities, PromptRequest, PromptResponse,
    SessionCapabilities, SessionId, SessionInfo, SessionListCapabilities, SessionMode, SessionModeState,
    SetSessionModeRequest, SetSessionModeResponse, StopReason as AcpStop,
};
use agent_client_protocol::v1::{ConnectionTo, Responder};
use agent_client_protocol::{Agent, Client, Error, Stdio, UntypedMessage};
use serde_json::json;

use super::face::AcpFace;
use super::{RUNNING, SPENT, WAKE, WAKES, content, show};
use crate::agent::AgentId;
use crate::agent::permission::Mode;
use crate::agent::query::{StopReason, TurnError};
use crate::agent::session::{Face, Session, SessionError, Shelf, Start};
use crate::agent::wire::Block;

/// Gives the settings for a folder, and what else a session is started with there.
pub type Load = Arc<dyn Fn(&Path, Face) -> Result<Start, String> + Send + Sync>;

struct Server {
    load: Load,
    sessions: Mutex<HashMap<SessionId, Open>>,
    /// The client heeds our calls to prompt us.
    wakes: AtomicBool,
}

#[derive(Clone)]
struct Open {
    session: Arc<Session>,
    face: Arc<AcpFace>,
    busy: Arc<AtomicBool>,
}

type Done = Result<(), Error>;

/// Serves the client on stdin and stdout until it closes them.
///
/// # Errors
/// When the connection breaks.
pub async fn serve(load: Load) -> Result<(), Error> {
    let server = Arc::new(Server { load, sessions: Mutex::default(), wakes: AtomicBool::new(false) });
    let at = |server: &Arc<Server>| Arc::clone(server);
    let (a, b, c, d, e, f, g) =
        (at(&server), at(&server), at(&server), at(&server), at(&server), at(&server), at(&server));
    let served = Agent
        .v1()
        .name("crewmux")
        .on_receive_request(
            async move |request: InitializeRequest, to, _cx| a.initialize(&request, to),
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_request(
            async move |request: NewSessionRequest, to, cx| b.new_session(request, to, &cx),
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_request(
            async move |request: LoadSessionRequest, to, cx| c.load_session(request, to, &cx).await,
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_request(
            async move |request: ListSessionsRequest, to, _cx| d.list_sessions(&request, to),
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_request(
            async move |request: SetSessionModeRequest, to, _cx| e.set_mode(&request, to),
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_request(
            async move |request: PromptRequest, to, cx| f.prompt(request, to, &cx),
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_notification(
            async move |cancel: CancelNotification, _cx| {
                if let Some(open) = g.open(&cancel.session_id) {
                    open.session.cancel();
                }
                Ok(())
            },
            agent_client_protocol::on_receive_notification!(),
        )
        .connect_to(Stdio::new())
        .await;
    server.end().await;
    served
}

fn wrong(text: impl ToString) -> Error {
    Error::invalid_params().data(json!(text.to_string()))
}

fn failed(text: impl ToString) -> Error {
    let text = text.to_string();
    let mut error = Error::internal_error().data(json!(text));
    error.message = text;
    error
}

impl Server {
    fn sessions(&self) -> std::sync::MutexGuard<'_, HashMap<SessionId, Open>> {
        self.sessions.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn open(&self, id: &SessionId) -> Option<Open> {
        self.sessions().get(id).cloned()
    }

    fn known(&self, id: &SessionId) -> Result<Open, Error> {
        self.open(id).ok_or_else(|| wrong(format!("there is no open session `{id}`; begin one with session/new")))
    }

    /// The client has gone: nothing is left running.
    async fn end(&self) {
        let all: Vec<Open> = self.sessions().values().cloned().collect();
        futures::future::join_all(all.iter().map(|open| open.session.close())).await;
    }

    fn initialize(&self, request: &InitializeRequest, to: Responder<InitializeResponse>) -> Done {
        let meta = request.client_capabilities.meta.as_ref().or(request.meta.as_ref());
        let wakes = meta.and_then(|meta| meta.get(WAKES)).is_some_and(|told| told == true);
        self.wakes.store(wakes, Ordering::Relaxed);
        let capabilities = AgentCapabilities::new()
            .load_session(true)
            .prompt_capabilities(PromptCapabilities::new().image(true).embedded_context(true))
            .mcp_capabilities(McpCapabilities::new().http(true))
            .session_capabilities(SessionCapabilities::new().list(SessionListCapabilities::new()));
        let mut meta = Meta::new();
        meta.insert(WAKES.to_owned(), true.into());
        to.respond(
            InitializeResponse::new(request.protocol_version)
                .agent_capabilities(capabilities.meta(meta))
                .agent_info(Implementation::new("crewmux", env!("CARGO_PKG_VERSION"))),
        )
    }

    /// The settings of a folder, with what the client wants added.
    fn start(
        &self,
        cwd: &Path,
        also: Vec<std::path::PathBuf>,
        servers: &[McpServer],
        cx: &ConnectionTo<Client>,
    ) -> Result<(Start, Arc<AcpFace>), Error> {
        if !cwd.is_absolute() || !cwd.is_dir() {
            return Err(wrong(format!("cwd {} is not the absolute path of a folder", cwd.display())));
        }
        let face = AcpFace::new(cx.clone(), 0);
        let mut start = (self.load)(cwd, Face::of(Arc::clone(&face))).map_err(wrong)?;
        let face = AcpFace::new(cx.clone(), start.settings.context_window);
        start.face = Face::of(Arc::clone(&face));
        start.also.extend(also);
        start.servers = servers.iter().filter_map(|server| serde_json::to_value(server).ok()).collect();
        start.attended = true;
        Ok((start, face))
    }

    fn keep(
        self: &Arc<Self>,
        session: Arc<Session>,
        face: Arc<AcpFace>,
        cx: &ConnectionTo<Client>,
    ) -> Result<Open, Error> {
        let id = SessionId::new(session.id.clone());
        face.is_of(id.clone(), session.purse.clone());
        let open = Open { session, face, busy: Arc::new(AtomicBool::new(false)) };
        self.sessions().insert(id.clone(), open.clone());
        let (server, waker, connection) = (Arc::clone(self), open.clone(), cx.clone());
        cx.spawn(async move {
            server.wake(&id, &waker, &connection).await;
            Ok(())
        })?;
        Ok(open)
    }

    /// Tells the client whenever something waits and no turn runs.
    async fn wake(&self, id: &SessionId, open: &Open, cx: &ConnectionTo<Client>) {
        loop {
            open.session.backlog().changed().await;
            let waiting = open.session.backlog().waiting(&AgentId::main());
            if waiting > 0 && self.wakes.load(Ordering::Relaxed) && !open.busy.load(Ordering::Relaxed) {
                self.tell_waiting(id, waiting, cx);
            }
        }
    }

    fn tell_waiting(&self, id: &SessionId, waiting: usize, cx: &ConnectionTo<Client>) {
        if let Ok(note) = UntypedMessage::new(WAKE, json!({ "sessionId": id, "waiting": waiting })) {
            let _ = cx.send_notification(note);
        }
    }

    fn new_session(
        self: &Arc<Self>,
        request: NewSessionRequest,
        to: Responder<NewSessionResponse>,
        cx: &ConnectionTo<Client>,
    ) -> Done {
        let begun = self
            .start(&request.cwd, request.additional_directories, &request.mcp_servers, cx)
            .and_then(|(start, face)| Ok((Session::begin(start).map_err(told)?, face)))
            .and_then(|(session, face)| self.keep(session, face, cx));
        match begun {
            Ok(open) => {
                let id = SessionId::new(open.session.id.clone());
                to.respond(NewSessionResponse::new(id).modes(Some(modes(open.session.mode()))))
            }
            Err(error) => to.respond_with_error(error),
        }
    }

    async fn load_session(
        self: &Arc<Self>,
        request: LoadSessionRequest,
        to: Responder<LoadSessionResponse>,
        cx: &ConnectionTo<Client>,
    ) -> Done {
        let id = request.session_id.clone();
        if self.open(&id).is_some_and(|open| open.busy.load(Ordering::Relaxed)) {
            return to.respond_with_error(wrong("a turn of this session is running"));
        }
        let loaded = self
            .start(&request.cwd, request.additional_directories, &request.mcp_servers, cx)
            .and_then(|(start, face)| Ok((Session::resume(start, Some(&id.0)).map_err(told)?, face)))
            .and_then(|(session, face)| self.keep(session, face, cx));
        match loaded {
            Ok(open) => {
                for update in open.session.turns_so_far().await.iter().flat_map(show::again) {
                    open.face.send(update);
                }
                to.respond(LoadSessionResponse::new().modes(Some(modes(open.session.mode()))))
            }
            Err(error) => to.respond_with_error(error),
        }
    }

    fn list_sessions(&self, request: &ListSessionsRequest, to: Responder<ListSessionsResponse>) -> Done {
        let shelf = match Shelf::from_env() {
            Ok(shelf) => shelf,
            Err(error) => return to.respond_with_error(failed(error)),
        };
        let all = shelf.list(request.cwd.as_deref()).into_iter().map(|kept| {
            SessionInfo::new(SessionId::new(kept.id), kept.cwd)
                .title(kept.title)
                .updated_at(Some(kept.updated_at.to_string()))
        });
        to.respond(ListSessionsResponse::new(all.collect()))
    }

    fn set_mode(&self, request: &SetSessionModeRequest, to: Responder<SetSessionModeResponse>) -> Done {
        let mode =
            Mode::parse(&request.mode_id.0).ok_or_else(|| wrong(format!("there is no mode `{}`", request.mode_id)));
        match self.known(&request.session_id).and_then(|open| Ok((open, mode?))) {
            Ok((open, mode)) => {
                open.session.set_mode(mode);
                to.respond(SetSessionModeResponse::new())
            }
            Err(error) => to.respond_with_error(error),
        }
    }

    fn prompt(
        self: &Arc<Self>,
        request: PromptRequest,
        to: Responder<PromptResponse>,
        cx: &ConnectionTo<Client>,
    ) -> Done {
        let open = match self.known(&request.session_id) {
            Ok(open) => open,
            Err(error) => return to.respond_with_error(error),
        };
        if open.busy.swap(true, Ordering::Relaxed) {
            return to
                .respond_with_error(wrong("a turn of this session is running: wait for its answer, or cancel it"));
        }
        let (server, connection) = (Arc::clone(self), cx.clone());
        // The loop that reads messages must not wait for a turn: its cancellation comes by the same way.
        cx.spawn(async move {
            let done = server.take_turn(&open, request.prompt).await;
            open.busy.store(false, Ordering::Relaxed);
            let answered = match done {
                Ok(stop) => to.respond(response(&open, &stop)),
                Err(error) => {
                    let hint = error.hint().map(|hint| format!("; {hint}")).unwrap_or_default();
                    to.respond_with_error(failed(format!("{error}{hint}")))
                }
            };
            // What came while the turn ended was not told.
            let waiting = open.session.backlog().waiting(&AgentId::main());
            if waiting > 0 && server.wakes.load(Ordering::Relaxed) {
                server.tell_waiting(&request.session_id, waiting, &connection);
            }
            answered
        })
    }

    async fn take_turn(&self, open: &Open, prompt: Vec<ContentBlock>) -> Result<StopReason, TurnError> {
        let said: Vec<Block> = content::blocks(prompt);
        if let [Block::Text { text, .. }] = said.as_slice()
            && text.trim() == "/compact"
        {
            open.session.compact().await?;
            return Ok(StopReason::EndTurn);
        }
        let stop = open.session.prompt(said, !self.wakes.load(Ordering::Relaxed)).await?;
        if let (Some(why), false) = (stop.why(), stop == StopReason::Cancelled) {
            open.face.send(show::said(format!("\n({why})")));
        }
        Ok(stop)
    }
}

fn told(error: SessionError) -> Error {
    match error {
        SessionError::Shelf(error) => wrong(error),
        SessionError::Provider(error) => failed(error),
    }
}

fn modes(current: Mode) -> SessionModeState {
    let about = |mode: Mode| match mode {
        Mode::ReadOnly => "looks, and changes nothing",
        Mode::Plan => "looks and plans; changes nothing before the plan is agreed upon",
        Mode::Default => "asks before it changes or runs anything",
        Mode::AcceptEdits => "edits where it works without asking",
        Mode::Bypass => "asks nobody",
        Mode::Bubble => "asks whoever started it, also from the background",
    };
    let mode =
        |mode: Mode| SessionMode::new(mode.as_str().to_owned(), mode.as_str()).description(about(mode).to_owned());
    SessionModeState::new(current.as_str().to_owned(), Mode::ALL.into_iter().map(mode).collect())
}

fn response(open: &Open, stop: &StopReason) -> PromptResponse {
    let reason = match stop {
        StopReason::EndTurn | StopReason::ByTool => AcpStop::EndTurn,
        StopReason::MaxTokens => AcpStop::MaxTokens,
        StopReason::Refusal => AcpStop::Refusal,
        StopReason::Cancelled => AcpStop::Cancelled,
        StopReason::MaxTurns(_) | StopReason::Spent(_) => AcpStop::MaxTurnRequests,
    };
    let mut meta = Meta::new();
    meta.insert(SPENT.to_owned(), serde_json::to_value(open.session.purse.spent()).unwrap_or_default());
    meta.insert(RUNNING.to_owned(), open.session.backlog().running().into());
    PromptResponse::new(reason).meta(meta)
}
