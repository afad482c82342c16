//! The connection to an agent: opening its session, then prompts and cancellations in the order they are given.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    CancelNotification, ClientCapabilities, ContentBlock, CreateTerminalRequest, FileSystemCapabilities,
    Implementation, InitializeRequest, InitializeResponse, KillTerminalRequest, LoadSessionRequest, McpServer,
    NewSessionRequest, PromptRequest, ReadTextFileRequest, ReleaseTerminalRequest, RequestPermissionRequest, SessionId,
    SessionNotification, TerminalOutputRequest, TextContent, WaitForTerminalExitRequest, WriteTextFileRequest,
};
use agent_client_protocol::{Agent, Client, Error, Lines};
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::mpsc;

use super::files::{self, Serve};
use super::terminals::Terminals;
use super::{AcpEvent, Asked, Order, Tell, mode, wire};
use crate::os::spawn::{Program, StdioChild, spawn_with_stdio};

/// How long an agent that is only asked who it is may take.
const PROBE: Duration = Duration::from_secs(25);

/// How an agent's session is opened.
#[derive(Clone, Debug)]
pub struct Opening {
    pub cwd: PathBuf,
    pub servers: Vec<McpServer>,
    /// The session of an earlier life.
    pub resume: Option<Resume>,
    /// The modes that the session is put into: the first of them that the agent has.
    pub modes: Vec<String>,
    /// How long one step of it may take.
    pub step: Duration,
}

/// A session to go on with.
#[derive(Clone, Debug)]
pub struct Resume {
    pub session_id: String,
    /// How long it is still too early to load it.
    pub wait: Duration,
}

/// A session that was opened.
#[derive(Clone, Debug)]
pub struct Opened {
    pub session_id: String,
    /// It is the earlier life's session.
    pub loaded: bool,
    /// Why the earlier life's session is not gone on with.
    pub lost: Option<String>,
    /// The agent's own name and version.
    pub agent: Option<String>,
    /// The mode that it was put into.
    pub mode: Option<String>,
}

/// Speaks with the agent until it is told to close or the connection breaks.
pub(super) async fn serve(
    stdin: ChildStdin,
    stdout: ChildStdout,
    opening: Opening,
    serve: Serve,
    orders: mpsc::UnboundedReceiver<Order>,
    tell: Tell,
) {
    let aside = tell.clone();
    let transport = Lines::new(wire::sink(stdin), wire::lines(stdout, move |text| aside.say(AcpEvent::Printed(text))));
    let closed = connect(transport, opening, serve, orders, tell.clone()).await;
    match closed {
        Ok(Closed::Asked) => {}
        Ok(Closed::ByAgent) => tell.say(AcpEvent::Failed("it closed its output".to_owned())),
        Err(error) => tell.say(AcpEvent::Failed(said(&error))),
    }
}

enum Closed {
    Asked,
    ByAgent,
}

