//! The team's private server: started, found by its process id, ended.

use super::commands::{self as cmd, Cmd, Scope};
use super::error::TmuxError;
use super::process::Process;
use super::run::{self, Runner};
use super::types::{Pane, PaneSpec, Started};
use super::version::Version;
use super::{label, terminfo};
use std::ffi::OsString;
use std::io::ErrorKind;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a single command may take. One takes 4 ms; a machine under load may need a hundred times that.
const LIMIT: Duration = Duration::from_secs(5);

/// How many lines of a pane's output can be scrolled back to.
const HISTORY: &str = "20000";

/// A handle on one server by its socket. Cheap: nothing runs until a method is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tmux {
    pub(super) runner: Runner,
}

impl Tmux {
    pub fn new(socket: impl Into<PathBuf>) -> Self {
        Self { runner: Runner { program: "tmux".into(), socket: socket.into(), limit: LIMIT } }
    }

    /// Another limit for one command; a chain gets a little more for each of its commands.
    #[must_use]
    pub fn with_limit(mut self, limit: Duration) -> Self {
        self.runner.limit = limit;
        self
    }

    /// Another tmux than the first in `PATH`.
    #[must_use]
    pub fn with_program(mut self, program: impl Into<OsString>) -> Self {
        self.runner.program = program.into();
        self
    }

    pub fn socket(&self) -> &Path {
        &self.runner.socket
    }

    pub(super) async fn ask(&self, commands: &[Cmd]) -> Result<String, TmuxError> {
        self.runner.run(commands, None).await.ok()
    }

    /// The installed tmux.
    ///
    /// # Errors
    /// `Missing`, `TooOld`, or `Unparsable`.
    pub async fn version(&self) -> Result<Version, TmuxError> {
        let r = &self.runner;
        let line = run::run(&r.program, vec!["-V".into()], None, r.limit, "-V", &r.socket).await.ok()?;
        let Some(version) = Version::parse(&line) else {
            return Err(TmuxError::Unparsable { command: "-V".into(), output: line });
        };
        if version.is_enough() { Ok(version) } else { Err(TmuxError::TooOld { found: version.text, need: "3.2" }) }
    }

    /// Starts the server, if none answers, and in it a session of `size` (columns, rows) with the lead's pane.
    ///
    /// The socket's folder is made, for this user alone, if it is missing. The server reads no configuration file; its
    /// options come before the first program, so that even one that ends at once leaves its pane to be read.
    pub async fn start(&self, session: &str, size: (u16, u16), first: &PaneSpec) -> Result<Started, TmuxError> {
        check_spec(first)?;
        if let Some(folder) = self.socket().parent() {
            let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
            made.map_err(|source| TmuxError::Io { what: "make the folder", path: folder.to_owned(), source })?;
        }
        let format = "#{pid} #{session_id} #{window_id} #{pane_id} #{pane_pid}";
        let mut commands = vec![cmd::start_server()];
        commands.extend(options());
        commands.push(cmd::new_session(session, "lead", size, format, first));
        // Last: a server whose session could not be made is empty, and must end by itself.
        commands.push(cmd::set(Scope::Server, "exit-empty", "off"));
        let answer = self.ask(&commands).await?;
        let started = parse_started(&answer)
            .ok_or_else(|| TmuxError::Unparsable { command: "new-session".into(), output: answer.clone() })?;
        let mut dress = label::window(&started.window_id);
        dress.extend(label::pane(&started.pane.id, &first.title, &first.label, &first.color));
        match self.ask(&dress).await {
            Ok(_) => Ok(started),
            // Somebody ended it meanwhile: it did start, and its lease will tell the rest.
            Err(e) if e.is_gone() => Ok(started),
            Err(e) => {
                // The first error is the one to tell.
                let _ = self.close_panes(&[(started.pane.id.clone(), started.pane.pid)]).await;
                Err(e)
            }
        }
    }

