//! Shows a session as running text: what the model says, and a line for each call.

use std::io::Write;
use std::sync::Mutex;

use crate::agent::AgentId;
use crate::agent::query::{Step, Watcher};
use crate::agent::tools::{Sink, TodoStatus, ToolEvent};
use crate::view::plain::{Ink, Lines, safe, truncate};

/// Columns of a call's subject.
const SUBJECT: usize = 100;

/// Writes to one place, a line at a time where it is not streaming.
pub struct Printer {
    state: Mutex<State>,
    /// The model's text is shown as it comes; else only what it does.
    says: bool,
    color: bool,
    structured: Mutex<Option<serde_json::Value>>,
}

struct State {
    out: Box<dyn Write + Send>,
    /// The last thing written did not end its line.
    in_line: bool,
}

impl Printer {
    #[must_use]
    pub fn new(out: Box<dyn Write + Send>, says: bool, color: bool) -> Self {
        let state = Mutex::new(State { out, in_line: false });
        Self { state, says, color, structured: Mutex::new(None) }
    }

    /// The answer in the prescribed form, if one was given.
    #[must_use]
    pub fn structured(&self) -> Option<serde_json::Value> {
        self.structured.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
    }

    /// A part of a text. A screen that has gone is no reason to stop working.
    pub fn part(&self, text: &str) {
        let mut state = self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let shown = safe(text, Lines::Keep);
        let _ = state.out.write_all(shown.as_bytes());
        let _ = state.out.flush();
        state.in_line = !text.ends_with('\n');
    }

    /// A line of its own.
    pub fn line(&self, ink: Ink, text: &str) {
        let mut state = self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let begin = if std::mem::take(&mut state.in_line) { "\n" } else { "" };
        let shown = ink.paint(&safe(text, Lines::Keep), self.color);
        let _ = writeln!(state.out, "{begin}{shown}");
        let _ = state.out.flush();
    }

    /// Ends a line that was begun.
    pub fn end_line(&self) {
        let mut state = self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if std::mem::take(&mut state.in_line) {
            let _ = writeln!(state.out);
        }
    }
}

impl Watcher for Printer {
    fn see(&self, agent: &AgentId, step: Step<'_>) {
        let of = if agent.is_main() { String::new() } else { format!("[{agent}] ") };
        match step {
            Step::Text(text) if self.says && agent.is_main() => self.part(text),
            Step::Call { name, subject, .. } => {
                let subject = subject.lines().next().unwrap_or_default();
                self.line(Ink::Dim, &format!("{of}• {name} {}", truncate(subject, SUBJECT)));
            }
            Step::CallEnded { name, outcome, .. } if outcome.is_error => {
                let text = outcome.as_text();
                let first = text.lines().next().unwrap_or_default();
                self.line(Ink::Red, &format!("{of}  {name}: {}", truncate(first, SUBJECT)));
            }
            Step::Again { why, pause, attempt } => {
                self.line(Ink::Yellow, &format!("{of}{why}; asking again in {pause:.1?} (try {})", attempt + 1));
            }
            Step::Compacted { .. } => self.line(Ink::Dim, &format!("{of}the conversation was shortened")),
            Step::Told { summary, .. } => self.line(Ink::Cyan, &format!("{of}{summary}")),
            Step::Notice(text) => self.line(Ink::Yellow, &format!("{of}{text}")),
            _ => {}
        }
    }
}

impl Sink for Printer {
    fn show(&self, agent: &AgentId, _call: &str, event: ToolEvent) {
        match event {
            ToolEvent::Plan(todos) if agent.is_main() => {
                for todo in todos {
                    let mark = match todo.status {
                        TodoStatus::Pending => '☐',
                        TodoStatus::InProgress => '▸',
                        TodoStatus::Completed => '☑',
                    };
                    self.line(Ink::Dim, &format!("  {mark} {}", todo.content));
                }
            }
            ToolEvent::Changed(diff) => self.line(Ink::Dim, &format!("  changed {}", diff.path.display())),
            ToolEvent::Mode(mode) => self.line(Ink::Dim, &format!("  mode: {}", mode.as_str())),
            ToolEvent::Moved(path) => self.line(Ink::Dim, &format!("  now in {}", path.display())),
            ToolEvent::Notice(text) => self.line(Ink::Yellow, &text),
            ToolEvent::Structured(value) if agent.is_main() => {
                *self.structured.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(value);
            }
            _ => {}
        }
    }
}
