//! The lead's pane: the live roster, board and feed; and the borders of the members' panes.

use std::collections::{BTreeMap, VecDeque};
use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use super::panes::label;
use crate::act::Desk;
use crate::model::name::Name;
use crate::model::task::Task;
use crate::model::team::Team;
use crate::os::terminal::winsize;
use crate::tmux::Tmux;
use crate::view::{self, Size, StatusView};

/// Least time between two drawings.
const PACE: Duration = Duration::from_millis(200);
/// While a team is launched: a drawing reads what every member says of itself, and they all need the processor.
const LAUNCH_PACE: Duration = Duration::from_millis(800);
/// Events kept for the feed.
const FEED: usize = 200;

pub(super) struct Screen {
    terminal: bool,
    feed: VecDeque<Value>,
    wanted: bool,
    last: Option<Instant>,
    /// A drawing that the terminal has not taken yet.
    drawing: Arc<AtomicBool>,
    labels: BTreeMap<Name, String>,
}

impl Screen {
    pub fn new() -> Self {
        Self {
            terminal: std::io::stdout().is_terminal(),
            feed: VecDeque::new(),
            wanted: true,
            last: None,
            drawing: Arc::new(AtomicBool::new(false)),
            labels: BTreeMap::new(),
        }
    }

    pub fn event(&mut self, event: Value) {
        if self.feed.len() == FEED {
            self.feed.pop_front();
        }
        self.feed.push_back(event);
        self.wanted = true;
    }

    pub fn touch(&mut self) {
        self.wanted = true;
    }

    /// When a drawing is due.
    pub fn due(&self, launched: bool) -> Option<Instant> {
        let pace = if launched { PACE } else { LAUNCH_PACE };
        self.wanted.then(|| self.last.map_or_else(Instant::now, |last| last + pace))
    }

    /// Draws, and gives the borders that changed their new text.
    pub fn draw(&mut self, desk: &mut Desk, team: &Team, tmux: Option<&Tmux>) {
        self.wanted = false;
        self.last = Some(Instant::now());
        let Ok(status) = view::gather::status(desk) else { return };
        if let Some(tmux) = tmux {
            self.label(&status, team, tmux);
        }
        if !self.terminal || self.drawing.swap(true, Ordering::AcqRel) {
            return;
        }
        let size = winsize(std::io::stdout())
            .map_or(Size { columns: 80, rows: 24 }, |s| Size { columns: s.ws_col.into(), rows: s.ws_row.into() });
        let tasks: Vec<Task> = desk.board.state().board.tasks().values().cloned().collect();
        let screen = view::dashboard(&status, &tasks, self.feed.make_contiguous(), size, true);
        let drawing = Arc::clone(&self.drawing);
        tokio::task::spawn_blocking(move || {
            let mut out = std::io::stdout().lock();
            let _ = out.write_all(view::frame(&screen).as_bytes()).and_then(|()| out.flush());
            drawing.store(false, Ordering::Release);
        });
    }

    fn label(&mut self, status: &StatusView, team: &Team, tmux: &Tmux) {
        let mut changed = Vec::new();
        for member in &status.members {
            let Some(pane) = team.member(&member.name).and_then(|m| m.pane_id.clone()) else { continue };
            let text = match member.task {
                Some(task) => label(&member.name, &format!("{} #{task}", member.state)),
                None => label(&member.name, &member.state),
            };
            if self.labels.get(&member.name) != Some(&text) {
                self.labels.insert(member.name.clone(), text.clone());
                changed.push((pane, text, member.color.clone()));
            }
        }
        if changed.is_empty() {
            return;
        }
        let tmux = tmux.clone();
        tokio::spawn(async move {
            let updates: Vec<(&str, &str, &str)> =
                changed.iter().map(|(id, text, color)| (id.as_str(), text.as_str(), color.as_str())).collect();
            // A border that shows an older state is no reason to stop anything.
            let _ = tmux.label(&updates).await;
        });
    }

    /// The last words on the pane.
    pub fn leave(&self, text: &str) {
        if self.terminal {
            let mut out = std::io::stdout().lock();
            let _ = write!(out, "\x1b[?25h\x1b[2J\x1b[H{text}\r\n").and_then(|()| out.flush());
        }
    }
}
