//! Starting a program in a session of its own, on a pseudo-terminal or on pipes. The one place with `unsafe`.
//!
//! Call these from the process's **main thread**: the parent-death signal follows the *thread* that started the child
//! (`PR_SET_PDEATHSIG`, prctl(2)), so a child started from a pool thread would be killed when that thread retires. A
//! current-thread runtime on the main thread is right; `spawn_blocking` is not.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use rustix::fs::Access;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Signal, getppid, ioctl_tiocsctty, set_parent_process_death_signal, setsid};
use rustix::termios::Winsize;
use tokio::net::unix::pipe;
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};

use super::process::ProcessId;
use super::reap::{Kept, spawn_kept};
use super::terminal;

/// What to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// The program and its arguments. A program without a slash is looked for in `PATH` of `env`.
    pub argv: Vec<OsString>,
    pub cwd: PathBuf,
    /// The whole environment: nothing is inherited.
    pub env: Vec<(OsString, OsString)>,
}

/// What the program's standard input is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PtyStdin {
    Terminal,
    /// A pipe; the pseudo-terminal is still the controlling terminal and the output.
    Pipe,
}

/// A program on its own pseudo-terminal.
#[derive(Debug)]
pub struct PtyChild {
    pub child: Child,
    /// Our end of the pseudo-terminal, blocking; see [`terminal::Master`].
    pub master: OwnedFd,
    /// With [`PtyStdin::Pipe`].
    pub stdin: Option<ChildStdin>,
    pub id: ProcessId,
    /// Hold it until `child` has been waited for.
    pub kept: Kept,
}

/// A program whose output and errors come through one pipe, in the order they were written.
#[derive(Debug)]
pub struct PipeChild {
    pub child: Child,
    pub output: pipe::Receiver,
    pub id: ProcessId,
    /// Hold it until `child` has been waited for.
    pub kept: Kept,
}

/// A program that is spoken to: its input, output and errors are pipes of their own.
#[derive(Debug)]
pub struct StdioChild {
    pub child: Child,
    pub stdin: ChildStdin,
    pub stdout: ChildStdout,
    pub stderr: ChildStderr,
    pub id: ProcessId,
    /// Hold it until `child` has been waited for.
    pub kept: Kept,
}

/// Why a program was not started. Comes inside an [`io::Error`] of the same kind as its source.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    #[error("start a program: the command is empty")]
    Empty,
    #[error("start {program:?}: {source}")]
    Program { program: OsString, source: io::Error },
    #[error("start {program:?} in {}: {source}", .cwd.display())]
    Cwd { program: OsString, cwd: PathBuf, source: io::Error },
}

impl From<SpawnError> for io::Error {
    fn from(error: SpawnError) -> Self {
        let kind = match &error {
            SpawnError::Empty => io::ErrorKind::InvalidInput,
            SpawnError::Program { source, .. } | SpawnError::Cwd { source, .. } => source.kind(),
        };
        Self::new(kind, error)
    }
}

/// Starts `program` as the leader of a new session on a new pseudo-terminal of the given size. It is killed when this
/// process dies. Needs a tokio runtime.
///
/// # Errors
/// A [`SpawnError`] naming the program or its directory; others when there is no pseudo-terminal to be had.
pub fn spawn_on_pty(program: &Program, stdin: PtyStdin, size: Winsize) -> io::Result<PtyChild> {
    let mut command = command(program)?;
    let (master, slave) = terminal::open_pty(size)?;
    match stdin {
        PtyStdin::Terminal => command.stdin(slave.try_clone()?),
        PtyStdin::Pipe => command.stdin(Stdio::piped()),
    };
    command.stdout(slave.try_clone()?).stderr(slave);
    prepare(&mut command, true);
    let (mut child, kept) = start(&mut command, program)?;
    let stdin = child.stdin.take();
    Ok(PtyChild { master, stdin, id: kept.id(), child, kept })
}

/// Starts `program` as the leader of a new session without a terminal, with no input. It is killed when this process
/// dies. Needs a tokio runtime.
///
/// # Errors
/// A [`SpawnError`] naming the program or its directory; others when there is no pipe to be had.
pub fn spawn_with_pipes(program: &Program) -> io::Result<PipeChild> {
    let mut command = command(program)?;
    let (reader, writer) = pipe_with(PipeFlags::CLOEXEC)?;
    let output = pipe::Receiver::from_owned_fd(reader)?;
    command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
    prepare(&mut command, false);
    let (child, kept) = start(&mut command, program)?;
    Ok(PipeChild { child, output, id: kept.id(), kept })
}

/// A program with a pipe for each of its streams.
#[derive(Debug)]
pub struct ApartChild {
    /// Its pipes are in it.
    pub child: Child,
    pub id: ProcessId,
    /// Hold it until `child` has been waited for.
    pub kept: Kept,
}

