//! What a session does, as updates of the protocol.

use std::path::PathBuf;

use agent_client_protocol::v1::schema::{
    ContentBlock, ContentChunk, Cost, CurrentModeUpdate, Diff, Plan, PlanEntry, PlanEntryPriority, PlanEntryStatus,
    SessionModeId, SessionUpdate, TextContent, ToolCall, ToolCallContent, ToolCallLocation, ToolCallStatus,
    ToolCallUpdate, ToolCallUpdateFields, ToolKind, UsageUpdate,
};
use serde_json::Value;

use crate::agent::budget::Spent;
use crate::agent::permission::Mode;
use crate::agent::query::Step;
use crate::agent::tools::{self, Kind, Outcome, Todo, TodoStatus};
use crate::agent::wire::{Block, ResultPart, Role, Turn};

/// Characters of a call's title, and of its result, that a client gets.
const TITLE: usize = 200;
const RESULT: usize = 20_000;
/// Arguments longer than this are not sent along, in bytes.
const RAW: usize = 64 << 10;

pub fn text(text: impl Into<String>) -> ContentBlock {
    ContentBlock::Text(TextContent::new(text))
}

pub fn said(words: impl Into<String>) -> SessionUpdate {
    SessionUpdate::AgentMessageChunk(ContentChunk::new(text(words)))
}

pub fn thought(words: impl Into<String>) -> SessionUpdate {
    SessionUpdate::AgentThoughtChunk(ContentChunk::new(text(words)))
}

pub fn kind_of(kind: Kind) -> ToolKind {
    match kind {
        Kind::Read => ToolKind::Read,
        Kind::Edit => ToolKind::Edit,
        Kind::Execute => ToolKind::Execute,
        Kind::Search => ToolKind::Search,
        Kind::Fetch => ToolKind::Fetch,
        Kind::Think => ToolKind::Think,
        Kind::Other => ToolKind::Other,
    }
}

fn cut(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        Some((at, _)) => format!("{}… ({} more bytes)", &text[..at], text.len() - at),
        None => text.to_owned(),
    }
}

/// `Bash cargo test`
pub fn title(name: &str, subject: &str) -> String {
    let line = subject.lines().next().unwrap_or_default();
    cut(format!("{name} {line}").trim_end(), TITLE)
}

fn raw(input: &Value) -> Option<Value> {
    // A client shows arguments; what is longer nobody looks at.
    (input.to_string().len() <= RAW).then(|| input.clone())
}

/// Files that a call is about.
fn locations(input: &Value) -> Vec<ToolCallLocation> {
    let path = ["file_path", "notebook_path", "path"].iter().find_map(|key| input[*key].as_str());
    path.filter(|path| path.starts_with('/'))
        .map(|path| ToolCallLocation::new(PathBuf::from(path)))
        .into_iter()
        .collect()
}

/// A step of the main loop; `None` for what a client is not told in this way.
pub fn step(step: &Step<'_>, window: u64, spent: Spent) -> Option<SessionUpdate> {
    Some(match step {
        Step::Text(words) => said(*words),
        Step::Thinking(words) => thought(*words),
        Step::Call { id, name, kind, subject, input } => {
            let call = ToolCall::new((*id).to_owned(), title(name, subject))
                .name((*name).to_owned())
                .kind(kind_of(*kind))
                .status(ToolCallStatus::InProgress)
                .locations(locations(input))
                .raw_input(raw(input));
            SessionUpdate::ToolCall(call)
        }
        Step::CallEnded { id, outcome, .. } => SessionUpdate::ToolCallUpdate(ended(id, outcome)),
        Step::Answered { context, .. } => {
            let update = UsageUpdate::new(*context, window).cost(Some(Cost::new(spent.dollars, "USD")));
            SessionUpdate::UsageUpdate(update)
        }
        Step::Again { why, pause, attempt } => {
            thought(format!("\n({why}; asking again in {pause:.1?}, try {})\n", attempt + 1))
        }
        // What a client shows of its course as of a call that is done; what is said from here on answers it.
        Step::Told { id, summary } => SessionUpdate::ToolCall(
            ToolCall::new(format!("told-{id}"), cut(summary, TITLE)).status(ToolCallStatus::Completed),
        ),
        Step::Compacted { .. } => thought("\n(the conversation was shortened)\n"),
        Step::Notice(words) => thought(format!("\n({words})\n")),
    })
}

fn ended(id: &str, outcome: &Outcome) -> ToolCallUpdate {
    let status = if outcome.is_error { ToolCallStatus::Failed } else { ToolCallStatus::Completed };
    let mut content: Vec<ToolCallContent> = outcome.diff.iter().map(diff).collect();
    let words = outcome.as_text();
    if content.is_empty() || outcome.is_error {
        content.push(text(cut(&words, RESULT)).into());
    }
    ToolCallUpdate::new(id.to_owned(), ToolCallUpdateFields::new().status(status).content(content))
}

fn diff(diff: &tools::Diff) -> ToolCallContent {
    Diff::new(diff.path.clone(), diff.after.clone()).old_text(diff.before.clone()).into()
}

/// What a running command has printed so far.
pub fn output(id: &str, words: &str) -> SessionUpdate {
    let fields = ToolCallUpdateFields::new().content(vec![text(words).into()]);
    SessionUpdate::ToolCallUpdate(ToolCallUpdate::new(id.to_owned(), fields))
}

pub fn mode(mode: Mode) -> SessionUpdate {
    SessionUpdate::CurrentModeUpdate(CurrentModeUpdate::new(SessionModeId::new(mode.as_str())))
}

pub fn plan(todos: &[Todo]) -> SessionUpdate {
    let entries = todos.iter().map(|todo| {
        let status = match todo.status {
            TodoStatus::Pending => PlanEntryStatus::Pending,
            TodoStatus::InProgress => PlanEntryStatus::InProgress,
            TodoStatus::Completed => PlanEntryStatus::Completed,
        };
        PlanEntry::new(todo.content.clone(), PlanEntryPriority::Medium, status)
    });
    SessionUpdate::Plan(Plan::new(entries.collect()))
}

/// An earlier turn, for a client that loads the session.
pub fn again(turn: &Turn) -> Vec<SessionUpdate> {
    turn.content.iter().filter_map(|block| block_again(turn.role, block)).collect()
}

fn block_again(role: Role, block: &Block) -> Option<SessionUpdate> {
    Some(match (role, block) {
        (Role::User, Block::Text { text: words, .. }) => {
            SessionUpdate::UserMessageChunk(ContentChunk::new(text(words.clone())))
        }
        (Role::Assistant, Block::Text { text: words, .. }) => said(words.clone()),
        (Role::Assistant, Block::Thinking { thinking, .. }) => thought(thinking.clone()),
        (Role::Assistant, Block::ToolUse { id, name, input, .. }) => {
            let call = ToolCall::new(id.clone(), title(name, "")).name(name.clone()).raw_input(raw(input));
            SessionUpdate::ToolCall(call.status(ToolCallStatus::InProgress).locations(locations(input)))
        }
        (Role::User, Block::ToolResult { tool_use_id, content, is_error, .. }) => {
            let words: Vec<&str> = content.iter().filter_map(ResultPart::as_text).collect();
            let status = if *is_error { ToolCallStatus::Failed } else { ToolCallStatus::Completed };
            let content = vec![text(cut(&words.join("\n"), RESULT)).into()];
            let fields = ToolCallUpdateFields::new().status(status).content(content);
            SessionUpdate::ToolCallUpdate(ToolCallUpdate::new(tool_use_id.clone(), fields))
        }
        _ => return None,
    })
}
