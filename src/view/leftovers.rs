//! What teams left over.

use serde::Serialize;

use super::plain::{Ink, Lines, Style, safe};
use crate::model::name::Name;

/// One of `gc --json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LeftoverRow {
    /// `dead_team`, `team`, `staging`, `processes`, `server`, `worktree` or `socket`.
    pub kind: &'static str,
    pub team: Option<Name>,
    pub path: String,
    pub pids: Vec<u32>,
    pub detail: String,
    /// Why it stays, where it does.
    pub stays: Option<String>,
    pub removed: bool,
}

/// The lines of `gc`.
#[must_use]
pub fn text(rows: &[LeftoverRow], style: &Style) -> String {
    rows.iter().fold(String::new(), |mut out, row| {
        let (mark, ink) = match (&row.stays, row.removed) {
            (_, true) => ("✓", Ink::Green),
            (Some(_), _) => ("·", Ink::Dim),
            (None, _) => ("!", Ink::Yellow),
        };
        let what = row.kind.replace('_', " ");
        let team = row.team.as_ref().map_or_else(String::new, |team| format!(" {team}"));
        let [path, detail] = [&row.path, &row.detail].map(|t| safe(t, Lines::Escape));
        out += &format!("{} {what}{team}: {detail}\n  {path}\n", ink.paint(mark, style.color));
        if !row.pids.is_empty() {
            let pids: Vec<String> = row.pids.iter().map(u32::to_string).collect();
            out += &format!("  processes: {}\n", pids.join(", "));
        }
        if let Some(why) = &row.stays {
            out += &format!("  stays: {}\n", safe(why, Lines::Escape));
        }
        out
    })
}
