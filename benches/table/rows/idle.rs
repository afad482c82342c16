//! What a teammate costs that has nothing to do.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::Fallible;
use crate::place::{Place, name};
use crate::stats::Spread;
use crate::table::{Line, Verdict};

const TEAM: &str = "bench-idle";
/// How long they are left alone before anything counts.
const SETTLE: Duration = Duration::from_secs(3);
/// How long they are watched.
const WINDOW: Duration = Duration::from_secs(10);

pub fn row() -> Fallible<Vec<Line>> {
    let mut place = Place::new()?;
    let members: Vec<String> = ["worker", "worker", "worker", "command", "command"]
        .iter()
        .enumerate()
        .map(|(n, engine)| {
            let command = if *engine == "command" { "\ncommand = [\"sleep\", \"86400\"]" } else { "" };
            format!("name = \"m{n}\"\nengine = \"{engine}\"{command}")
        })
        .collect();
    let spec = place.spec(TEAM, "", &members)?;
    place.up(TEAM, &spec)?;
    std::thread::sleep(SETTLE);
    let team = place.team(TEAM)?;
    let pids: Vec<u32> = team.teammates().filter_map(|m| m.pid).collect();
    if pids.len() != members.len() {
        return Err(format!("{} of {} teammates are on the roster", pids.len(), members.len()).into());
    }
    let begun = SystemTime::now();
    let before = pids.iter().map(|pid| Use::of(*pid)).collect::<Fallible<Vec<_>>>()?;
    std::thread::sleep(WINDOW);
    let after = pids.iter().map(|pid| Use::of(*pid)).collect::<Fallible<Vec<_>>>()?;
    // The count of bytes knows nothing of a file system in memory, so the files are asked as well.
    let changed = newest(&place.home().team(&name(TEAM)?).members_dir())? > begun;
    place.down(TEAM)?;

    let pairs = || before.iter().zip(&after);
    let resident = Spread::of(&after.iter().map(|u| u.resident as f64 / 1024.0).collect::<Vec<_>>());
    let seconds = WINDOW.as_secs_f64();
    let wakes = Spread::of(&pairs().map(|(b, a)| a.waits.saturating_sub(b.waits) as f64 / seconds).collect::<Vec<_>>());
    let bytes = Spread::of(&pairs().map(|(b, a)| a.written.saturating_sub(b.written) as f64).collect::<Vec<_>>());
    let line = |what: &str, measured: String, must: &str, reached| Line {
        what: format!("an idle teammate: {what}"),
        floor: "—".to_owned(),
        measured,
        ratio: "—".to_owned(),
        must: must.to_owned(),
        verdict: Verdict::of(reached),
    };
    Ok(vec![
        line("resident memory", resident.show(|mib| format!("{mib:.1} MB")), "≤ 8 MB", resident.max <= 8.0),
        line("wake-ups", wakes.show(|n| format!("{n:.1}/s")), "≤ 1/s", wakes.max <= 1.0),
        line("bytes of files written in 10 s", bytes.show(|n| format!("{n:.0}")), "0", bytes.max == 0.0 && !changed),
    ])
}

/// When any file or folder below `dir` was last changed.
fn newest(dir: &Path) -> Fallible<SystemTime> {
    let mut newest = fs::metadata(dir)?.modified()?;
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let changed =
            if entry.file_type()?.is_dir() { self::newest(&entry.path())? } else { entry.metadata()?.modified()? };
        newest = newest.max(changed);
    }
    Ok(newest)
}

/// What a process has used so far.
struct Use {
    /// KiB.
    resident: u64,
    /// Times that any of its threads went to sleep and was woken.
    waits: u64,
    /// Bytes of files that it wrote or changed; not what its own threads tell each other through the kernel.
    written: u64,
}

impl Use {
    fn of(pid: u32) -> Fallible<Self> {
        let mut waits = 0;
        for task in fs::read_dir(format!("/proc/{pid}/task"))? {
            let status = fs::read_to_string(task?.path().join("status"))?;
            waits += field(&status, "voluntary_ctxt_switches:")?;
        }
        let memory = fs::read_to_string(format!("/proc/{pid}/smaps_rollup"))?;
        let io = fs::read_to_string(format!("/proc/{pid}/io"))?;
        Ok(Self { resident: field(&memory, "Rss:")?, waits, written: field(&io, "write_bytes:")? })
    }
}

fn field(text: &str, name: &str) -> Fallible<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    let value = line.and_then(|rest| rest.split_whitespace().next()).ok_or_else(|| format!("no {name}"))?;
    Ok(value.parse()?)
}
