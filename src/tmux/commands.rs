//! The command lines. The only file that knows tmux_interface: replacing that crate is a change to this file.
//!
//! The crate builds names, flags and their order; its arguments are `str`, so what may be other bytes (a folder, a
//! program's arguments) is appended here as it is. Its feature `cmd_alias` is off: whole names are what errors tell.

use super::text::format_literal;
use super::types::PaneSpec;
use std::ffi::{OsStr, OsString};
use tmux_interface::{
    AttachSession, CapturePane, DisplayMessage, IfShell, KillPane, KillServer, ListPanes, NewSession, NewWindow,
    RespawnPane, SelectLayout, SelectPane, SelectWindow, SetOption, SplitWindow, StartServer, TmuxCommand,
};

/// One tmux command: its name, flags and arguments, not yet escaped for a sequence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cmd(pub Vec<OsString>);

impl From<TmuxCommand<'_>> for Cmd {
    fn from(command: TmuxCommand<'_>) -> Self {
        Self(command.to_vec().into_iter().map(|part| part.into_owned().into()).collect())
    }
}

impl Cmd {
    fn with(mut self, tail: impl IntoIterator<Item = OsString>) -> Self {
        self.0.extend(tail);
        self
    }

    /// The pane's folder and program. Two or more words are run as they are, a single one by the default shell; so a
    /// lone program goes through `nice -n 0`, which becomes it under the same process id and, unlike `env`, takes any
    /// word for a program.
    fn program(self, pane: &PaneSpec) -> Self {
        let mut tail: Vec<OsString> = Vec::new();
        for (name, value) in &pane.env {
            tail.extend(["-e".into(), format!("{name}={value}").into()]);
        }
        tail.extend(["-c".into(), format_literal(pane.cwd.as_os_str()), "--".into()]);
        if pane.argv.len() == 1 {
            tail.extend(["nice", "-n", "0", "--"].map(OsString::from));
        }
        tail.extend(pane.argv.iter().cloned());
        self.with(tail)
    }
}

fn literal(text: &str) -> String {
    format_literal(OsStr::new(text)).to_string_lossy().into_owned()
}

