//! A member's output.

use super::args::Globals;
use super::error::{CommandError, ErrorKind, ResultExt};
use super::follow::{self, What};
use super::log_lines::LogTail;
use super::values::someone;
use super::{output, team};
use crate::model::name::Name;
use crate::view::plain::{Lines, safe};
use serde_json::json;
use std::io::IsTerminal;

/// Show what a member's program has printed
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  crewmux logs scan --lines 50
  crewmux logs scan --follow")]
pub struct Args {
    /// Whose output
    #[arg(value_parser = someone)]
    pub name: Name,
    /// Stay, and show output as it comes
    #[arg(long, short)]
    pub follow: bool,
    /// How many of the last lines
    #[arg(long, short = 'n', value_name = "N", default_value_t = 200)]
    pub lines: usize,
}

pub fn run(args: &Args, globals: &Globals) -> Result<(), CommandError> {
    let mut client = team::open(globals)?;
    client.desk.member_or_starting(&args.name)?;
    let dir = client.desk.dir.member(&args.name);
    let path = dir.output_log();
    let shown = path.display().to_string();
    let failed = || format!("cannot read {shown}");
    let mut log = LogTail::new(path);
    let mut out = Out { json: globals.json, rest: Vec::new() };
    out.put(&log.last(args.lines).or_fail(ErrorKind::Failed, failed)?)?;
    if args.follow {
        let what = What::Folders(vec![dir.path().to_owned()]);
        follow::until(&mut client.desk, &what, None, |desk| {
            out.put(&log.more().or_fail(ErrorKind::Failed, failed)?)?;
            Ok((!desk.dir.exists()).then_some(()))
        })?;
        follow::team_has_gone(&client.desk);
    }
    out.end()
}

/// Where a program's output goes: a pipe gets its bytes, a terminal what is harmless of them, JSON a string a line.
struct Out {
    json: bool,
    /// A line that is not ended yet.
    rest: Vec<u8>,
}

impl Out {
    fn put(&mut self, bytes: &[u8]) -> Result<(), CommandError> {
        if bytes.is_empty() {
            return Ok(());
        }
        if !self.json && !std::io::stdout().is_terminal() {
            return output::bytes(bytes);
        }
        self.rest.extend_from_slice(bytes);
        let Some(end) = self.rest.iter().rposition(|b| *b == b'\n') else { return Ok(()) };
        let whole: Vec<u8> = self.rest.drain(..=end).collect();
        self.lines(&String::from_utf8_lossy(&whole))
    }

    fn end(mut self) -> Result<(), CommandError> {
        if self.rest.is_empty() {
            return Ok(());
        }
        let rest = std::mem::take(&mut self.rest);
        self.lines(&String::from_utf8_lossy(&rest))
    }

    fn lines(&self, text: &str) -> Result<(), CommandError> {
        for line in text.lines() {
            if self.json {
                output::json_line(&json!({"line": line}))?;
            } else {
                output::line(harmless(line))?;
            }
        }
        Ok(())
    }
}

/// A line of a program's output as it may be put on a terminal: its colours, and none of its other commands.
fn harmless(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut coloured = false;
    // A line drawn over itself (a progress bar) shows as it was in the end.
    let line = line.trim_end_matches('\r');
    let mut rest = line.rsplit_once('\r').map_or(line, |(_, last)| last);
    while let Some(at) = rest.find('\x1b') {
        out += &safe(&rest[..at], Lines::Keep);
        let sequence = &rest[at..];
        let len = sequence_len(sequence);
        if sequence[..len].starts_with("\x1b[") && sequence[..len].ends_with('m') {
            coloured = true;
            out += &sequence[..len];
        }
        rest = &sequence[len..];
    }
    out += &safe(rest, Lines::Keep);
    if coloured {
        out += "\x1b[0m";
    }
    out
}

/// How many bytes the escape sequence at the beginning has (ECMA-48: CSI, OSC, or ESC and one more).
fn sequence_len(text: &str) -> usize {
    let from = |at: usize, ends: fn(char) -> bool| {
        let end = text[at..].char_indices().find(|(_, c)| ends(*c));
        end.map_or(text.len(), |(i, c)| at + i + c.len_utf8())
    };
    match text[1..].chars().next() {
        Some('[') => from(2, |c| ('\x40'..='\x7e').contains(&c)),
        Some(']') => from(2, |c| matches!(c, '\x07' | '\\')),
        Some(c) => 1 + c.len_utf8(),
        None => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_colours_and_nothing_else_that_acts() {
        assert_eq!(harmless("plain"), "plain");
        assert_eq!(harmless("\x1b[31mred\x1b[0m"), "\x1b[31mred\x1b[0m\x1b[0m");
        assert_eq!(harmless("a\x1b[2J\x1b]0;title\x07b\x1bc"), "ab");
        assert_eq!(harmless("10%\r20%\r100%\r"), "100%");
        assert_eq!(harmless("bell\x07 and \x1b"), "bell\\x07 and ");
    }
}
