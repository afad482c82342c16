//! What a call came to.

use std::path::PathBuf;

use crate::agent::wire::{Block, ResultPart};

/// A file before and after an edit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diff {
    pub path: PathBuf,
    /// `None`: the file was not there.
    pub before: Option<String>,
    pub after: String,
}

/// What the model is told, and what screens may show besides.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    pub content: Vec<ResultPart>,
    pub is_error: bool,
    pub diff: Option<Diff>,
    /// The turn is over with this call, as after an answer in the prescribed form.
    pub ends_turn: bool,
}

impl Outcome {
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self { content: vec![ResultPart::text(text)], ..Self::default() }
    }

    /// A failure, in words that say what to do.
    #[must_use]
    pub fn error(text: impl Into<String>) -> Self {
        Self { is_error: true, ..Self::text(text) }
    }

    #[must_use]
    pub fn cancelled() -> Self {
        Self::error("The call was cancelled before it was done.")
    }

    #[must_use]
    pub fn with_diff(mut self, diff: Diff) -> Self {
        self.diff = Some(diff);
        self
    }

    /// All texts of it.
    #[must_use]
    pub fn as_text(&self) -> String {
        let texts: Vec<&str> = self.content.iter().filter_map(ResultPart::as_text).collect();
        texts.join("\n")
    }

    /// As the block that answers the call `id`.
    #[must_use]
    pub fn into_block(self, id: &str) -> Block {
        Block::tool_result(id, self.content, self.is_error)
    }
}