async fn connect(
    transport: impl agent_client_protocol::ConnectTo<Client> + 'static,
    opening: Opening,
    serve: Serve,
    mut orders: mpsc::UnboundedReceiver<Order>,
    tell: Tell,
) -> Result<Closed, Error> {
    let serve = Arc::new(serve);
    let terminals = Terminals::new(serve.clone());
    let (updates, permissions) = (tell.clone(), tell.clone());
    let (read, write) = ((serve.clone(), tell.clone()), (serve, tell.clone()));
    let (create, output, wait, kill, release) =
        ((terminals.clone(), tell.clone()), terminals.clone(), terminals.clone(), terminals.clone(), terminals.clone());
    Client
        .v1()
        .name("crewmux")
        .on_receive_notification(
            async move |n: SessionNotification, _cx| {
                updates.say(AcpEvent::Update(Box::new(n.update)));
                Ok(())
            },
            agent_client_protocol::on_receive_notification!(),
        )
        .on_receive_request(
            async move |request: RequestPermissionRequest, responder, _cx| {
                permissions.say(AcpEvent::Asked(Box::new(Asked { request, responder })));
                Ok(())
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_request(
            async move |request: ReadTextFileRequest, responder, cx: ConnectionTo<Agent>| {
                let (serve, tell) = read.clone();
                cx.spawn(async move { responder.respond_with_result(files::read(&serve, &tell, request).await) })
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_request(
            async move |request: WriteTextFileRequest, responder, cx: ConnectionTo<Agent>| {
                let (serve, tell) = write.clone();
                cx.spawn(async move { responder.respond_with_result(files::write(&serve, &tell, request).await) })
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_request(
            async move |request: CreateTerminalRequest, responder, _cx| {
                let (terminals, tell) = &create;
                responder.respond_with_result(terminals.create(request, tell))
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_request(
            async move |request: TerminalOutputRequest, responder, _cx| {
                responder.respond_with_result(output.output(&request))
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_request(
            async move |request: WaitForTerminalExitRequest, responder, cx: ConnectionTo<Agent>| {
                let terminals = wait.clone();
                cx.spawn(async move { responder.respond_with_result(terminals.wait(&request).await) })
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_request(
            async move |request: KillTerminalRequest, responder, _cx| {
                responder.respond_with_result(kill.kill(&request))
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_request(
            async move |request: ReleaseTerminalRequest, responder, _cx| {
                responder.respond_with_result(release.release(&request))
            },
            agent_client_protocol::on_receive_request!(),
        )
        .connect_with(transport, async move |cx: ConnectionTo<Agent>| {
            let opened = match open(&cx, &opening, &tell).await {
                Ok(opened) => opened,
                Err(why) => return Err(Error::internal_error().data(why)),
            };
            let session = SessionId::new(opened.session_id.clone());
            tell.say(AcpEvent::Opened(opened));
            loop {
                let order = tokio::select! {
                    order = orders.recv() => order,
                    () = cx.incoming_closed() => return Ok(Closed::ByAgent),
                };
                match order {
                    Some(Order::Prompt(text)) => prompt(&cx, &session, text, tell.clone())?,
                    Some(Order::Cancel) => cx.send_notification(CancelNotification::new(session.clone()))?,
                    Some(Order::Close) | None => return Ok(Closed::Asked),
                }
            }
        })
        .await
}

/// Sends a prompt. Its end is told before anything that the agent says after it.
fn prompt(cx: &ConnectionTo<Agent>, session: &SessionId, text: String, tell: Tell) -> Result<(), Error> {
    let request = PromptRequest::new(session.clone(), vec![ContentBlock::Text(TextContent::new(text))]);
    cx.prepare_request(request).on_receiving_result(async move |result| {
        tell.say(AcpEvent::TurnEnded(result.map_err(|error| said(&error))));
        Ok(())
    })
}

async fn open(cx: &ConnectionTo<Agent>, opening: &Opening, tell: &Tell) -> Result<Opened, String> {
    let hello = initialize(cx, opening.step).await?;
    let agent = hello.agent_info.as_ref().map(|info| format!("{} {}", info.name, info.version));
    let mut lost = None;
    if let Some(resume) = &opening.resume {
        if hello.agent_capabilities.load_session {
            if !resume.wait.is_zero() {
                tell.say(AcpEvent::Waits(resume.wait));
                tokio::time::sleep(resume.wait).await;
            }
            let load = LoadSessionRequest::new(SessionId::new(resume.session_id.clone()), opening.cwd.clone())
                .mcp_servers(opening.servers.clone());
            match within(opening.step, "session/load", cx.send_request(load).block_task()).await {
                Ok(loaded) => {
                    let session_id = resume.session_id.clone();
                    let mode = mode::set(cx, &session_id, loaded.modes, loaded.config_options, opening).await?;
                    return Ok(Opened { session_id, loaded: true, lost: None, agent, mode });
                }
                Err(why) => lost = Some(why),
            }
        } else {
            lost = Some("the agent cannot load sessions".to_owned());
        }
    }
    let new = NewSessionRequest::new(opening.cwd.clone()).mcp_servers(opening.servers.clone());
    let new = within(opening.step, "session/new", cx.send_request(new).block_task()).await?;
    let session_id = new.session_id.to_string();
    let mode = mode::set(cx, &session_id, new.modes, new.config_options, opening).await?;
    Ok(Opened { session_id, loaded: false, lost, agent, mode })
}

async fn initialize(cx: &ConnectionTo<Agent>, step: Duration) -> Result<InitializeResponse, String> {
    let files = FileSystemCapabilities::new().read_text_file(true).write_text_file(true);
    let request = InitializeRequest::new(ProtocolVersion::V1)
        .client_info(Implementation::new("crewmux", env!("CARGO_PKG_VERSION")))
        .client_capabilities(ClientCapabilities::new().fs(files).terminal(true));
    let hello = within(step, "initialize", cx.send_request(request).block_task()).await?;
    if hello.protocol_version != ProtocolVersion::V1 {
        return Err(format!("it speaks version {} of the protocol, this crewmux speaks 1", hello.protocol_version));
    }
    Ok(hello)
}

pub(super) async fn within<T>(
    step: Duration,
    what: &str,
    answer: impl Future<Output = Result<T, Error>>,
) -> Result<T, String> {
    match tokio::time::timeout(step, answer).await {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(error)) => Err(format!("{what}: {}", said(&error))),
        Err(_) => Err(format!("{what}: no answer within {} s", step.as_secs())),
    }
}

/// An error as a person reads it: what the agent said, and what it said besides.
pub(super) fn said(error: &Error) -> String {
    let text = match error.data.as_ref() {
        // The library's own words for it say nothing to a person.
        Some(more) if more["reason"] == "incoming_transport_closed" => {
            "it closed its output without an answer".to_owned()
        }
        Some(serde_json::Value::String(more)) if error.message == "Internal error" => more.clone(),
        Some(serde_json::Value::String(more)) => format!("{}: {more}", error.message),
        Some(more) => format!("{}: {more}", error.message),
        None => error.message.clone(),
    };
    let hint = if i32::from(error.code) == -32000 { " (start it by hand once and log in)" } else { "" };
    let cut: String = text.chars().take(2000).collect();
    format!("{cut}{hint}")
}

/// Starts a program, has it answer `initialize`, and ends it: the agent's own name and version.
///
/// # Errors
/// A text that reads after the program's name.
pub async fn probe(program: &Program) -> Result<String, String> {
    let StdioChild { mut child, stdin, stdout, stderr, id, kept } =
        spawn_with_stdio(program).map_err(|error| error.to_string())?;
    drop(stderr);
    let transport = Lines::new(wire::sink(stdin), wire::lines(stdout, |_| {}));
    let hello = Client
        .v1()
        .name("crewmux")
        .connect_with(transport, async |cx: ConnectionTo<Agent>| {
            initialize(&cx, PROBE).await.map_err(|why| Error::internal_error().data(why))
        })
        .await;
    // It leads a group of its own: what it started ends with it.
    if let Some(pid) = i32::try_from(id.pid).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(pid, Signal::KILL);
    }
    let _ = child.wait().await;
    drop(kept);
    let hello = hello.map_err(|error| said(&error))?;
    Ok(hello.agent_info.map_or_else(|| "an agent without a name".to_owned(), |i| format!("{} {}", i.name, i.version)))
}