    /// The process that listens on the socket, if one does. Asked of the kernel, so a stopped server is found as well.
    pub async fn server_pid(&self) -> Result<Option<u32>, TmuxError> {
        let socket = self.socket();
        use ErrorKind::{ConnectionRefused, ConnectionReset, NotFound};
        let failed = |source| TmuxError::Io { what: "connect to", path: socket.to_owned(), source };
        match tokio::net::UnixStream::connect(socket).await {
            Ok(stream) => {
                let pid = stream.peer_cred().map_err(failed)?.pid();
                Ok(pid.and_then(|p| u32::try_from(p).ok()))
            }
            // Reset: it closed its socket between our connect and its accept.
            Err(e) if matches!(e.kind(), NotFound | ConnectionRefused | ConnectionReset) => Ok(None),
            Err(e) => Err(failed(e)),
        }
    }

    /// Ends the server with all its panes, if it is this process, waits until it is gone and removes the socket.
    /// A server that does not answer is killed. Nothing listening is success.
    ///
    /// # Errors
    /// `OtherServer` if another process listens there: nothing is touched.
    pub async fn kill_server(&self, server_pid: u32) -> Result<(), TmuxError> {
        // The handle comes before the check: it cannot come to mean another process afterwards.
        let server = Process::open(server_pid);
        let found = self.server_pid().await?;
        if found.is_some_and(|pid| pid != server_pid) {
            return Err(TmuxError::OtherServer { socket: self.socket().to_owned(), expected: server_pid, found });
        }
        if let (Some(_), Some(server)) = (found, server) {
            // Whether it obeyed is seen by its end alone.
            let asked = self.ask(&[cmd::kill_server()]).await;
            let deaf = matches!(asked, Err(TmuxError::TimedOut { .. }));
            if deaf || !server.ended(self.runner.limit).await {
                server.kill();
                if !server.ended(self.runner.limit).await {
                    return Err(TmuxError::TimedOut { command: "kill-server".into(), limit: self.runner.limit });
                }
            }
        }
        match std::fs::remove_file(self.socket()) {
            Err(source) if source.kind() != ErrorKind::NotFound => {
                Err(TmuxError::Io { what: "remove the socket", path: self.socket().to_owned(), source })
            }
            _ => Ok(()),
        }
    }
}

/// What a pane needs before it can be asked for; tmux itself falls back to the home folder without a word.
pub(super) fn check_spec(pane: &PaneSpec) -> Result<(), TmuxError> {
    if pane.argv.is_empty() {
        return Err(TmuxError::NoProgram);
    }
    if !pane.cwd.is_dir() {
        return Err(TmuxError::NoFolder { path: pane.cwd.clone() });
    }
    Ok(())
}

/// The private server's own settings; nobody else's panes live there.
fn options() -> Vec<Cmd> {
    vec![
        // Escape is a key of many programs: do not hold it back for half a second.
        cmd::set(Scope::Server, "escape-time", "10"),
        cmd::set(Scope::Server, "default-terminal", terminfo::best()),
        cmd::set(Scope::Global, "destroy-unattached", "off"),
        cmd::set(Scope::Global, "base-index", "0"),
        cmd::set(Scope::Global, "history-limit", HISTORY),
        cmd::set(Scope::Global, "mouse", "on"),
        cmd::set(Scope::Global, "status-left-length", "40"),
        cmd::set(Scope::GlobalWindow, "pane-base-index", "0"),
        cmd::set(Scope::GlobalWindow, "remain-on-exit", "on"),
        cmd::set(Scope::GlobalWindow, "allow-rename", "off"),
    ]
}

fn parse_started(answer: &str) -> Option<Started> {
    let mut words = answer.split_whitespace();
    let mut next = || words.next();
    Some(Started {
        server_pid: next()?.parse().ok()?,
        session_id: next()?.to_owned(),
        window_id: next()?.to_owned(),
        pane: Pane { id: next()?.to_owned(), pid: next()?.parse().ok()? },
    })
}