/// Starts `program` as the leader of a new session without a terminal, its output and errors apart, with an input where
/// `input` is set. It is killed when this process dies. Needs a tokio runtime.
///
/// # Errors
/// A [`SpawnError`] naming the program or its directory; others when there is no pipe to be had.
pub fn spawn_apart(program: &Program, input: bool) -> io::Result<ApartChild> {
    let mut command = command(program)?;
    command.stdin(if input { Stdio::piped() } else { Stdio::null() });
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    prepare(&mut command, false);
    let (child, kept) = start(&mut command, program)?;
    Ok(ApartChild { child, id: kept.id(), kept })
}

/// Starts `program` with a pipe for each standard stream: [`spawn_apart`], taken to pieces.
///
/// # Errors
/// As [`spawn_apart`].
pub fn spawn_with_stdio(program: &Program) -> io::Result<StdioChild> {
    let ApartChild { mut child, id, kept } = spawn_apart(program, true)?;
    let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
        return Err(io::Error::other("the new process has no pipes"));
    };
    Ok(StdioChild { child, stdin, stdout, stderr, id, kept })
}

fn command(program: &Program) -> Result<Command, SpawnError> {
    let (name, arguments) = program.argv.split_first().ok_or(SpawnError::Empty)?;
    // The kernel's answer to the start does not say which of the two is missing.
    check_directory(&program.cwd).map_err(|source| SpawnError::Cwd {
        program: name.clone(),
        cwd: program.cwd.clone(),
        source,
    })?;
    let mut command = Command::new(name);
    command.args(arguments).current_dir(&program.cwd).env_clear();
    command.envs(program.env.iter().map(|(name, value)| (name, value)));
    Ok(command)
}

fn check_directory(path: &Path) -> io::Result<()> {
    if !std::fs::metadata(path)?.is_dir() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    Ok(rustix::fs::access(path, Access::EXEC_OK)?)
}

fn start(command: &mut Command, program: &Program) -> Result<(Child, Kept), SpawnError> {
    spawn_kept(command).map_err(|source| SpawnError::Program {
        program: program.argv.first().map_or(OsStr::from_bytes(b""), OsString::as_os_str).to_owned(),
        source,
    })
}

#[expect(unsafe_code, reason = "a new session, its terminal and the parent-death signal are set between fork and exec")]
fn prepare(command: &mut Command, on_terminal: bool) {
    let parent = std::process::id();
    // SAFETY: runs in the forked child, where only async-signal-safe calls are allowed: it makes bare system calls,
    // allocates nothing and takes no lock.
    unsafe {
        command.pre_exec(move || in_child(parent, on_terminal));
    }
}

fn in_child(parent: u32, on_terminal: bool) -> io::Result<()> {
    setsid()?;
    if on_terminal {
        ioctl_tiocsctty(rustix::stdio::stdout())?;
    }
    default_signals();
    close_on_exec();
    set_parent_process_death_signal(Some(Signal::KILL))?;
    // The parent may have died before the line above: then nobody would ever send the signal.
    if getppid().map(|pid| pid.as_raw_pid().cast_unsigned()) != Some(parent) {
        return Err(rustix::io::Errno::SRCH.into());
    }
    Ok(())
}

/// Ignored signals and the mask outlive exec, and would make the program deaf to Ctrl-C or to a broken pipe.
#[expect(unsafe_code, reason = "the standard library resets SIGPIPE and the mask only, and not always")]
fn default_signals() {
    /// Bytes of the kernel's signal set.
    const SET: usize = 8;
    // All zero is the default action in the kernel's own form, which is smaller than this; and an empty set.
    let zero = [0_u64; 8];
    let nothing = std::ptr::null_mut::<u64>();
    // The system calls themselves: the C library refuses to touch the signals that its threads use.
    // SAFETY: both only read `zero`, and they concern this forked child alone.
    unsafe {
        for number in 1..=64 {
            // KILL and STOP refuse; that is right.
            libc::syscall(libc::SYS_rt_sigaction, number, zero.as_ptr(), nothing, SET);
        }
        libc::syscall(libc::SYS_rt_sigprocmask, libc::SIG_SETMASK, zero.as_ptr(), nothing, SET);
    }
}

/// What we inherited without close-on-exec goes no further either.
#[expect(unsafe_code, reason = "rustix has no close_range(2)")]
fn close_on_exec() {
    /// Older kernels have no flag for this; this many are then marked one by one.
    const ONE_BY_ONE: i32 = 1024;
    // SAFETY: system calls that change nothing but a flag on descriptors of this forked child.
    unsafe {
        if libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC) != 0 {
            for fd in 3..ONE_BY_ONE {
                libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC);
            }
        }
    }
}
