//! Mail between two members while a third prints as fast as 100 MB a second, against the same while it is silent.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use crewmux::act::{Client, Send, Verb};

use crate::place::{Place, name};
use crate::stats::{Spread, median, now_ns, time, times};
use crate::table::{Line, Verdict};
use crate::{Fallible, ROUNDS};

const TEAM: &str = "bench-flood";
/// Messages a round, with each printer.
const COUNT: usize = 60;
const PAUSE: Duration = Duration::from_millis(5);
const PATIENCE: Duration = Duration::from_secs(60);
/// What the printer prints in one go, and how often a second.
const CHUNK: usize = 1_000_000;
const CHUNKS_PER_SECOND: u32 = 100;

pub fn row() -> Fallible<Vec<Line>> {
    let mut place = Place::new()?;
    let me = std::env::current_exe()?;
    let program = |helper: &str| {
        let argv = [&*me.to_string_lossy(), "--helper", helper, &place.path().to_string_lossy()].map(str::to_owned);
        format!("engine = \"command\"\ncommand = {argv:?}")
    };
    let members = [
        format!("name = \"sink\"\ndeliver = \"stdin\"\n{}", program("flood-sink")),
        format!("name = \"printer\"\n{}", program("flood-print")),
    ];
    let spec = place.spec(TEAM, "", &members)?;
    place.up(TEAM, &spec)?;
    let mut client = Client::open(&place.home(), &name(TEAM)?, None)?;
    let (mut silent, mut loud, mut ratios, mut rates) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let quiet = latency(&place, &mut client, &format!("quiet-{round}"))?;
        let go = place.path().join("go");
        std::fs::write(&go, "")?;
        let before = (printed(&place)?, Instant::now());
        let flooded = latency(&place, &mut client, &format!("loud-{round}"))?;
        rates.push((printed(&place)? - before.0) as f64 / before.1.elapsed().as_secs_f64());
        std::fs::remove_file(&go)?;
        silent.push(quiet);
        loud.push(flooded);
        ratios.push(flooded / quiet);
    }
    place.down(TEAM)?;
    let ratio = median(&ratios);
    Ok(vec![Line {
        what: format!("a message to a member while another prints {:.0} MB/s", median(&rates) / 1e6),
        floor: format!("while nobody prints: {}", time(median(&silent))),
        measured: Spread::of(&loud).show(time),
        ratio: times(ratio),
        must: "≤ 2×".to_owned(),
        verdict: Verdict::of(ratio <= 2.0),
    }])
}

/// The median time from the sender's word to the program's input, over one round.
fn latency(place: &Place, client: &mut Client, mark: &str) -> Fallible<f64> {
    let file = place.path().join(mark);
    for _ in 0..COUNT {
        let text = format!("{mark} {}", now_ns());
        client.perform(Verb::Send(Send { to: "sink".to_owned(), text, ..Send::default() }))?;
        std::thread::sleep(PAUSE);
    }
    let begun = Instant::now();
    loop {
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        let numbers: Vec<f64> = text.lines().filter_map(|line| line.parse().ok()).collect();
        if numbers.len() >= COUNT {
            return Ok(median(&numbers));
        }
        if begun.elapsed() > PATIENCE {
            return Err(format!("{} of {COUNT} messages arrived", numbers.len()).into());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// How much the printer has printed by now.
fn printed(place: &Place) -> Fallible<u64> {
    let text = std::fs::read_to_string(place.path().join("printed")).unwrap_or_default();
    Ok(text.trim().parse().unwrap_or(0))
}

/// `flood-sink DIR`: writes down how long each message took, in a file for each round.
pub fn sink(args: &[&str]) -> Fallible<()> {
    let [dir] = args else { return Err("flood-sink DIR".into()) };
    for line in BufReader::new(std::io::stdin()).lines() {
        let line = line?;
        let arrived = now_ns();
        let message: serde_json::Value = serde_json::from_str(&line)?;
        let Some((mark, sent)) = message["body"]["content"].as_str().and_then(|text| text.split_once(' ')) else {
            continue;
        };
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(Path::new(dir).join(mark))?;
        writeln!(file, "{}", arrived.saturating_sub(sent.parse()?))?;
    }
    Ok(())
}

/// `flood-print DIR`: prints while there is a file `go`, and says how much it was.
pub fn print(args: &[&str]) -> Fallible<()> {
    let [dir] = args else { return Err("flood-print DIR".into()) };
    let dir = Path::new(dir);
    let line = [b"7".repeat(199), b"\n".to_vec()].concat();
    let chunk = line.repeat(CHUNK / line.len());
    let mut out = std::io::stdout().lock();
    let (mut total, mut next) = (0_u64, Instant::now());
    loop {
        if !dir.join("go").exists() {
            std::thread::sleep(Duration::from_millis(5));
            next = Instant::now();
            continue;
        }
        out.write_all(&chunk)?;
        total += chunk.len() as u64;
        std::fs::write(dir.join("printed.part"), total.to_string())?;
        std::fs::rename(dir.join("printed.part"), dir.join("printed"))?;
        next += Duration::from_secs(1) / CHUNKS_PER_SECOND;
        std::thread::sleep(next.saturating_duration_since(Instant::now()));
    }
}
