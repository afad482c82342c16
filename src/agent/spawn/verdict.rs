//! What a verification agent's last words are worth.
//!
//! Its report must say what it ran, what it probed, and end in one verdict. A report that does not is sent back once
//! with what is wrong with it; a second one like it counts as failed.

use std::fmt;

/// What was judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Pass,
    Fail,
    /// The environment made a part of the check impossible.
    Partial,
}

impl Verdict {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "PASS",
            Self::Fail => "FAIL",
            Self::Partial => "PARTIAL",
        }
    }
}

/// The kinds of probe, each a way to break what seemed to work.
pub const PROBES: [&str; 5] = ["concurrency", "boundary", "idempotence", "orphans", "malformed input"];

/// Why a report is not accepted. Each reads after "your report is not accepted: ".
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    #[error(
        "its last line is not `VERDICT: PASS`, `VERDICT: FAIL` or `VERDICT: PARTIAL`, exactly so and alone on its line"
    )]
    NoVerdict,
    #[error("it gives {0} verdicts; one, at the end, is wanted")]
    Several(usize),
    #[error("no command was run: reading is not running. Run what you judge, with Bash")]
    NothingRun,
    #[error("it shows no command: write `Command: …` under each check, word for word as you ran it")]
    NoCommandShown,
    #[error("it shows the command `{0}`, which was never run")]
    NeverRun(String),
    #[error("it has no adversarial probe: write at least one `Probe (KIND): …` with its own `Command:` below, KIND one of {}", PROBES.join(", "))]
    NoProbe,
    #[error("its probe `{0}` has no command of its own: a probe is run, not thought")]
    ProbeNotRun(String),
    #[error("it fails what it judged without the exact output: quote it under `Output:`")]
    FailWithoutOutput,
    #[error("it fails what it judged without saying how to see it again: write `Steps:` with the commands to repeat")]
    FailWithoutSteps,
    #[error(
        "PARTIAL is only for what the environment made impossible: write `Environment: …` with what is missing, or decide between PASS and FAIL"
    )]
    PartialWithoutReason,
}

/// Judges a report, knowing the commands that were really run.
///
/// # Errors
/// What is missing first.
pub fn judge(report: &str, ran: &[String]) -> Result<Verdict, Fault> {
    let verdict = last_line(report)?;
    if ran.is_empty() {
        return Err(Fault::NothingRun);
    }
    let lines: Vec<Line<'_>> = report.lines().map(Line::of).collect();
    let mut shown = lines.iter().filter_map(Line::command).peekable();
    if shown.peek().is_none() {
        return Err(Fault::NoCommandShown);
    }
    if let Some(made_up) = shown.find(|command| !was_run(command, ran)) {
        return Err(Fault::NeverRun(made_up.to_owned()));
    }
    probes(&lines)?;
    let has = |word: &str| has_content(&lines, word);
    match verdict {
        Verdict::Fail if !has("output") => Err(Fault::FailWithoutOutput),
        Verdict::Fail if !has("steps") => Err(Fault::FailWithoutSteps),
        Verdict::Partial if !has("environment") => Err(Fault::PartialWithoutReason),
        verdict => Ok(verdict),
    }
}

/// The verdict of the last line that is not blank; every letter counts.
fn last_line(report: &str) -> Result<Verdict, Fault> {
    let verdict_of = |line: &str| match line.trim_end().strip_prefix("VERDICT: ")? {
        "PASS" => Some(Verdict::Pass),
        "FAIL" => Some(Verdict::Fail),
        "PARTIAL" => Some(Verdict::Partial),
        _ => None,
    };
    let last = report.lines().rev().find(|line| !line.trim().is_empty()).and_then(verdict_of);
    let count = report.lines().filter(|line| line.trim_start().starts_with("VERDICT:")).count();
    match last {
        None => Err(Fault::NoVerdict),
        Some(_) if count > 1 => Err(Fault::Several(count)),
        Some(verdict) => Ok(verdict),
    }
}

/// A line of a report, without the marks of Markdown around it.
enum Line<'a> {
    Command(&'a str),
    Probe(&'a str),
    /// `Word: …`, the word in lower case, what follows on the line.
    Label(String, &'a str),
    Heading,
    Text(&'a str),
}

impl<'a> Line<'a> {
    fn of(line: &'a str) -> Self {
        let heading = line.trim_start().starts_with('#');
        let bare = line.trim_start_matches(['#', ' ', '\t', '-', '*', '>']).trim_end();
        let Some((word, rest)) = bare.split_once(':') else {
            return if heading { Self::Heading } else { Self::Text(bare) };
        };
        let rest = rest.trim_start_matches("**").trim();
        let word = word.trim_end_matches("**").to_lowercase();
        if let Some(kind) = word.strip_prefix("probe (").and_then(|k| k.strip_suffix(')')) {
            return match PROBES.iter().find(|known| **known == kind) {
                Some(known) => Self::Probe(known),
                None => Self::Text(bare),
            };
        }
        match word.as_str() {
            "command" => Self::Command(rest.trim_matches('`').trim()),
            "check" | "output" | "steps" | "environment" | "result" => Self::Label(word, rest),
            _ if heading => Self::Heading,
            _ => Self::Text(bare),
        }
    }

    fn command(&self) -> Option<&'a str> {
        match self {
            Self::Command(command) => Some(command),
            _ => None,
        }
    }
}

/// Whether a command that a report shows was run: as a whole, or as a line of a longer one.
fn was_run(shown: &str, ran: &[String]) -> bool {
    let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let shown = plain(shown);
    !shown.is_empty() && ran.iter().any(|r| plain(r) == shown || r.lines().any(|line| plain(line) == shown))
}

fn probes(lines: &[Line<'_>]) -> Result<(), Fault> {
    let mut open: Option<&str> = None;
    let mut count = 0;
    for line in lines {
        match line {
            Line::Probe(kind) => {
                if let Some(empty) = open.replace(kind) {
                    return Err(Fault::ProbeNotRun(empty.to_owned()));
                }
                count += 1;
            }
            Line::Command(_) => open = None,
            Line::Label(word, _) if word == "check" => {
                if let Some(empty) = open {
                    return Err(Fault::ProbeNotRun(empty.to_owned()));
                }
            }
            _ => {}
        }
    }
    match open {
        Some(empty) => Err(Fault::ProbeNotRun(empty.to_owned())),
        None if count == 0 => Err(Fault::NoProbe),
        None => Ok(()),
    }
}

/// Whether something stands at a label, on its line or on the next that is not blank.
fn has_content(lines: &[Line<'_>], wanted: &str) -> bool {
    lines.iter().enumerate().any(|(at, line)| match line {
        Line::Label(word, rest) if word == wanted => {
            !rest.is_empty()
                || lines[at + 1..]
                    .iter()
                    .find(|next| !matches!(next, Line::Text("")))
                    .is_some_and(|next| matches!(next, Line::Text(text) if !text.starts_with("VERDICT")))
        }
        _ => false,
    })
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What the agent is told when its first report is not accepted.
#[must_use]
pub fn ask_again(fault: &Fault) -> String {
    format!(
        "Your report is not accepted: {fault}.\n\nDo what is missing now, then write the whole report again. It is asked for once \
         more and not a third time: a second report like this one counts as failed."
    )
}

#[cfg(test)]
#[path = "verdict_tests.rs"]
mod tests;
