//! What a pane's border shows: a name and a state, in the member's colour.
//!
//! Text and colour lie in options of the pane; the window's border format only points at them, so a text is drawn and
//! never expanded.

use super::commands::{self as cmd, Cmd, Scope};
use super::error::TmuxError;
use super::server::Tmux;
use super::text::one_line;

const LABEL: &str = "@crewmux_label";
const COLOR: &str = "@crewmux_color";
/// Set when the lead is gone: what every border says then.
pub(super) const GONE: &str = "@crewmux_gone";
/// Marks the windows that we made: only they get our border, only they get more of our panes.
pub(super) const WINDOW: &str = "@crewmux_window";

/// A pane without a label (a person's own split) has an empty border.
const BORDER: &str = "#{?@crewmux_gone,#[fg=red#,bold] #{@crewmux_gone} #[default],}#{?@crewmux_label,#[fg=#{@crewmux_color}]#{?pane_active,#[bold],} #{@crewmux_label} #[default],}";

/// Longer than any terminal is wide.
const LABEL_CHARS: usize = 300;

/// The options of a window of ours.
pub(super) fn window(id: &str) -> Vec<Cmd> {
    vec![
        cmd::set(Scope::Window(id), WINDOW, "1"),
        cmd::set(Scope::Window(id), "pane-border-format", BORDER),
        cmd::set(Scope::Window(id), "pane-border-status", "top"),
    ]
}

/// A new pane's title, label and colour.
pub(super) fn pane(id: &str, title: &str, label: &str, color: &str) -> Vec<Cmd> {
    let mut list = vec![cmd::title(id, &one_line(title, LABEL_CHARS))];
    list.extend(update(id, label, color));
    list
}

fn update(id: &str, label: &str, color: &str) -> [Cmd; 2] {
    // tmux draws `##` as `#` and reads `#[…]` as a style.
    let label = one_line(label, LABEL_CHARS).replace('#', "##");
    [cmd::set(Scope::Pane(id), LABEL, &label), cmd::set(Scope::Pane(id), COLOR, known_color(color))]
}

/// The colour if it is one, so that nothing else gets into a style.
fn known_color(color: &str) -> &str {
    let hex = color.strip_prefix('#').is_some_and(|h| h.len() == 6 && h.bytes().all(|b| b.is_ascii_hexdigit()));
    let numbered = ["colour", "color"].iter().any(|p| color.strip_prefix(p).is_some_and(|n| n.parse::<u8>().is_ok()));
    let plain = color.strip_prefix("bright").unwrap_or(color);
    let named = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"].contains(&plain);
    if hex || numbered || named { color } else { "default" }
}

impl Tmux {
    /// Gives panes another label and colour: `(pane, label, colour)`, all in one call. Panes that are gone are passed over.
    pub async fn label(&self, updates: &[(&str, &str, &str)]) -> Result<(), TmuxError> {
        let chain = |living: &dyn Fn(&str) -> bool| -> Vec<Cmd> {
            updates.iter().filter(|(id, ..)| living(id)).flat_map(|(id, text, color)| update(id, text, color)).collect()
        };
        let all = chain(&|id| super::panes::is_pane_id(id));
        if all.is_empty() {
            return Ok(());
        }
        match self.ask(&all).await {
            Err(e) if e.is_gone() => {}
            done => return done.map(drop),
        }
        // One that is gone ends the chain for those after it: once more with those that are there.
        let there = self.panes().await?;
        let rest = chain(&|id| there.iter().any(|p| p.id == id));
        if rest.is_empty() {
            return Ok(());
        }
        match self.ask(&rest).await {
            Err(e) if !e.is_gone() => Err(e),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::known_color;

    #[test]
    fn only_colours_are_colours() {
        for good in ["red", "brightblue", "colour0", "color255", "#00ffAA"] {
            assert_eq!(known_color(good), good);
        }
        for bad in ["", "colour256", "#fff", "red]#(id)", "bright", "colour", "#{pid}"] {
            assert_eq!(known_color(bad), "default", "{bad}");
        }
    }
}
