//! A conversation on disk: a journal of its turns, from which it can be taken up again after any crash.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::budget::Spent;
use super::wire::{Block, Role, Turn};
use crate::store::{Durability, Journal, Position, Result, Tail};

/// One record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Record {
    Turn(Turn),
    /// From here on the conversation consists of these turns.
    Compacted(Vec<Turn>),
    /// All that the session has spent so far.
    Spent(Spent),
    /// Written by a later program.
    #[serde(untagged)]
    Other(serde_json::Value),
}

/// The journal of one conversation.
#[derive(Debug)]
pub struct Transcript {
    journal: Journal,
}

/// What a transcript holds, repaired.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recalled {
    pub turns: Vec<Turn>,
    pub spent: Option<Spent>,
}

impl Transcript {
    /// The journal at `path`; its folder is there. Nothing is made before the first record.
    #[must_use]
    pub fn at(path: PathBuf) -> Self {
        Self { journal: Journal::open(path) }
    }

    #[must_use]
    pub fn path(&self) -> &Path {
        self.journal.path()
    }

    /// # Errors
    /// When it cannot be written.
    pub fn turn(&self, turn: &Turn) -> Result<()> {
        self.append(&Record::Turn(turn.clone()))
    }

    /// # Errors
    /// When it cannot be written.
    pub fn compacted(&self, turns: &[Turn]) -> Result<()> {
        self.append(&Record::Compacted(turns.to_vec()))
    }

    /// # Errors
    /// When it cannot be written.
    pub fn spent(&self, spent: Spent) -> Result<()> {
        self.append(&Record::Spent(spent))
    }

    fn append(&self, record: &Record) -> Result<()> {
        self.journal.append(record, Durability::Fast).map(drop)
    }

    /// Reads it from the beginning. A torn tail costs one record, a bad line itself.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn recall(path: &Path) -> Result<Recalled> {
        const CHUNK: usize = 1 << 20;
        let mut tail = Tail::new(path, Position::default());
        let mut recalled = Recalled::default();
        loop {
            let batch = tail.read(CHUNK)?;
            for record in batch.lines.iter().filter_map(|line| line.parse::<Record>().ok()) {
                match record {
                    Record::Turn(turn) => recalled.turns.push(turn),
                    Record::Compacted(turns) => recalled.turns = turns,
                    Record::Spent(spent) => recalled.spent = Some(spent),
                    Record::Other(_) => {}
                }
            }
            if !batch.more {
                recalled.turns = repaired(recalled.turns);
                return Ok(recalled);
            }
        }
    }
}

/// Turns that a provider takes: calls without a result and results without a call go, as do turns of thinking only and blank ones;
/// what stands is in its order.
#[must_use]
pub fn repaired(turns: Vec<Turn>) -> Vec<Turn> {
    let mut kept: Vec<Turn> = Vec::with_capacity(turns.len());
    let mut turns = turns.into_iter().peekable();
    while let Some(mut turn) = turns.next() {
        match turn.role {
            // A provider wants the first word to be the user's.
            Role::Assistant if kept.is_empty() => continue,
            Role::Assistant => {
                let answered = turns.peek().map(results).unwrap_or_default();
                let mut seen = HashSet::new();
                turn.content.retain(|block| match block {
                    Block::ToolUse { id, .. } => answered.contains(id) && seen.insert(id.clone()),
                    block => !block.is_blank(),
                });
                if turn.content.iter().all(Block::is_thinking) {
                    continue;
                }
            }
            Role::User => {
                let mut called: HashSet<String> = match kept.last() {
                    Some(last) if last.role == Role::Assistant => last.calls().map(|(id, ..)| id.to_owned()).collect(),
                    _ => HashSet::new(),
                };
                turn.content.retain(|block| match block {
                    // Taking it out of the set lets one result through for each call.
                    Block::ToolResult { tool_use_id, .. } => called.remove(tool_use_id),
                    block => !block.is_blank(),
                });
                if turn.content.is_empty() {
                    continue;
                }
            }
        }
        kept.push(turn);
    }
    kept
}

fn results(turn: &Turn) -> HashSet<String> {
    if turn.role != Role::User {
        return HashSet::new();
    }
    let ids = turn.content.iter().filter_map(|block| match block {
        Block::ToolResult { tool_use_id, .. } => Some(tool_use_id.clone()),
        _ => None,
    });
    ids.collect()
}

#[cfg(test)]
#[path = "transcript_tests.rs"]
mod tests;