/// Where an option lies.
pub(super) enum Scope<'a> {
    Server,
    Global,
    GlobalWindow,
    CurrentSession,
    Window(&'a str),
    Pane(&'a str),
}

pub(super) fn start_server() -> Cmd {
    StartServer::new().build().into()
}

pub(super) fn kill_server() -> Cmd {
    KillServer::new().build().into()
}

pub(super) fn set(scope: Scope<'_>, option: &str, value: &str) -> Cmd {
    let set = SetOption::new();
    let set = match scope {
        Scope::Server => set.server(),
        Scope::Global => set.global(),
        Scope::GlobalWindow => set.global().window(),
        Scope::CurrentSession => set,
        Scope::Window(id) => set.window().target_pane(id),
        Scope::Pane(id) => set.pane().target_pane(id),
    };
    // A value may start with `-`.
    Cmd::from(set.build()).with(["--", option, value].map(OsString::from))
}

/// A detached session with its first window; prints `format`.
pub(super) fn new_session(name: &str, window: &str, size: (u16, u16), format: &str, pane: &PaneSpec) -> Cmd {
    let (cols, rows) = size;
    let command = NewSession::new()
        .detached()
        .print()
        .format(format)
        .window_name(literal(window))
        .session_name(literal(name))
        .width(cols.into())
        .height(rows.into())
        .build();
    Cmd::from(command).program(pane)
}

/// Attaches this terminal to a new session that shares another session's windows but has options of its own.
pub(super) fn new_view(of: &str, read_only: bool) -> Cmd {
    let command = NewSession::new().group_name(of);
    let mut command = Cmd::from(command.build());
    if read_only {
        command.0.extend(["-f", "read-only"].map(OsString::from));
    }
    command
}

/// A window after the session's last one, not made current; prints `format`.
pub(super) fn new_window(session: &str, name: &str, format: &str, pane: &PaneSpec) -> Cmd {
    // `{end}` is only where it is put: nothing that exists is acted on.
    let command = NewWindow::new()
        .after()
        .detached()
        .print()
        .format(format)
        .window_name(literal(name))
        .target_window(format!("{session}:{{end}}"))
        .build();
    Cmd::from(command).program(pane)
}

/// A window of the person's own tmux, made current, that runs `argv`; prints `format`.
pub(super) fn open_window(session: &str, name: &str, format: &str, argv: Vec<OsString>) -> Cmd {
    let command =
        NewWindow::new().print().format(format).window_name(literal(name)).target_window(format!("{session}:")).build();
    Cmd::from(command).with(["--".into()]).with(argv)
}

/// A pane in a window, behind its last one, so that a tiled window shows them in the order they were made; the active
/// pane stays so. Prints `format`.
pub(super) fn split_window(window: &str, format: &str, pane: &PaneSpec) -> Cmd {
    let command =
        SplitWindow::new().detached().print().target_pane(format!("{window}.{{bottom-right}}")).format(format).build();
    Cmd::from(command).program(pane)
}

pub(super) fn respawn(id: &str, kill: bool, pane: &PaneSpec) -> Cmd {
    let respawn = RespawnPane::new().target_pane(id);
    Cmd::from(if kill { respawn.kill() } else { respawn }.build()).program(pane)
}

/// What tmux does by itself when something happens to a pane.
pub(super) fn set_hook(id: &str, name: &str, command: &str) -> Cmd {
    // The crate's builder knows no hooks of panes.
    Cmd(["set-hook", "-p", "-t", id, name, command].map(OsString::from).to_vec())
}

pub(super) fn tile(window: &str) -> Cmd {
    SelectLayout::new().target_pane(window).layout_name("tiled").build().into()
}

pub(super) fn title(id: &str, title: &str) -> Cmd {
    SelectPane::new().title(literal(title)).target_pane(id).build().into()
}

pub(super) fn list_all(format: &str) -> Cmd {
    ListPanes::new().all().format(format).build().into()
}

pub(super) fn list_session(session: &str, format: &str) -> Cmd {
    // Without the colon it would be taken for a window's name.
    ListPanes::new().session().format(format).target(format!("{session}:")).build().into()
}

pub(super) fn display(id: Option<&str>, format: &str) -> Cmd {
    let display = DisplayMessage::new().print();
    match id {
        Some(id) => display.target_pane(id),
        None => display,
    }
    .message(format)
    .build()
    .into()
}

/// Closes a pane only if its id still belongs to this process: decided by the server, in one step.
pub(super) fn kill_pane_if(id: &str, pid: u32) -> Cmd {
    let kill = KillPane::new().target_pane(id).build().to_string();
    let same = format!("#{{&&:#{{==:#{{pane_id}},{id}}},#{{==:#{{pane_pid}},{pid}}}}}");
    when(id, &same, kill)
}

/// `then` is read by tmux's command parser: only ids we checked may be in it.
fn when(id: &str, format: &str, then: String) -> Cmd {
    IfShell::new().not_execute().target_pane(id).shell_command(format).command(then).build().into()
}

/// What a pane shows, with so many lines of its history (all of them for `u32::MAX`).
pub(super) fn capture(id: &str, history: Option<u32>) -> Cmd {
    let capture = CapturePane::new().stdout().target_pane(id);
    match history {
        None => capture,
        Some(u32::MAX) => capture.start_line("-"),
        Some(lines) => capture.start_line(format!("-{lines}")),
    }
    .build()
    .into()
}

pub(super) fn attach(target: &str, read_only: bool) -> Cmd {
    let attach = AttachSession::new().target_session(target);
    if read_only { attach.read_only() } else { attach }.build().into()
}

pub(super) fn select_window(target: &str) -> Cmd {
    SelectWindow::new().target_window(target).build().into()
}

pub(super) fn select_pane(id: &str) -> Cmd {
    SelectPane::new().target_pane(id).build().into()
}
