//! `crewmux send` as a whole process, against `true`: from the operator's shell, and from a member's program.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::place::Place;
use crate::stats::{Spread, median, ns, time};
use crate::table::{Line, Verdict};
use crate::{Fallible, ROUNDS};

/// Messages a round.
const COUNT: usize = 40;
const TEAM: &str = "bench-send";
/// How long the member may take for all of its messages.
const PATIENCE: Duration = Duration::from_secs(120);

pub fn row() -> Fallible<Vec<Line>> {
    let mut place = Place::new()?;
    let me = std::env::current_exe()?;
    let members = [
        "name = \"sink\"\nengine = \"worker\"".to_owned(),
        format!(
            "name = \"source\"\nengine = \"command\"\ncommand = {:?}",
            [
                &*me.to_string_lossy(),
                "--helper",
                "send",
                env!("CARGO_BIN_EXE_crewmux"),
                &place.path().to_string_lossy(),
            ]
        ),
    ];
    let spec = place.spec(TEAM, "", &members)?;
    place.up(TEAM, &spec)?;
    // One before anything is measured: the first start of a program reads it from the disk.
    place.run(&["send", "--team", TEAM, "sink", "hello"])?;

    let (mut operator, mut trues) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let (sends, nothing) = pairs(|| place.crewmux(&["send", "--team", TEAM, "sink", "look at src/ first"]))?;
        operator.push(sends - nothing);
        trues.push(nothing);
    }
    let by_operator = line("`crewmux send`, whole process, from the operator's shell", &operator, &trues, 3.0);

    std::fs::write(place.path().join("go"), "")?;
    let done = place.path().join("done");
    let begun = Instant::now();
    while !done.exists() {
        if begun.elapsed() > PATIENCE {
            return Err("the member did not finish sending".into());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let (mut member, mut trues) = (Vec::new(), Vec::new());
    for round in std::fs::read_to_string(done)?.lines() {
        let (sends, nothing) = round.split_once(' ').ok_or("a round without figures")?;
        let (sends, nothing) = (sends.parse::<f64>()?, nothing.parse::<f64>()?);
        member.push(sends - nothing);
        trues.push(nothing);
    }
    let by_member = line("the same from a member's program, through its outbox", &member, &trues, 4.0);
    place.down(TEAM)?;
    Ok(vec![by_operator, by_member])
}

fn line(what: &str, more: &[f64], trues: &[f64], limit_ms: f64) -> Line {
    let (spread, nothing) = (Spread::of(more), median(trues));
    Line {
        what: what.to_owned(),
        floor: format!("`true`: {}", time(nothing)),
        measured: format!("+ {}", spread.show(time)),
        ratio: format!("{:.2}×", (spread.median + nothing) / nothing),
        must: format!("≤ `true` + {limit_ms:.0} ms"),
        verdict: Verdict::of(spread.median <= limit_ms * 1e6),
    }
}

/// Runs `send` and `true` in turns; the median of each, in nanoseconds.
fn pairs(send: impl Fn() -> Command) -> Fallible<(f64, f64)> {
    let (mut sends, mut trues) = (Vec::new(), Vec::new());
    for _ in 0..COUNT {
        sends.push(whole(&mut send())?);
        trues.push(whole(Command::new("/bin/true").stdin(Stdio::null()).stdout(Stdio::null()))?);
    }
    Ok((median(&sends), median(&trues)))
}

fn whole(command: &mut Command) -> Fallible<f64> {
    let begun = Instant::now();
    let status = command.status()?;
    let took = begun.elapsed();
    if status.success() { Ok(ns(took)) } else { Err(format!("{command:?} ended with {status}").into()) }
}

/// `send PROGRAM DIR`: a member's program, which sends when it is told to and then stays.
pub fn from_member(args: &[&str]) -> Fallible<()> {
    let [program, dir] = args else { return Err("send PROGRAM DIR".into()) };
    let dir = Path::new(dir);
    while !dir.join("go").exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    let mut rounds = String::new();
    for _ in 0..ROUNDS {
        let (sends, nothing) = pairs(|| {
            let mut command = Command::new(program);
            command.args(["send", "sink", "look at src/ first"]).stdin(Stdio::null()).stdout(Stdio::null());
            command
        })?;
        rounds.push_str(&format!("{sends} {nothing}\n"));
    }
    std::fs::write(dir.join("figures"), rounds)?;
    std::fs::rename(dir.join("figures"), dir.join("done"))?;
    loop {
        std::thread::park();
    }
}
