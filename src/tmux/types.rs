//! What a pane is, before and after it exists.

use std::ffi::OsString;
use std::path::PathBuf;

/// A pane to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaneSpec {
    /// The program and its arguments, each of which arrives as given: no shell, no word splitting, no format.
    pub argv: Vec<OsString>,
    /// An existing folder.
    pub cwd: PathBuf,
    /// Variables for the program besides the server's. They show in tmux's command line: nothing private.
    pub env: Vec<(String, String)>,
    /// The terminal's title (the program may change it later).
    pub title: String,
    /// What the pane's border shows: name and state. Data, never a format.
    pub label: String,
    /// A tmux colour: a name, `colour0`..`colour255`, `#rrggbb`. Anything else shows as the default.
    pub color: String,
}

/// A pane that exists: its id is never used again while the server lives.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Pane {
    /// `%0`, …
    pub id: String,
    /// The pane's first process, which is the program itself.
    pub pid: u32,
}

/// A pane as the server sees it now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaneInfo {
    pub id: String,
    /// The program's process id; of a dead pane, the id it had.
    pub pid: u32,
    /// The program has closed its terminal (and the pane stays to be read).
    pub dead: bool,
    pub window_id: String,
}

/// What [`start`](super::Tmux::start) made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Started {
    pub server_pid: u32,
    /// `$0`, …
    pub session_id: String,
    /// `@0`, …
    pub window_id: String,
    /// The lead's pane.
    pub pane: Pane,
}
