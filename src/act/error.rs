//! Why a verb was not done: an exit code, what is wrong, and the command that helps.

use serde::{Deserialize, Serialize};

use crate::decide::board::BoardError;
use crate::store::StoreError;

/// A refused or failed verb. It also travels back through a member's replies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct ActError {
    /// As in the table of exit codes.
    pub code: u8,
    pub message: String,
    #[serde(default)]
    pub causes: Vec<String>,
    #[serde(default)]
    pub hints: Vec<String>,
}

impl ActError {
    #[must_use]
    pub fn new(code: u8, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), causes: Vec::new(), hints: Vec::new() }
    }

    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    #[must_use]
    pub fn cause(mut self, cause: impl Into<String>) -> Self {
        self.causes.push(cause.into());
        self
    }

    #[must_use]
    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(1, message)
    }

    #[must_use]
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(2, message)
    }

    #[must_use]
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(3, message)
    }

    #[must_use]
    pub fn forbidden(message: impl Into<String>) -> Self {
        Self::new(4, message)
    }

    #[must_use]
    pub fn timed_out(message: impl Into<String>) -> Self {
        Self::new(5, message)
    }

    #[must_use]
    pub fn no_lead(team: &crate::model::name::Name) -> Self {
        Self::new(6, format!("no lead is running in team `{team}`"))
            .hint(format!("`crewmux up --resume {team}` starts it again; `crewmux down --team {team}` ends the team"))
    }

    #[must_use]
    pub fn conflict(message: impl Into<String>) -> Self {
        Self::new(7, message)
    }
}

impl From<StoreError> for ActError {
    fn from(error: StoreError) -> Self {
        let code = match &error {
            StoreError::NoTeam(_) | StoreError::NoMember(_) => 3,
            StoreError::Closed { .. } => 4,
            StoreError::Locked { .. } => 5,
            StoreError::LeaseHeld { .. } | StoreError::Exists(_) => 7,
            StoreError::TooLong { .. } => 2,
            _ => 1,
        };
        let hint = error.hint();
        let mut out = Self::new(code, error.to_string());
        out.hints.extend(hint);
        out
    }
}

impl From<BoardError> for ActError {
    fn from(error: BoardError) -> Self {
        let mut out = Self::new(error.exit_code(), error.to_string());
        if error.exit_code() == 3 {
            out.hints.push("`crewmux task list` shows the board".to_owned());
        }
        out
    }
}
