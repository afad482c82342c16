//! What a teammate knows of its agent and of the turn that the agent is at.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::time::Duration;

use agent_client_protocol::v1::schema::{SessionUpdate, ToolCallId};
use tokio::time::Instant;

use super::super::engine::acp::{Acp, Asked};
use super::feed::{Feed, text_of};
use crate::model::id::{MessageId, RequestId, TaskId};
use crate::model::message::MAX_INLINE_BYTES;
use crate::model::task::Usage;

/// After so long without a word, what an agent did by itself counts as over.
pub const SILENCE: Duration = Duration::from_secs(2);
/// An agent that has not ended its turn so long after it was asked to is hung.
pub const CANCEL: Duration = Duration::from_secs(10);
/// How often a turn is tried that breaks with an error.
pub const TRIES: u32 = 5;
/// How many activities `status.json` keeps.
const RECENT: usize = 5;

/// A member's agent.
pub struct Agent {
    /// Gone once it is told to end.
    pub acp: Option<Acp>,
    pub feed: Feed,
    pub session_id: Option<String>,
    /// It does not know yet who it is.
    pub brief_due: bool,
    pub turn: Option<Turn>,
    /// What it does by itself, after its turn ended.
    pub late: Option<Turn>,
    /// Since when a cancelled turn has been over: its last words may still come.
    pub cancelled_at: Option<Instant>,
    pub failures: u32,
    pub retry_at: Option<Instant>,
    /// The mail of a turn that broke. It waits again from the next try on; until then it stays with this life as handed
    /// over and not read, so that a life which ends meanwhile leaves it to the next one marked.
    pub broken: Vec<MessageId>,
    /// A claim whose turn broke.
    pub held: Option<Held>,
    pub asked: BTreeMap<RequestId, Asked>,
    /// It could not be started, or its connection broke.
    pub failed: bool,
    pub usage: Usage,
    pub turns: u64,
    pub activity: Option<String>,
    pub recent: VecDeque<String>,
}

/// A task that an agent holds.
#[derive(Clone, Debug)]
pub struct Held {
    pub id: TaskId,
    pub epoch: u64,
    pub subject: String,
    pub description: String,
}

/// One turn of an agent.
pub struct Turn {
    pub ids: Vec<MessageId>,
    pub task: Option<Held>,
    /// It carried the brief and the first instructions.
    pub first: bool,
    pub began: Instant,
    pub last_word: Instant,
    pub answer: Answer,
    pub tools: HashSet<ToolCallId>,
    /// Why it was cancelled, and when.
    pub cancelled: Option<(String, Instant)>,
}

impl Turn {
    pub fn new(ids: Vec<MessageId>, task: Option<Held>, first: bool) -> Self {
        let now = Instant::now();
        let (answer, tools) = (Answer::default(), HashSet::new());
        Self { ids, task, first, began: now, last_word: now, answer, tools, cancelled: None }
    }
}

/// The agent's last words of a turn: what it said after its last tool call.
#[derive(Default)]
pub struct Answer {
    text: String,
    earlier: String,
}

impl Answer {
    pub fn push(&mut self, text: &str) {
        self.text.push_str(text);
        if self.text.len() > 2 * MAX_INLINE_BYTES {
            self.text = last(&self.text).to_owned();
        }
    }

    /// A tool call: what comes after it is the answer, if something does.
    fn cut(&mut self) {
        if !self.text.trim().is_empty() {
            self.earlier = std::mem::take(&mut self.text);
        }
        self.text.clear();
    }

    pub fn words(&self) -> &str {
        let text = if self.text.trim().is_empty() { &self.earlier } else { &self.text };
        last(text.trim())
    }
}

/// The end of a text that still fits into a message.
fn last(text: &str) -> &str {
    let mut from = text.len().saturating_sub(MAX_INLINE_BYTES);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    &text[from..]
}

impl Agent {
    pub fn new(acp: Acp, feed: Feed) -> Self {
        Self {
            acp: Some(acp),
            feed,
            session_id: None,
            brief_due: false,
            turn: None,
            late: None,
            cancelled_at: None,
            failures: 0,
            retry_at: None,
            broken: Vec::new(),
            held: None,
            asked: BTreeMap::new(),
            failed: false,
            usage: Usage::default(),
            turns: 0,
            activity: None,
            recent: VecDeque::new(),
        }
    }

    /// When [`super::super::run::Process::agent_tick`] is next of use.
    pub fn next_deadline(&self) -> Option<Instant> {
        let silence = self.late.as_ref().map(|late| late.last_word + SILENCE);
        let hung = self.turn.as_ref().and_then(|t| t.cancelled.as_ref()).map(|(_, at)| *at + CANCEL);
        [silence, hung, self.retry_at].into_iter().flatten().min()
    }

    /// Whether an update is the agent's work, and not only news about its session.
    pub fn is_work(update: &SessionUpdate) -> bool {
        matches!(
            update,
            SessionUpdate::AgentMessageChunk(_)
                | SessionUpdate::AgentThoughtChunk(_)
                | SessionUpdate::ToolCall(_)
                | SessionUpdate::ToolCallUpdate(_)
                | SessionUpdate::Plan(_)
        )
    }

    /// Takes an update into the feed and into the turn that it belongs to.
    pub fn absorb(&mut self, update: &SessionUpdate) {
        let turn = self.turn.as_mut().or(self.late.as_mut());
        match update {
            SessionUpdate::AgentMessageChunk(chunk) => {
                let Some(text) = text_of(&chunk.content) else { return };
                if let Some(turn) = turn {
                    turn.answer.push(text);
                }
                self.feed.answer(text);
                self.activity = Some("writing".to_owned());
            }
            SessionUpdate::AgentThoughtChunk(chunk) => {
                self.feed.thought(chunk);
                self.activity = Some("thinking".to_owned());
            }
            SessionUpdate::ToolCall(call) => {
                if let Some(turn) = turn {
                    turn.answer.cut();
                    if turn.tools.insert(call.tool_call_id.clone()) {
                        self.usage.tool_uses += 1;
                    }
                }
                let title = self.feed.tool(call);
                self.does(title);
            }
            SessionUpdate::ToolCallUpdate(update) => {
                if let Some(turn) = turn
                    && turn.tools.insert(update.tool_call_id.clone())
                {
                    turn.answer.cut();
                    self.usage.tool_uses += 1;
                }
                if let Some(title) = self.feed.tool_update(update) {
                    self.does(title);
                }
            }
            SessionUpdate::Plan(plan) => self.feed.plan(plan),
            SessionUpdate::UsageUpdate(usage) => self.usage.total_tokens = self.usage.total_tokens.max(usage.used),
            SessionUpdate::CurrentModeUpdate(mode) => self.feed.note(&format!("mode: {}", mode.current_mode_id)),
            _ => {}
        }
    }

    fn does(&mut self, what: String) {
        if self.recent.back() != Some(&what) {
            if self.recent.len() == RECENT {
                self.recent.pop_front();
            }
            self.recent.push_back(what.clone());
        }
        self.activity = Some(what);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_is_what_comes_after_the_last_tool_call() {
        let mut answer = Answer::default();
        answer.push("I look. ");
        answer.cut();
        answer.push(" found ");
        answer.push("it\n");
        assert_eq!(answer.words(), "found it");
        answer.cut();
        assert_eq!(answer.words(), "found it", "nothing came after the last call");
        answer.push("é".repeat(MAX_INLINE_BYTES).as_str());
        assert!(answer.words().len() <= MAX_INLINE_BYTES && answer.words().starts_with('é'));
    }
}
