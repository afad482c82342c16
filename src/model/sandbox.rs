//! How far a member's program reaches, in the words of a spec.

use serde::{Deserialize, Serialize};

use super::spec::EngineKind;

/// What a program may write. Reads are not confined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Whatever its user may. Also what a roster of before sandboxes means, which says nothing of them.
    #[default]
    Off,
    /// What every mode allows, and nothing else.
    ReadOnly,
    /// Its own folder and the team's scratchpad too.
    WorkspaceWrite,
}

impl Mode {
    /// What a member has that says nothing: a worker runs what the tasks bring, a `command` is what its owner chose.
    #[must_use]
    pub fn of_engine(engine: EngineKind) -> Self {
        match engine {
            EngineKind::Command => Self::Off,
            EngineKind::Worker => Self::WorkspaceWrite,
        }
    }

    /// The mode while a member plans: nothing is written before the plan is approved, whatever it may afterwards.
    #[must_use]
    pub fn now(self, planning: bool) -> Self {
        if planning { Self::ReadOnly } else { self }
    }

    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::ReadOnly => "read-only",
            Self::WorkspaceWrite => "workspace-write",
        }
    }
}

/// Whether a confined program may make Unix sockets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnixSockets {
    #[default]
    Deny,
    Allow,
}

/// Whether a confined program has a network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Network {
    #[default]
    On,
    Off,
}

/// What becomes of a program where the kernel cannot confine it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fallback {
    /// It is not started.
    #[default]
    Refuse,
    /// It runs unconfined, and `status` says so.
    Off,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planning_is_read_only_whatever_comes_after() {
        for mode in [Mode::Off, Mode::ReadOnly, Mode::WorkspaceWrite] {
            assert_eq!(mode.now(true), Mode::ReadOnly);
            assert_eq!(mode.now(false), mode);
            assert_eq!(serde_json::to_value(mode).expect("a word"), mode.as_str());
        }
    }
}
