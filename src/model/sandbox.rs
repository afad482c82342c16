//! How far a member's program reaches, in the words of a spec.

use serde::{Deserialize, Serialize};

use super::spec::{EngineKind, MemberSpec};

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
    /// What a member has that says nothing: a worker runs what the tasks bring, an agent
    /// what a model thinks of; a `command` is what its owner chose.
    #[must_use]
    pub fn of_engine(engine: EngineKind) -> Self {
        match engine {
            // Who was started by somebody else cannot be confined any more.
            EngineKind::Command | EngineKind::Mcp => Self::Off,
            EngineKind::Worker | EngineKind::Acp => Self::WorkspaceWrite,
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

impl MemberSpec {
    /// What a life of this member is confined to, on a kernel that can confine or on one that cannot.
    #[must_use]
    pub fn confinement(&self, planning: bool, kernel: bool) -> Mode {
        match self.sandbox_fallback {
            Fallback::Off if !kernel => Mode::Off,
            // Where the kernel cannot, nothing of it runs: there is nobody of whom this would be untrue.
            _ => self.sandbox.now(planning),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_member_that_may_falls_back() {
        let spec = |fallback: &str| -> MemberSpec {
            let json = serde_json::json!({"name": "a", "cwd": "/", "sandbox": "workspace-write", "sandbox_fallback": fallback});
            serde_json::from_value(json).expect("a member")
        };
        assert_eq!(spec("off").confinement(false, false), Mode::Off);
        assert_eq!(spec("off").confinement(true, false), Mode::Off);
        assert_eq!(spec("off").confinement(true, true), Mode::ReadOnly);
        assert_eq!(spec("refuse").confinement(false, false), Mode::WorkspaceWrite);
    }

    #[test]
    fn planning_is_read_only_whatever_comes_after() {
        for mode in [Mode::Off, Mode::ReadOnly, Mode::WorkspaceWrite] {
            assert_eq!(mode.now(true), Mode::ReadOnly);
            assert_eq!(mode.now(false), mode);
            assert_eq!(serde_json::to_value(mode).expect("a word"), mode.as_str());
        }
    }
}
