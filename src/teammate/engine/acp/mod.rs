//! An agent that speaks the Agent Client Protocol on its standard streams. The teammate is the client.
//!
//! The agent's process and its connection run in tasks of their own and tell of everything through events, in the
//! order in which it happened; what follows from it is decided in `teammate::turn`.

mod files;
mod mode;
mod session;
mod terminals;
pub mod wire;

use std::time::Duration;

use agent_client_protocol::v1::Responder;
use agent_client_protocol::v1::schema::{
    PromptResponse, RequestPermissionRequest, RequestPermissionResponse, SessionUpdate,
};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, ChildStderr};
use tokio::sync::{mpsc, watch};

pub use session::{Opened, Opening, Resume, probe};

use super::command::ended_of;
use super::{EngineEvent, Events};
use crate::os::reap::Kept;
use crate::os::spawn::{Program, StdioChild, spawn_with_stdio};

/// How long the end of the connection is waited for when the agent's process has ended: something it left behind may
/// hold its output open.
const DRAIN: Duration = Duration::from_millis(500);
/// Longest line of an agent's error output that is kept, in bytes.
const MOST_ERROR_LINE: u64 = 16 * 1024;

/// A running agent.
pub struct Acp {
    orders: mpsc::UnboundedSender<Order>,
    ended: watch::Receiver<bool>,
}

/// What an agent is told.
enum Order {
    Prompt(String),
    Cancel,
    Close,
}

/// What an agent tells.
pub enum AcpEvent {
    /// It is there, but its session waits for a time at which it may be loaded.
    Waits(Duration),
    Opened(Opened),
    /// Its session could not be opened, or its connection broke.
    Failed(String),
    Update(Box<SessionUpdate>),
    TurnEnded(Result<PromptResponse, String>),
    Asked(Box<Asked>),
    /// Something that is no part of the protocol.
    Printed(String),
    /// A file or a terminal that it was given or refused.
    Served(String),
}

impl std::fmt::Debug for AcpEvent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Waits(_) => "Waits",
            Self::Opened(_) => "Opened",
            Self::Failed(_) => "Failed",
            Self::Update(_) => "Update",
            Self::TurnEnded(_) => "TurnEnded",
            Self::Asked(_) => "Asked",
            Self::Printed(_) => "Printed",
            Self::Served(_) => "Served",
        })
    }
}

/// A permission that the agent waits for.
pub struct Asked {
    pub request: RequestPermissionRequest,
    pub responder: Responder<RequestPermissionResponse>,
}

/// Where the tasks of an agent tell what happens.
#[derive(Clone)]
struct Tell(Events);

impl Tell {
    fn say(&self, event: AcpEvent) {
        let _ = self.0.send(EngineEvent::Acp(Box::new(event)));
    }
}

impl Acp {
    /// Starts the agent and opens its session. It tells of itself through `events`. `serve` makes the program by which
    /// files and terminals are served: an argv, in the member's environment and sandbox.
    ///
    /// # Errors
    /// When the program cannot be executed; the text names it.
    pub fn start(
        program: &Program,
        opening: Opening,
        serve: impl Fn(Vec<String>) -> Program + Send + Sync + 'static,
        events: Events,
    ) -> std::io::Result<Self> {
        let StdioChild { child, stdin, stdout, stderr, kept, .. } = spawn_with_stdio(program)?;
        let (orders, ordered) = mpsc::unbounded_channel();
        let (over, ended) = watch::channel(false);
        let tell = Tell(events.clone());
        tokio::spawn(read_errors(stderr, tell.clone()));
        let connection = tokio::spawn(session::serve(stdin, stdout, opening, Box::new(serve), ordered, tell));
        tokio::spawn(watch_end(child, kept, connection, over, events));
        Ok(Self { orders, ended })
    }

    pub fn prompt(&self, text: String) {
        let _ = self.orders.send(Order::Prompt(text));
    }

    /// Asks the agent to end its turn; the turn's end follows, soon with a good agent.
    pub fn cancel(&self) {
        let _ = self.orders.send(Order::Cancel);
    }

    /// Closes the agent's input and waits so long for it to end by itself.
    pub async fn close(self, patience: Duration) {
        let Self { orders, mut ended } = self;
        let _ = orders.send(Order::Close);
        let _ = tokio::time::timeout(patience, ended.wait_for(|over| *over)).await;
    }
}

async fn watch_end(
    mut child: Child,
    kept: Kept,
    mut connection: tokio::task::JoinHandle<()>,
    over: watch::Sender<bool>,
    events: Events,
) {
    let status = child.wait().await.ok();
    drop(kept);
    let _ = over.send(true);
    if tokio::time::timeout(DRAIN, &mut connection).await.is_err() {
        connection.abort();
    }
    let _ = events.send(EngineEvent::Ended(ended_of(status)));
}

/// What an agent prints on its error output is for people; only its length is limited.
async fn read_errors(stderr: ChildStderr, tell: Tell) {
    use tokio::io::AsyncReadExt;
    let mut reader = BufReader::new(stderr);
    loop {
        let mut line = Vec::new();
        match (&mut reader).take(MOST_ERROR_LINE).read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) => tell.say(AcpEvent::Printed(String::from_utf8_lossy(&line).trim_end().to_owned())),
        }
    }
}
