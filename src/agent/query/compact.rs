//! Making a conversation shorter when it nears the model's limit: the model sums it up, and goes on from that.

use tokio_util::sync::CancellationToken;

use super::TurnError;
use super::conversation::Conversation;
use super::watch::Step;
use crate::agent::wire::{Block, ResultPart, Role, Turn};

/// What the model is asked for. Written for a reader who knows nothing else of the conversation.
const ORDER: &str = "\
This conversation is about to be cut: what you write now is all that will be left of it. Call no tools. Write down, in this order:
1. The task: what was asked for, every requirement and every correction of it, in the words that were used.
2. What was done: files that were read or changed with their paths and what matters in them, commands that were run and what came of them, commits.
3. What was found out: facts, causes, decisions and their reasons, dead ends that need not be tried again.
4. What is open: the work in progress, the next step, questions, requests that wait for a decision (with their ids), children that are running (with their ids).
Leave out what is not needed for going on. Do not greet, do not comment.";
/// Longest part of the first message that is kept word for word, in characters.
const TASK_CHARS: usize = 8_000;
const TASK_MARK: &str = "\n\nThe first message was, word for word:\n\n";
const FACTS_MARK: &str = "\n\nAs it is now, read anew and not remembered:\n\n";
/// Results longer than this are taken out when even the summary does not fit, in characters.
const LONG_RESULT: usize = 400;
/// A conversation of fewer turns has nothing to sum up.
const FEWEST_TURNS: usize = 3;

impl Conversation {
    /// Whether the next request would come near the limit.
    pub(super) fn is_nearly_full(&self) -> bool {
        let used = self.last_usage.context() + self.last_usage.output_tokens;
        let window = self.parts.shared.window;
        self.turns.len() >= FEWEST_TURNS
            && window > 0
            && used as f64 >= window as f64 * self.parts.shared.compact_at.clamp(0.1, 0.98)
    }

    /// Replaces the conversation by its summary, the task as it was given, and what is true of the team now.
    ///
    /// # Errors
    /// When no summary can be had.
    pub async fn compact(&mut self, cancel: &CancellationToken) -> Result<(), TurnError> {
        let open: Option<Turn> = self.turns.last().filter(|turn| is_open(turn)).cloned();
        let Some(summary) = self.summary(cancel).await? else { return Ok(()) };
        let mut text = String::from("This conversation was longer; it was cut here. This is what was noted of it:\n\n");
        text.push_str(&summary);
        if let Some(task) = self.task() {
            text.push_str(TASK_MARK);
            text.push_str(&task);
        }
        let facts = (self.parts.facts)();
        if !facts.trim().is_empty() {
            text.push_str(FACTS_MARK);
            text.push_str(&facts);
        }
        let mut content = vec![Block::text(text)];
        // What came last has not been answered yet.
        content.extend(open.into_iter().flat_map(|turn| turn.content));
        self.turns = vec![Turn::user(content)];
        self.render();
        self.last_usage = crate::agent::wire::Usage::default();
        if let Some(transcript) = &self.parts.transcript
            && let Err(error) = transcript.compacted(&self.turns)
        {
            self.see(Step::Notice(&format!("the transcript cannot be written: {error}")));
        }
        self.see(Step::Compacted { turns: self.turns.len() });
        Ok(())
    }

    /// Asks for the summary; where even that is too long, without the long results of tools.
    async fn summary(&mut self, cancel: &CancellationToken) -> Result<Option<String>, TurnError> {
        for thinned in [false, true] {
            if thinned {
                thin(&mut self.turns);
                self.render();
            }
            let mut call = self.call_of("compact");
            let mut body = self.body.clone();
            body.push(&Turn::user(vec![Block::text(ORDER)]));
            call.body = body.bytes();
            match self.ask_aside(&call, cancel).await {
                Ok(None) => return Ok(None),
                Ok(Some(answer)) if !answer.turn.text().trim().is_empty() => return Ok(Some(answer.turn.text())),
                Ok(Some(_)) => {}
                Err(failure) if failure.is_too_long() => {}
                Err(failure) => return Err(failure.into()),
            }
        }
        Err(TurnError::TooLong)
    }

    /// The first thing that was asked for; after an earlier compaction it stands in that one's message.
    fn task(&self) -> Option<String> {
        let first = self.turns.iter().find(|turn| turn.role == Role::User)?.text();
        let task = match first.split_once(TASK_MARK) {
            Some((_, after)) => after.split(FACTS_MARK).next().unwrap_or_default(),
            None => first.as_str(),
        };
        Some(task.chars().take(TASK_CHARS).collect()).filter(|text: &String| !text.trim().is_empty())
    }
}

/// A message of the user that is no answer to calls: nobody has answered it.
fn is_open(turn: &Turn) -> bool {
    turn.role == Role::User && !turn.content.iter().any(|block| matches!(block, Block::ToolResult { .. }))
}

/// Takes the long results out.
fn thin(turns: &mut [Turn]) {
    for block in turns.iter_mut().flat_map(|turn| &mut turn.content) {
        if let Block::ToolResult { content, .. } = block {
            let long = content.iter().any(|part| part.as_text().is_none_or(|text| text.chars().count() > LONG_RESULT));
            if long {
                *content = vec![ResultPart::text("(a long result, taken out)")];
            }
        }
    }
}
