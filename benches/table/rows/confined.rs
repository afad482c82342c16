//! Starting a program in a sandbox, against the same program without.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::Fallible;
use crate::place::Place;
use crate::stats::{Spread, median, ns, time};
use crate::table::{Line, Verdict};

/// Starts of each kind, in turns.
const STARTS: usize = 200;
/// What a worker's task may write, and some more.
const WRITABLE: [&str; 5] = ["outbox.jsonl", "outbox.jsonl.lock", "tmp", "scratch", "cwd"];
const MOST: Duration = Duration::from_millis(5);

pub fn row() -> Fallible<Vec<Line>> {
    let place = Place::new()?;
    for name in WRITABLE {
        std::fs::create_dir(place.path().join(name))?;
    }
    let (mut plain, mut more) = (Vec::new(), Vec::new());
    for _ in 0..STARTS {
        let floor = took(Command::new("true").stdin(Stdio::null()))?;
        let confined = took(&mut confined(&place))?;
        plain.push(ns(floor));
        more.push(ns(confined) - ns(floor));
    }
    let spread = Spread::of(&more);
    Ok(vec![Line {
        what: "a program in its sandbox, beyond the program".to_owned(),
        floor: format!("the same program without: {}", time(median(&plain))),
        measured: spread.show(time),
        ratio: String::new(),
        must: "≤ 5 ms more".to_owned(),
        verdict: Verdict::of(spread.median <= ns(MOST)),
    }])
}

/// The command line that a teammate makes.
fn confined(place: &Place) -> Command {
    let mut command = place.crewmux(&["sandbox-exec", "--mode", "workspace-write", "--network"]);
    for name in WRITABLE {
        command.arg("--writable").arg(place.path().join(name));
    }
    command.args(["--", "true"]);
    command
}

fn took(command: &mut Command) -> Fallible<Duration> {
    let begun = Instant::now();
    let status = command.status()?;
    let took = begun.elapsed();
    if status.success() { Ok(took) } else { Err(format!("the program ended with {status}").into()) }
}
