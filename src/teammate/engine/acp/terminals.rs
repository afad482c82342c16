//! Commands that an agent has its client run, in the member's environment and sandbox.

use std::collections::HashMap;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema::{
    CreateTerminalRequest, CreateTerminalResponse, KillTerminalRequest, KillTerminalResponse, ReleaseTerminalRequest,
    ReleaseTerminalResponse, TerminalExitStatus, TerminalId, TerminalOutputRequest, TerminalOutputResponse,
    WaitForTerminalExitRequest, WaitForTerminalExitResponse,
};
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::AsyncReadExt;
use tokio::sync::watch;

use super::files::Serve;
use super::{AcpEvent, Tell};
use crate::os::spawn::{PipeChild, spawn_with_pipes};

/// Most output that is kept of a command whose agent names no limit, in bytes.
const MOST: u64 = 1024 * 1024;

/// An agent's commands, by id.
#[derive(Clone)]
pub(super) struct Terminals {
    serve: Arc<Serve>,
    open: Arc<Mutex<Open>>,
}

#[derive(Default)]
struct Open {
    next: u64,
    by_id: HashMap<TerminalId, Terminal>,
}

struct Terminal {
    pid: u32,
    output: Arc<Mutex<Output>>,
    ended: watch::Receiver<Option<TerminalExitStatus>>,
}

/// The end of what a command printed, within its limit.
#[derive(Default)]
struct Output {
    bytes: Vec<u8>,
    limit: usize,
    truncated: bool,
}

impl Output {
    fn push(&mut self, chunk: &[u8]) {
        self.bytes.extend_from_slice(chunk);
        if self.bytes.len() > self.limit {
            self.truncated = true;
            let mut from = self.bytes.len() - self.limit;
            // Not in the middle of a character.
            while from < self.bytes.len() && self.bytes[from] & 0xC0 == 0x80 {
                from += 1;
            }
            self.bytes.drain(..from);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Terminals {
    pub fn new(serve: Arc<Serve>) -> Self {
        Self { serve, open: Arc::default() }
    }

    pub fn create(&self, request: CreateTerminalRequest, tell: &Tell) -> Result<CreateTerminalResponse, Error> {
        // A command with its arguments in one string is a line for a shell, as agents send it.
        let argv = if request.args.is_empty() && request.command.contains(char::is_whitespace) {
            vec!["sh".to_owned(), "-c".to_owned(), request.command.clone()]
        } else {
            [vec![request.command.clone()], request.args.clone()].concat()
        };
        let refused = |error: std::io::Error| {
            tell.say(AcpEvent::Served(format!("refused: {error}")));
            Error::internal_error().data(error.to_string())
        };
        let mut program = (self.serve)(argv);
        if let Some(cwd) = request.cwd {
            program.cwd = cwd;
        }
        program.env.extend(request.env.into_iter().map(|v| (v.name.into(), v.value.into())));
        let child = spawn_with_pipes(&program).map_err(refused)?;
        tell.say(AcpEvent::Served(format!("$ {} {}", request.command, request.args.join(" "))));
        let limit = usize::try_from(request.output_byte_limit.unwrap_or(MOST).min(16 * MOST)).unwrap_or(usize::MAX);
        let output = Arc::new(Mutex::new(Output { limit, ..Output::default() }));
        let (tell_end, ended) = watch::channel(None);
        let pid = child.id.pid;
        tokio::spawn(follow(child, output.clone(), tell_end));
        let mut open = lock(&self.open);
        open.next += 1;
        let id = TerminalId::new(format!("term-{}", open.next));
        open.by_id.insert(id.clone(), Terminal { pid, output, ended });
        Ok(CreateTerminalResponse::new(id))
    }

    pub fn output(&self, request: &TerminalOutputRequest) -> Result<TerminalOutputResponse, Error> {
        self.with(&request.terminal_id, |terminal| {
            let output = lock(&terminal.output);
            let text = String::from_utf8_lossy(&output.bytes).into_owned();
            TerminalOutputResponse::new(text, output.truncated).exit_status(terminal.ended.borrow().clone())
        })
    }

    pub async fn wait(&self, request: &WaitForTerminalExitRequest) -> Result<WaitForTerminalExitResponse, Error> {
        let mut ended = self.with(&request.terminal_id, |terminal| terminal.ended.clone())?;
        let status = ended.wait_for(Option::is_some).await.ok().and_then(|status| status.clone());
        Ok(WaitForTerminalExitResponse::new(status.unwrap_or_default()))
    }

    pub fn kill(&self, request: &KillTerminalRequest) -> Result<KillTerminalResponse, Error> {
        self.with(&request.terminal_id, end)?;
        Ok(KillTerminalResponse::new())
    }

    pub fn release(&self, request: &ReleaseTerminalRequest) -> Result<ReleaseTerminalResponse, Error> {
        self.with(&request.terminal_id, end)?;
        lock(&self.open).by_id.remove(&request.terminal_id);
        Ok(ReleaseTerminalResponse::new())
    }

    fn with<T>(&self, id: &TerminalId, act: impl FnOnce(&Terminal) -> T) -> Result<T, Error> {
        let open = lock(&self.open);
        let terminal = open.by_id.get(id);
        terminal.map(act).ok_or_else(|| Error::invalid_params().data(format!("there is no terminal {id}")))
    }
}

/// Ends the command and all of its session's group. What escapes that ends with the member's life.
fn end(terminal: &Terminal) {
    if terminal.ended.borrow().is_none()
        && let Some(pid) = i32::try_from(terminal.pid).ok().and_then(Pid::from_raw)
    {
        let _ = kill_process_group(pid, Signal::KILL);
    }
}

async fn follow(mut child: PipeChild, output: Arc<Mutex<Output>>, ended: watch::Sender<Option<TerminalExitStatus>>) {
    let mut buffer = vec![0; 8 * 1024];
    let mut status = None;
    let mut open = true;
    while status.is_none() || open {
        tokio::select! {
            read = child.output.read(&mut buffer), if open => match read {
                Ok(0) | Err(_) => open = false,
                Ok(n) => lock(&output).push(&buffer[..n]),
            },
            end = child.child.wait(), if status.is_none() => {
                status = Some(end.ok());
                // What was printed before the end is in the pipe by now; a child of it may hold the pipe for ever.
                while let Ok(n) = child.output.try_read(&mut buffer) {
                    if n == 0 { break }
                    lock(&output).push(&buffer[..n]);
                }
                open = false;
            }
        }
    }
    drop(child.kept);
    let _ = ended.send(Some(status.flatten().map(exit_status).unwrap_or_default()));
}

fn exit_status(status: ExitStatus) -> TerminalExitStatus {
    TerminalExitStatus::new()
        .exit_code(status.code().and_then(|c| u32::try_from(c).ok()))
        .signal(status.signal().map(|s| s.to_string()))
}
