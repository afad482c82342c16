//! Reaching one server, and staying with it until it or we end.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use reqwest::header::{HeaderName, HeaderValue};
use rmcp::model::{ClientCapabilities, ClientConfig, Implementation, Tool};
use rmcp::service::{Peer, RoleClient, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ServiceExt, transport::IntoTransport};

use super::config::{How, Server};
use super::stdio::Program;

/// How long a server has to answer before its connection counts as failed.
const CONNECT: Duration = Duration::from_secs(30);
/// Tools that are taken from one server.
const MOST_TOOLS: usize = 500;

/// A server that answers.
pub(super) struct Connection {
    service: RunningService<RoleClient, ClientConfig>,
    program: Option<Program>,
    pub tools: Vec<Tool>,
}

impl Connection {
    pub(super) async fn open(server: &Server, cwd: &Path) -> Result<Self, String> {
        match &server.how {
            How::Stdio { command, args, env } => {
                let (program, out, input) = Program::start((command, args), env, cwd)
                    .map_err(|e| format!("`{command}` cannot be started: {e}"))?;
                match handshake((out, input)).await {
                    Ok((service, tools)) => Ok(Self { service, program: Some(program), tools }),
                    Err(why) => {
                        let words = program.end().await;
                        Err(if words.is_empty() { why } else { format!("{why}; it said: {words}") })
                    }
                }
            }
            How::Http { url, headers } => {
                let (service, tools) = handshake(http(url, headers)?).await?;
                Ok(Self { service, program: None, tools })
            }
        }
    }

    pub(super) fn peer(&self) -> Peer<RoleClient> {
        self.service.peer().clone()
    }

    /// Returns when the server has gone, with what it said last; or, when `stop` is over, once it is ended.
    pub(super) async fn stay(mut self, stop: impl Future<Output = ()>) -> Option<String> {
        let gone = tokio::select! {
            () = stop => false,
            () = closed(&self.service) => true,
        };
        let _ = self.service.close_with_timeout(Duration::from_secs(1)).await;
        let words = match self.program {
            Some(program) => program.end().await,
            None => String::new(),
        };
        gone.then_some(words)
    }
}

/// The library tells of an end by a flag alone.
async fn closed(service: &RunningService<RoleClient, ClientConfig>) {
    const LOOK: Duration = Duration::from_millis(50);
    while !service.is_closed() && !service.peer().is_transport_closed() {
        tokio::time::sleep(LOOK).await;
    }
}

async fn handshake<T, E, A>(transport: T) -> Result<(RunningService<RoleClient, ClientConfig>, Vec<Tool>), String>
where
    T: IntoTransport<RoleClient, E, A>,
    E: std::error::Error + Send + Sync + 'static,
{
    let us =
        ClientConfig::new(ClientCapabilities::default(), Implementation::new("crewmux", env!("CARGO_PKG_VERSION")));
    let all = async {
        let service = us.serve(transport).await.map_err(|e| format!("it did not shake hands: {e}"))?;
        let mut tools = service.list_all_tools().await.map_err(|e| format!("it did not list its tools: {e}"))?;
        tools.truncate(MOST_TOOLS);
        Ok((service, tools))
    };
    tokio::time::timeout(CONNECT, all).await.unwrap_or_else(|_| Err(format!("it did not answer within {CONNECT:?}")))
}

fn http(url: &str, headers: &[(String, String)]) -> Result<StreamableHttpClientTransport<reqwest::Client>, String> {
    let mut custom = HashMap::new();
    for (name, value) in headers {
        let header = HeaderName::try_from(name.as_str()).map_err(|_| format!("{name:?} is no header's name"))?;
        let value = HeaderValue::try_from(value.as_str()).map_err(|_| format!("the header {name} has a bad value"))?;
        custom.insert(header, value);
    }
    let client = crate::agent::http::client(url).map_err(|e| e.to_string())?;
    let config = StreamableHttpClientTransportConfig::with_uri(url).custom_headers(custom);
    Ok(StreamableHttpClientTransport::with_client(client, config))
}
