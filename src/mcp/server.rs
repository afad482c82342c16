//! The protocol's face.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, Implementation, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, ResourceContents,
    ServerCapabilities, ServerConfig, SubscribeRequestParams, UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, ServerInitializeError, serve_server_with_ct};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Map, Value};
use tokio::io::{AsyncRead, ReadBuf};
use tokio_util::sync::CancellationToken;

use super::answer::{self, Result, arguments};
use super::resources::Subscriptions;
use super::session::Session;
use super::wait::Call;
use super::{mail, members, requests, resources, tasks, tools};
use crate::act::ActError;

/// Longest line that is taken from a client, in bytes: the longest text that can be sent, escaped, and some more.
const LONGEST_LINE: usize = 20 * 1024 * 1024;

/// How a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Served {
    /// The client closed its end, or this process was to end.
    Closed,
    /// The client went without a word.
    NoClient,
}

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error("the client did not begin with `initialize`")]
    NotInitialized,
    #[error("the client is not to be talked to: {0}")]
    Protocol(String),
}

/// Serves the client on stdin and stdout until it goes. `ready` is called once it has said hello.
///
/// # Errors
/// When the client does not speak the protocol.
pub async fn serve(session: Arc<Session>, ready: impl FnOnce()) -> std::result::Result<Served, ServeError> {
    let gone = session.gone().clone();
    let stdin = UntilGone { inner: tokio::io::stdin(), gone: gone.clone() };
    let transport = AsyncRwTransport::new_server(stdin, tokio::io::stdout()).with_max_line_length(LONGEST_LINE);
    let server = Server { session: Arc::clone(&session), subscriptions: Subscriptions::default() };
    match serve_server_with_ct(server, transport, gone.clone()).await {
        Ok(running) => {
            ready();
            let _ = running.waiting().await;
            session.end().await;
            Ok(Served::Closed)
        }
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => Ok(Served::NoClient),
        Err(ServerInitializeError::ExpectedInitializeRequest(_)) => Err(ServeError::NotInitialized),
        Err(error) => Err(ServeError::Protocol(error.to_string())),
    }
}

struct Server {
    session: Arc<Session>,
    subscriptions: Subscriptions,
}

impl Server {
    async fn call(&self, name: &str, given: Option<Map<String, Value>>, context: RequestContext<RoleServer>) -> Result {
        let role = self.session.role();
        match tools::find(name) {
            Some(tool) if tool.is_for(role) => {}
            Some(_) => return Err(not_yours(name)),
            None => {
                let known: Vec<&str> = tools::of(role).map(|tool| tool.name).collect();
                return Err(ActError::usage(format!("no tool `{name}`; there are {}", known.join(", "))));
            }
        }
        let call = Call::new(Arc::clone(&self.session), &context);
        let call = &call;
        match name {
            "send_message" => mail::send(call, arguments(name, given)?).await,
            "read_inbox" => mail::read(call, context.peer, arguments(name, given)?).await,
            "list_members" => {
                let super::params::ListMembers {} = arguments(name, given)?;
                members::list(call).await
            }
            "task_create" => tasks::create(call, arguments(name, given)?).await,
            "task_list" => tasks::list(call, arguments(name, given)?).await,
            "task_get" => tasks::get(call, arguments(name, given)?).await,
            "task_update" => tasks::update(call, arguments(name, given)?).await,
            "submit_plan" => requests::submit_plan(call, arguments(name, given)?).await,
            "request_permission" => requests::request_permission(call, arguments(name, given)?).await,
            "answer_shutdown" => requests::answer_shutdown(call, arguments(name, given)?).await,
            "report" => requests::report(call, arguments(name, given)?).await,
            "spawn_member" => members::spawn(call, arguments(name, given)?).await,
            "stop_member" => members::stop(call, arguments(name, given)?).await,
            "request_shutdown" => members::shutdown(call, arguments(name, given)?).await,
            _ => requests::decide(call, arguments(name, given)?).await,
        }
    }
}

fn not_yours(name: &str) -> ActError {
    ActError::forbidden(match tools::find(name).map(|tool| tool.whose) {
        Some(tools::For::Leaders) => format!("`{name}` is the lead's and the operator's; the team roster is flat"),
        _ => format!("`{name}` is for members; you lead"),
    })
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities =
            ServerCapabilities::builder().enable_tools().enable_resources().enable_resources_subscribe().build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("crewmux", env!("CARGO_PKG_VERSION")))
            .with_instructions(members::brief(&self.session))
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> std::result::Result<ListToolsResult, ErrorData> {
        let tools = tools::of(self.session.role()).map(tools::Entry::tool).collect();
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> std::result::Result<CallToolResponse, ErrorData> {
        mail::confirm_earlier(&self.session).await;
        Ok(answer::result(self.call(&request.name, request.arguments, context).await).into())
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> std::result::Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(resources::list()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> std::result::Result<ReadResourceResponse, ErrorData> {
        match resources::read(&self.session, &request.uri).await {
            None => Err(ErrorData::resource_not_found(format!("no resource {}", request.uri), None)),
            Some(Err(error)) => Err(ErrorData::internal_error(error.to_string(), None)),
            Some(Ok(text)) => {
                let contents = ResourceContents::text(text, request.uri).with_mime_type("application/json");
                Ok(ReadResourceResult::new(vec![contents]).into())
            }
        }
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> std::result::Result<(), ErrorData> {
        let added = self.subscriptions.add(&self.session, context.peer, &request.uri).await;
        added.map_err(|error| ErrorData::resource_not_found(error.to_string(), None))
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> std::result::Result<(), ErrorData> {
        self.subscriptions.remove(&request.uri);
        Ok(())
    }
}

/// A stream that says when it is over, so that what waits for somebody else does not keep a process alive whose client
/// has gone.
struct UntilGone<R> {
    inner: R,
    gone: CancellationToken,
}

impl<R: AsyncRead + Unpin> AsyncRead for UntilGone<R> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let (before, room) = (buf.filled().len(), buf.remaining());
        let read = Pin::new(&mut this.inner).poll_read(cx, buf);
        match &read {
            Poll::Ready(Ok(())) if room > 0 && buf.filled().len() == before => this.gone.cancel(),
            Poll::Ready(Err(_)) => this.gone.cancel(),
            _ => {}
        }
        read
    }
}
