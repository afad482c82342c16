//! This binary once more, as one of several processes: it says `ready`, starts on a word, and prints its figures.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Command, ExitCode, Stdio};

use super::Fallible;
use super::rows::{append, claim, flood, handed, killed, send};
use super::stats::{median, now_ns};

/// What runs under `--helper NAME ARGUMENT…`.
pub fn main(args: &[String]) -> ExitCode {
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let done = match args.as_slice() {
        ["append", rest @ ..] => append::ours(rest),
        ["append-floor", rest @ ..] => append::floor(rest),
        ["write", rest @ ..] => handed::write(rest),
        ["read", rest @ ..] => handed::read(rest),
        ["poll", rest @ ..] => handed::poll(rest),
        ["echo", rest @ ..] => handed::echo(rest),
        ["send", rest @ ..] => send::from_member(rest),
        ["claim", rest @ ..] => claim::helper(rest),
        ["flood-sink", rest @ ..] => flood::sink(rest),
        ["flood-print", rest @ ..] => flood::print(rest),
        ["watching", rest @ ..] => killed::watching(rest),
        _ => Err("no such helper".into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}: {error}", args.join(" "));
            ExitCode::FAILURE
        }
    }
}

/// In a helper: says that it is set up and waits for the word.
pub fn wait_for_start() -> Fallible<()> {
    println!("ready");
    std::io::stdout().flush()?;
    let mut line = String::new();
    std::io::stdin().read_line(&mut line)?;
    Ok(())
}

/// In a helper: when something began and ended.
pub fn print_span(begun: u64) {
    println!("{begun} {}", now_ns());
}

/// A helper as its parent sees it. Killed when dropped.
pub struct Helper {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Helper {
    /// Starts one and waits until it is set up.
    pub fn start(args: &[&str]) -> Fallible<Self> {
        let mut child = Command::new(std::env::current_exe()?)
            .arg("--helper")
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let output = BufReader::new(child.stdout.take().ok_or("no output")?);
        let mut helper = Self { child, output };
        match helper.line()?.as_str() {
            "ready" => Ok(helper),
            other => Err(format!("helper {args:?} said {other:?}").into()),
        }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn go(&mut self) -> Fallible<()> {
        self.child.stdin.as_mut().ok_or("no input")?.write_all(b"go\n")?;
        Ok(())
    }

    pub fn line(&mut self) -> Fallible<String> {
        let mut line = String::new();
        if self.output.read_line(&mut line)? == 0 {
            return Err("a helper ended early".into());
        }
        Ok(line.trim_end().to_owned())
    }

    /// Every number until its end.
    pub fn numbers(&mut self) -> Fallible<Vec<f64>> {
        let mut numbers = Vec::new();
        for line in self.output.by_ref().lines() {
            for word in line?.split_whitespace() {
                numbers.push(word.parse()?);
            }
        }
        let status = self.child.wait()?;
        if status.success() { Ok(numbers) } else { Err(format!("a helper ended with {status}").into()) }
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        // Of one that has ended already there is nothing to kill.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts helpers at once and waits for all; nanoseconds from the first one's begin to the last one's end, and
/// whatever else each printed.
pub fn race(args: &[Vec<String>]) -> Fallible<(f64, Vec<f64>)> {
    let started = args.iter().map(|a| Helper::start(&a.iter().map(String::as_str).collect::<Vec<_>>()));
    let mut helpers = started.collect::<Fallible<Vec<_>>>()?;
    for helper in &mut helpers {
        helper.go()?;
    }
    let (mut begun, mut ended, mut rest) = (f64::MAX, 0.0_f64, Vec::new());
    for helper in &mut helpers {
        let numbers = helper.numbers()?;
        let [from, to, more @ ..] = numbers.as_slice() else { return Err("a helper told no times".into()) };
        begun = begun.min(*from);
        ended = ended.max(*to);
        rest.extend(more);
    }
    Ok((ended - begun, rest))
}

/// The median of what one helper prints.
pub fn median_of(helper: &mut Helper) -> Fallible<f64> {
    Ok(median(&helper.numbers()?))
}

use std::io::Read as _;
