//! How a launch is shown while it happens; nothing at all where stderr is no terminal.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::output;
use crate::model::name::Name;
use crate::view::plain::{Lines, safe};

/// Beyond so many members one bar for all is shown, not a line each.
const MOST_LINES: usize = 12;

/// The members of a team on their way up.
pub struct Progress {
    lines: MultiProgress,
    members: Vec<(Name, ProgressBar)>,
    total: ProgressBar,
}

impl Progress {
    /// One line a member, and one for the team.
    #[must_use]
    pub fn team<'a>(names: impl IntoIterator<Item = &'a Name>) -> Self {
        let names: Vec<&Name> = names.into_iter().collect();
        let shown = std::io::stderr().is_terminal();
        let lines = MultiProgress::with_draw_target(if shown {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        });
        let width = names.iter().map(|n| crate::view::plain::width(n.as_str())).max().unwrap_or(0);
        let each = shown && names.len() <= MOST_LINES;
        let members = names
            .iter()
            .map(|name| {
                let bar = if each { lines.add(ProgressBar::new_spinner()) } else { ProgressBar::hidden() };
                bar.set_style(template("  {spinner:.yellow} {prefix} {wide_msg:.dim}"));
                bar.set_prefix(crate::view::plain::pad(name.as_str(), width));
                bar.set_message("starting");
                ((*name).clone(), bar)
            })
            .collect();
        let total = lines.add(ProgressBar::new(names.len() as u64));
        total.set_style(template("  {bar:20.green/dim} {pos}/{len} ready  {elapsed:.dim}"));
        if shown {
            // One timer thread for the whole picture.
            total.enable_steady_tick(Duration::from_millis(120));
        }
        Self { lines, members, total }
    }

    pub fn starting(&self, name: &Name, what: &str) {
        self.set(name, what, None);
    }

    pub fn ready(&self, name: &Name) {
        self.set(name, "ready", Some(if output::color_on_stderr() { "  \x1b[32m✓\x1b[0m" } else { "  ✓" }));
        self.total.inc(1);
    }

    pub fn failed(&self, name: &Name, why: &str) {
        self.set(name, why, Some(if output::color_on_stderr() { "  \x1b[31m✗\x1b[0m" } else { "  ✗" }));
    }

    /// Takes the picture off the screen.
    pub fn finish(self) {
        self.total.finish_and_clear();
        for (_, bar) in &self.members {
            bar.finish_and_clear();
        }
        // A terminal that has gone is no reason to fail a launch.
        let _ = self.lines.clear();
    }

    fn set(&self, name: &Name, message: &str, mark: Option<&str>) {
        let Some((_, bar)) = self.members.iter().find(|(n, _)| n == name) else { return };
        if let Some(mark) = mark {
            bar.set_style(template(&format!("{mark} {{prefix}} {{wide_msg:.dim}}")));
        }
        bar.set_message(safe(message, Lines::Escape).into_owned());
        bar.tick();
    }
}

/// The templates are constants of this file; a broken one falls back to indicatif's own.
fn template(text: &str) -> ProgressStyle {
    ProgressStyle::with_template(text).unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("━━╌")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_terminal_nothing_is_drawn_and_everything_works() {
        let names = ["scan", "count"].map(|n| Name::parse(n).unwrap());
        let progress = Progress::team(&names);
        progress.starting(&names[0], "starting its program");
        progress.ready(&names[0]);
        progress.failed(&names[1], "not found\nreally");
        assert_eq!(progress.total.position(), 1);
        progress.finish();
    }
}
