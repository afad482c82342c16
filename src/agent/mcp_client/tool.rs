//! A server's tool as one of ours: `mcp__SERVER__TOOL`.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{CallToolRequestParams, CallToolResult, ContentBlock, ResourceContents};
use serde_json::Value;

use super::servers::Servers;
use crate::agent::tools::{BoxFuture, Context, Kind, Outcome, Possible, Subject, Tool, middle_cut};
use crate::agent::wire::{ResultPart, ToolSpec};

/// Bytes of a name that providers take.
const NAME_BYTES: usize = 64;
/// Bytes of a description that are shown.
const TEXT_BYTES: usize = 4_000;
/// How long a call may take.
const CALL: Duration = Duration::from_secs(600);

pub struct McpTool {
    servers: Arc<Servers>,
    server: String,
    tool: rmcp::model::Tool,
    name: String,
}

impl McpTool {
    pub(super) fn new(servers: Arc<Servers>, server: &str, tool: rmcp::model::Tool) -> Self {
        Self { name: name_of(server, &tool.name), servers, server: server.to_owned(), tool }
    }
}

/// Of letters, digits, `_` and `-`, and not too long; what had to be changed keeps apart by a hash of the name as it was.
pub(super) fn name_of(server: &str, tool: &str) -> String {
    let whole = format!("mcp__{server}__{tool}");
    let plain: String =
        whole.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' }).collect();
    if plain == whole && whole.len() <= NAME_BYTES {
        return whole;
    }
    let hash = blake3::hash(whole.as_bytes()).to_hex();
    format!("{}_{}", &plain[..plain.len().min(NAME_BYTES - 9)], &hash[..8])
}

impl Tool for McpTool {
    fn name(&self) -> &str {
        &self.name
    }

    fn spec(&self, _possible: &Possible) -> ToolSpec {
        let text = self.tool.description.as_deref().or(self.tool.title.as_deref()).unwrap_or_default();
        let mut schema = Value::Object((*self.tool.input_schema).clone());
        // Providers refuse the whole request over a schema that is none of an object.
        if schema["type"] != "object" {
            schema["type"] = Value::from("object");
        }
        ToolSpec::new(&*self.name, middle_cut(text, TEXT_BYTES, ""), schema)
    }

    fn is_listed(&self, _possible: &Possible) -> bool {
        self.servers.peer(&self.server).is_ok()
    }

    fn is_deferred(&self) -> bool {
        self.servers.is_hidden(&self.name)
    }

    fn kind(&self) -> Kind {
        Kind::Other
    }

    fn subject(&self, input: &Value, _cx: &Context) -> Subject {
        Subject::of(input.to_string())
    }

    fn call<'a>(&'a self, input: Value, cx: &'a Context) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            let Value::Object(arguments) = input else {
                return Outcome::error(format!(
                    "{} takes its arguments as one JSON object. Nothing was done.",
                    self.name
                ));
            };
            let peer = match self.servers.peer(&self.server) {
                Ok(peer) => peer,
                Err(why) => return gone(&self.server, &why),
            };
            let call = peer.call_tool(CallToolRequestParams::new(self.tool.name.clone()).with_arguments(arguments));
            let answer = tokio::select! {
                answer = tokio::time::timeout(CALL, call) => answer,
                () = cx.cancel.cancelled() => return Outcome::cancelled(),
            };
            match answer {
                Ok(Ok(result)) => outcome(result, cx.limits.output_bytes),
                Ok(Err(error)) => Outcome::error(format!("The MCP server {} refused the call: {error}.", self.server)),
                Err(_) => Outcome::error(format!("The MCP server {} did not answer within {CALL:?}.", self.server)),
            }
        })
    }
}

fn gone(server: &str, why: &str) -> Outcome {
    Outcome::error(format!("The MCP server {server} is gone ({why}), and its tools with it. Go on without it."))
}

fn outcome(result: CallToolResult, bytes: usize) -> Outcome {
    let mut content: Vec<ResultPart> = result.content.into_iter().map(|block| part(block, bytes)).collect();
    if content.is_empty() {
        let text = result.structured_content.map_or_else(|| "[It answered nothing.]".to_owned(), |v| v.to_string());
        content.push(ResultPart::text(middle_cut(&text, bytes, "")));
    }
    Outcome { content, is_error: result.is_error == Some(true), ..Outcome::default() }
}

fn part(block: ContentBlock, bytes: usize) -> ResultPart {
    match block {
        ContentBlock::Text(text) => ResultPart::text(middle_cut(&text.text, bytes, "")),
        ContentBlock::Image(image) => ResultPart::image(&image.mime_type, &image.data),
        ContentBlock::Audio(_) => ResultPart::text("[A sound, which cannot be shown.]"),
        ContentBlock::Resource(resource) => match resource.resource {
            ResourceContents::TextResourceContents { uri, text, .. } => {
                ResultPart::text(format!("[{uri}]\n{}", middle_cut(&text, bytes, "")))
            }
            ResourceContents::BlobResourceContents { uri, .. } => {
                ResultPart::text(format!("[{uri}, which is no text.]"))
            }
            _ => ResultPart::text("[A resource of a kind that is not known here.]"),
        },
        ContentBlock::ResourceLink(link) => ResultPart::text(format!("[{}: {}]", link.name, link.uri)),
        _ => ResultPart::text("[Something of a kind that is not known here.]"),
    }
}

#[cfg(test)]
mod tests {
    use super::name_of;

    #[test]
    fn names_are_what_a_provider_takes_and_stay_apart() {
        assert_eq!(name_of("git", "log"), "mcp__git__log");
        let (a, b) = (name_of("s", "a.b"), name_of("s", "a:b"));
        assert_ne!(a, b);
        assert_ne!(name_of("s", &"x".repeat(100)), name_of("s", &"x".repeat(101)));
        for name in [a, b, name_of("s", &"ü".repeat(100))] {
            assert!(
                name.len() <= 64 && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-'),
                "{name}"
            );
        }
    }
}
