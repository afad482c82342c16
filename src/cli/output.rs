//! Writing to stdout and stderr. Data goes to stdout, talk to stderr; a closed pipe ends the verb quietly.

use std::fmt::Display;
use std::io::{self, ErrorKind as Io, IsTerminal, Write};

use serde::Serialize;

use super::error::{CommandError, ErrorKind};
use crate::view::plain::Style;

/// Writes `text` as it is.
pub fn text(text: &str) -> Result<(), CommandError> {
    bytes(text.as_bytes())
}

/// Writes what may be no text.
pub fn bytes(bytes: &[u8]) -> Result<(), CommandError> {
    let mut out = io::stdout().lock();
    sorted(out.write_all(bytes).and_then(|()| out.flush()))
}

/// Writes one line.
pub fn line(line: impl Display) -> Result<(), CommandError> {
    text(&format!("{line}\n"))
}

/// Writes one JSON value: in one line, or laid out for a person who looks at it on a terminal.
pub fn json(value: &impl Serialize) -> Result<(), CommandError> {
    let written =
        if io::stdout().is_terminal() { serde_json::to_string_pretty(value) } else { serde_json::to_string(value) };
    line(written?)
}

/// Writes one JSON value as one line of many, at once.
pub fn json_line(value: &impl Serialize) -> Result<(), CommandError> {
    line(serde_json::to_string(value)?)
}

/// Says something beside the data, on stderr. Nobody is left to tell when that fails.
pub fn note(line: impl Display) {
    stderr(&format!("{line}\n"));
}

pub(crate) fn stderr(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// A reader that has gone is the quiet end; a full disk is a failure.
fn sorted(result: io::Result<()>) -> Result<(), CommandError> {
    match result {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == Io::BrokenPipe => Err(CommandError::new(ErrorKind::Closed, "stdout is closed")),
        Err(error) => Err(CommandError::failed("cannot write to stdout").cause(&error)),
    }
}

/// Whether the reader of stdout has gone. Asked by verbs that stay and may have nothing to write for long.
#[must_use]
pub fn reader_gone() -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let out = io::stdout();
    let mut fds = [PollFd::new(&out, PollFlags::empty())];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    // The end of a pipe that nobody reads shows as an error, a terminal or socket that is gone as hung up (poll(2)).
    poll(&mut fds, Some(&now)).is_ok_and(|n| n > 0)
        && fds[0].revents().intersects(PollFlags::ERR | PollFlags::HUP | PollFlags::NVAL)
}

/// Whether stdout takes colour.
#[must_use]
pub fn color_on_stdout() -> bool {
    color(io::stdout().is_terminal())
}

/// Whether stderr takes colour.
#[must_use]
pub fn color_on_stderr() -> bool {
    color(io::stderr().is_terminal())
}

fn color(terminal: bool) -> bool {
    let set = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty());
    color_by(
        terminal,
        set("NO_COLOR").is_some(),
        set("CLICOLOR_FORCE").is_some_and(|v| v != "0"),
        set("TERM").is_some_and(|v| v == "dumb"),
    )
}

/// `NO_COLOR` wins over `CLICOLOR_FORCE`, which wins over what the terminal is.
fn color_by(terminal: bool, no_color: bool, forced: bool, dumb: bool) -> bool {
    !no_color && (forced || (terminal && !dumb))
}

/// How tables on stdout are to look: a terminal has a width, a pipe has none.
#[must_use]
pub fn style() -> Style {
    Style { color: color_on_stdout(), width: stdout_width() }
}

/// Columns of the terminal on stdout; `None` where it is none.
#[must_use]
pub fn stdout_width() -> Option<usize> {
    let out = io::stdout();
    if !out.is_terminal() {
        return None;
    }
    let told = rustix::termios::tcgetwinsize(&out).ok().map(|size| usize::from(size.ws_col)).filter(|w| *w > 0);
    Some(told.unwrap_or(80))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colour_is_for_terminals_unless_told_otherwise() {
        for (terminal, no_color, forced, dumb, expected) in [
            (true, false, false, false, true),
            (true, false, false, true, false),
            (false, false, false, false, false),
            (false, false, true, false, true),
            (true, true, true, false, false),
        ] {
            assert_eq!(color_by(terminal, no_color, forced, dumb), expected);
        }
    }

    #[test]
    fn a_closed_pipe_is_a_quiet_end_and_a_full_disk_is_not() {
        let closed = sorted(Err(Io::BrokenPipe.into())).unwrap_err();
        assert_eq!(closed.kind.code(), 0);
        let full = sorted(Err(Io::StorageFull.into())).unwrap_err();
        assert_eq!(full.kind.code(), 1);
    }
}
