//! A person looks at the team: from a terminal, or from inside a tmux of their own.
//!
//! From outside a terminal attaches to the team's session, which keeps its status line and prefix key. Inside another
//! tmux a nested client would swallow the prefix and show a second status line, so it gets a session of its own in the
//! same group (the same windows, its own options): prefix none, status off, gone when that client leaves. The team's
//! session, and whoever is attached to it from outside, see nothing of that.

use super::commands::{self as cmd, Scope};
use super::error::TmuxError;
use super::panes::{check_id, unparsable};
use super::run::chain;
use super::server::Tmux;
use std::ffi::OsString;
use std::path::PathBuf;

/// What a person wants to see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct View<'a> {
    /// The session's full name.
    pub session: &'a str,
    /// The pane to make current.
    pub pane: Option<&'a str>,
    pub read_only: bool,
}

impl View<'_> {
    /// `=` and the whole name: without it `team-1` would match `team-1x`.
    fn target(&self) -> Result<String, TmuxError> {
        match self.pane {
            None => Ok(format!("={}", self.session)),
            Some(pane) => check_id(pane).map(|()| format!("={}:.{pane}", self.session)),
        }
    }
}

/// The tmux that a person sits in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OuterTmux {
    pub socket: PathBuf,
    /// `$0`, …: where the pane was when its program started.
    pub session_id: String,
    /// `%0`, …
    pub pane: Option<String>,
}

impl OuterTmux {
    /// Reads `TMUX` (socket, server's process id, session number) and `TMUX_PANE`; nothing if they are not set.
    pub fn from_env() -> Option<Result<Self, TmuxError>> {
        let tmux = std::env::var("TMUX").ok().filter(|value| !value.is_empty())?;
        Some(Self::parse(&tmux, std::env::var("TMUX_PANE").ok()))
    }

    pub fn parse(tmux: &str, pane: Option<String>) -> Result<Self, TmuxError> {
        // From the right: a socket's path may hold commas.
        let mut parts = tmux.rsplitn(3, ',');
        let session = parts.next().filter(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
        match (session, parts.next(), parts.next()) {
            (Some(session), Some(_), Some(socket)) if !socket.is_empty() => Ok(Self {
                socket: socket.into(),
                session_id: format!("${session}"),
                pane: pane.filter(|p| check_id(p).is_ok()),
            }),
            _ => Err(TmuxError::NotInside { value: tmux.to_owned() }),
        }
    }
}

impl Tmux {
    /// The command that attaches a terminal outside any tmux.
    pub fn attach_argv(&self, view: View<'_>) -> Result<Vec<OsString>, TmuxError> {
        let mut argv = vec![self.runner.program.clone()];
        argv.extend(self.runner.prefix());
        argv.extend(chain(&[cmd::attach(&view.target()?, view.read_only)]));
        Ok(argv)
    }

    /// The command that shows the team inside another tmux: `TMUX` unset, for the nested client only.
    pub fn nested_argv(&self, view: View<'_>) -> Result<Vec<OsString>, TmuxError> {
        let mut argv: Vec<OsString> = ["env", "-u", "TMUX", "-u", "TMUX_PANE"].map(OsString::from).into();
        argv.push(self.runner.program.clone());
        argv.extend(self.runner.prefix());
        let mut commands = vec![
            cmd::new_view(&format!("={}", view.session), view.read_only),
            cmd::set(Scope::CurrentSession, "status", "off"),
            cmd::set(Scope::CurrentSession, "prefix", "None"),
            cmd::set(Scope::CurrentSession, "prefix2", "None"),
            // Only now: a session that nobody is attached to would go at once.
            cmd::set(Scope::CurrentSession, "destroy-unattached", "on"),
        ];
        if let Some(pane) = view.pane {
            check_id(pane)?;
            commands.extend([cmd::select_window(&format!(":.{pane}")), cmd::select_pane(pane)]);
        }
        argv.extend(chain(&commands));
        Ok(argv)
    }

    /// Opens one new window in the person's tmux which shows the team; returns that window's id. The person's options
    /// and other windows are left alone.
    pub async fn open_in(&self, outer: &OuterTmux, name: &str, view: View<'_>) -> Result<String, TmuxError> {
        let theirs = Self::new(&outer.socket).with_limit(self.runner.limit).with_program(self.runner.program.clone());
        let session = theirs.session_of(outer).await?;
        let open = cmd::open_window(&session, name, "#{window_id}", self.nested_argv(view)?);
        let answer = theirs.ask(&[open]).await?;
        let id = answer.trim();
        if id.starts_with('@') { Ok(id.to_owned()) } else { Err(unparsable("new-window", &answer)) }
    }

    /// The session that the pane is in now; it may have been moved since its program started.
    async fn session_of(&self, outer: &OuterTmux) -> Result<String, TmuxError> {
        let Some(pane) = &outer.pane else { return Ok(outer.session_id.clone()) };
        let answer = self.ask(&[cmd::display(Some(pane), "#{pane_id} #{session_id}")]).await?;
        match answer.trim().split_once(' ') {
            Some((found, session)) if found == pane && session.starts_with('$') => Ok(session.to_owned()),
            _ => Ok(outer.session_id.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_outer_tmux_is_read_from_the_right() {
        let outer = OuterTmux::parse("/tmp/a,b/default,123,4", Some("%7".into())).unwrap();
        assert_eq!(outer.socket, PathBuf::from("/tmp/a,b/default"));
        assert_eq!((outer.session_id.as_str(), outer.pane.as_deref()), ("$4", Some("%7")));
        for bad in ["", "x", "/tmp/x,1", "/tmp/x,1,", ",1,2", "/tmp/x,1,a"] {
            assert!(OuterTmux::parse(bad, None).is_err(), "{bad}");
        }
    }
}
