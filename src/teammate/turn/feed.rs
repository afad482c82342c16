//! What an agent does, as people read it: in the pane, and without colours in `output.log`.

use std::collections::HashMap;
use std::fmt::Write as _;

use agent_client_protocol::v1::schema::{
    ContentBlock, ContentChunk, Diff, Plan, PlanEntryStatus, ToolCall, ToolCallContent, ToolCallId, ToolCallStatus,
    ToolCallUpdate,
};

use super::plain::{Plain, one_line};
use crate::os::log_file::RotatingLog;
use crate::teammate::screen::Screen;

/// Lines of a diff that are shown.
const DIFF_LINES: usize = 12;
/// Characters of a title that are shown.
const TITLE: usize = 160;
/// Tool calls whose titles are remembered; an agent that never ends them must not fill the memory.
const REMEMBERED: usize = 512;

/// The feed of one agent.
pub struct Feed {
    screen: Screen,
    log: RotatingLog,
    color: String,
    text: Stream,
    /// The last that was written ended no line.
    open_line: bool,
    tools: HashMap<ToolCallId, String>,
}

/// Which kind of text is being streamed.
#[derive(Default)]
struct Stream {
    plain: Plain,
    thought: bool,
}

impl Feed {
    pub(in crate::teammate) fn new(screen: Screen, log: RotatingLog, color: String) -> Self {
        Self { screen, log, color, text: Stream::default(), open_line: false, tools: HashMap::new() }
    }

    /// A piece of the agent's answer.
    pub fn answer(&mut self, text: &str) {
        self.stream(text, false);
    }

    /// A piece of what it thinks.
    pub fn thought(&mut self, chunk: &ContentChunk) {
        if let Some(text) = text_of(&chunk.content) {
            self.stream(text, true);
        }
    }

    fn stream(&mut self, text: &str, thought: bool) {
        if self.text.thought != thought {
            self.end_line();
            self.text = Stream { plain: Plain::default(), thought };
        }
        let text = self.text.plain.filter(text);
        if text.is_empty() {
            return;
        }
        self.open_line = !text.ends_with('\n');
        self.log.write(text.as_bytes());
        self.screen.offer(if thought { dim(&text) } else { text }.into_bytes());
    }

    /// A line of our own.
    pub fn note(&mut self, text: &str) {
        let color = self.color.clone();
        self.line(&color, text);
    }

    pub fn bad(&mut self, text: &str) {
        self.line("red", text);
    }

    /// What the agent printed beside the protocol: kept in the log, and shown while nothing else is.
    pub fn printed(&mut self, text: &str, show: bool) {
        let text = one_line(text, 2000);
        self.end_line();
        self.log.write(format!("| {text}\n").as_bytes());
        if show {
            self.screen.offer(dim(&format!("| {text}\n")).into_bytes());
        }
    }

    pub fn tool(&mut self, call: &ToolCall) -> String {
        let title = one_line(&call.title, TITLE);
        let known = self.remember(&call.tool_call_id, &title);
        if !known {
            self.note(&format!("\u{25b8} {title}"));
        }
        self.state(&call.tool_call_id, Some(call.status));
        self.content(&call.content);
        title
    }

    pub fn tool_update(&mut self, update: &ToolCallUpdate) -> Option<String> {
        let title = update.fields.title.as_deref().map(|t| one_line(t, TITLE));
        if let Some(title) = &title {
            let before = self.tools.get(&update.tool_call_id).cloned();
            self.remember(&update.tool_call_id, title);
            if before.as_ref() != Some(title) {
                self.note(&format!("\u{25b8} {title}"));
            }
        }
        if let Some(content) = &update.fields.content {
            self.content(content);
        }
        self.state(&update.tool_call_id, update.fields.status);
        title
    }

    /// Whether it was known before.
    fn remember(&mut self, id: &ToolCallId, title: &str) -> bool {
        if self.tools.len() >= REMEMBERED {
            self.tools.clear();
        }
        self.tools.insert(id.clone(), title.to_owned()).is_some()
    }

    fn state(&mut self, id: &ToolCallId, status: Option<ToolCallStatus>) {
        let title = || self.tools.get(id).cloned().unwrap_or_else(|| id.to_string());
        match status {
            Some(ToolCallStatus::Completed) => {
                let line = format!("\u{2713} {}", title());
                self.line("green", &line);
                self.tools.remove(id);
            }
            Some(ToolCallStatus::Failed) => {
                let line = format!("\u{2717} {}", title());
                self.line("red", &line);
                self.tools.remove(id);
            }
            _ => {}
        }
    }

    fn content(&mut self, content: &[ToolCallContent]) {
        for piece in content {
            if let ToolCallContent::Diff(diff) = piece {
                self.diff(diff);
            }
        }
    }

    fn diff(&mut self, diff: &Diff) {
        let old = diff.old_text.as_deref().unwrap_or_default();
        let (gone, come) = changed(old, &diff.new_text);
        self.note(&format!("\u{b1} {} (\u{2212}{} +{})", diff.path.display(), gone.len(), come.len()));
        for (mark, lines, color) in [('-', gone, "red"), ('+', come, "green")] {
            for line in lines.iter().take(DIFF_LINES) {
                self.line(color, &format!("  {mark} {}", one_line(line, TITLE)));
            }
            if lines.len() > DIFF_LINES {
                self.note(&format!("  {mark} \u{2026} {} more", lines.len() - DIFF_LINES));
            }
        }
    }

    pub fn plan(&mut self, plan: &Plan) {
        for entry in &plan.entries {
            let mark = match entry.status {
                PlanEntryStatus::Completed => '\u{2611}',
                PlanEntryStatus::InProgress => '\u{25b8}',
                _ => '\u{2610}',
            };
            self.note(&format!("  {mark} {}", one_line(&entry.content, TITLE)));
        }
    }

    fn line(&mut self, color: &str, text: &str) {
        self.end_line();
        let text = Plain::default().filter(text).replace('\n', " ");
        self.log.write(format!("{text}\n").as_bytes());
        self.screen.note(color, &text);
    }

    fn end_line(&mut self) {
        if std::mem::take(&mut self.open_line) {
            self.log.write(b"\n");
            self.screen.offer(b"\n".to_vec());
        }
    }
}

/// The text of a piece of content.
pub fn text_of(content: &ContentBlock) -> Option<&str> {
    match content {
        ContentBlock::Text(text) => Some(&text.text),
        _ => None,
    }
}

fn dim(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for line in text.split_inclusive('\n') {
        let (body, end) = line.strip_suffix('\n').map_or((line, ""), |body| (body, "\n"));
        let _ = write!(out, "\x1b[2m{body}\x1b[0m{end}");
    }
    out
}

/// The lines between what two texts have in common at their beginnings and ends.
fn changed<'a>(old: &'a str, new: &'a str) -> (Vec<&'a str>, Vec<&'a str>) {
    let (mut old, mut new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    while old.last().is_some() && old.last() == new.last() {
        old.pop();
        new.pop();
    }
    let same = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    (old.split_off(same), new.split_off(same))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_is_what_lies_between() {
        assert_eq!(changed("a\nb\nc", "a\nx\ny\nc"), (vec!["b"], vec!["x", "y"]));
        assert_eq!(changed("", "a\n"), (vec![], vec!["a"]));
        assert_eq!(changed("a", "a"), (vec![], vec![]));
    }
}
