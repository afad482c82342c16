//! The life of a child or of a background shell, as plain data: registered, running, ended, told, gone.
//!
//! Events in, effects out, the time as an argument. Whoever ends a child and however often: its caller is told exactly once.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// How a child ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    Completed,
    Failed(String),
    Killed,
}

impl End {
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Failed(_) => "failed",
            Self::Killed => "killed",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    Registered,
    Running,
    Ended(End),
}

impl State {
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Registered => "registered",
            Self::Running => "running",
            Self::Ended(end) => end.as_str(),
        }
    }

    #[must_use]
    pub fn ended(&self) -> bool {
        matches!(self, Self::Ended(_))
    }
}

/// What happens to a child.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    Started,
    /// Its caller waits no longer: it works on by itself.
    ToBackground,
    /// Somebody wants its end. Its own end follows.
    Kill,
    /// It has ended, and everything that it started with it.
    Ended(End),
    /// Its caller has been told: by the notification taken from the queue, by the foreground call's own result, or by
    /// reading its end.
    Told,
    /// Somebody looks at it and must find it again.
    Hold,
    Release,
    /// It is given work again, from its transcript.
    Resume,
    /// Time has passed.
    Tick,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Abort its request and every process it started.
    Abort,
    /// Queue the notification of its end.
    Notify,
    /// Take a notification back that is queued and not read: the caller knows by another way.
    Unqueue,
    /// Its record may leave memory.
    Forget,
}

/// Where a child stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Life {
    pub state: State,
    /// Nobody waits for it in a call.
    pub background: bool,
    /// Its end was asked for.
    killing: bool,
    /// The notification lies in the queue.
    queued: bool,
    told: bool,
    holds: u32,
    /// When it ended, on the caller's clock.
    ended_at: Option<Duration>,
    grace: Duration,
}

impl Life {
    /// A child that was registered; `grace` is how long its record stays after its end was told.
    #[must_use]
    pub fn new(background: bool, grace: Duration) -> Self {
        Self {
            state: State::Registered,
            background,
            killing: false,
            queued: false,
            told: false,
            holds: 0,
            ended_at: None,
            grace,
        }
    }

    #[must_use]
    pub fn told(&self) -> bool {
        self.told
    }

    /// One step. `now` is any clock that only goes forward.
    pub fn step(&mut self, event: Event, now: Duration) -> Vec<Effect> {
        let mut effects = Vec::new();
        match event {
            Event::Started if self.state == State::Registered => self.state = State::Running,
            Event::ToBackground if !self.state.ended() => self.background = true,
            Event::Kill if !self.state.ended() && !self.killing => {
                self.killing = true;
                effects.push(Effect::Abort);
            }
            Event::Ended(end) if !self.state.ended() => {
                // What was killed did not complete, however its last words were meant.
                let end = if self.killing { End::Killed } else { end };
                self.state = State::Ended(end);
                self.ended_at = Some(now);
                if self.background {
                    self.queued = true;
                    effects.push(Effect::Notify);
                }
            }
            Event::Told if self.state.ended() && !self.told => {
                self.told = true;
                if std::mem::take(&mut self.queued) {
                    effects.push(Effect::Unqueue);
                }
            }
            Event::Hold => self.holds += 1,
            Event::Release => self.holds = self.holds.saturating_sub(1),
            // A caller that has not yet heard of the first end hears of it all the same: its notification stays queued.
            Event::Resume if self.state.ended() => {
                *self = Self { holds: self.holds, ..Self::new(true, self.grace) };
            }
            Event::Tick if self.expired(now) => effects.push(Effect::Forget),
            _ => {}
        }
        effects
    }

    fn expired(&self, now: Duration) -> bool {
        let over = self.ended_at.is_some_and(|at| now.saturating_sub(at) >= self.grace);
        self.told && self.holds == 0 && over
    }
}

#[cfg(test)]
#[path = "lifecycle_tests.rs"]
mod tests;
