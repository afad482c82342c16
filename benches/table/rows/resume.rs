//! `crewmux up --resume` of a team that was killed whole, against its fresh `up`.

use std::time::{Duration, Instant};

use crewmux::store::lease;
use rustix::process::{Pid, Signal, kill_process};

use super::up::willing;
use crate::place::{Place, name};
use crate::stats::{Spread, median, ns, time, times};
use crate::table::{Line, Verdict};
use crate::{Fallible, ROUNDS};

const TEAM: &str = "bench-resume";
const MEMBERS: usize = 16;
const PATIENCE: Duration = Duration::from_secs(20);

pub fn row() -> Fallible<Vec<Line>> {
    let (mut fresh, mut resumed, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    // Kept to the end, see the row `up`.
    let mut kept = Vec::new();
    for _ in 0..ROUNDS {
        let mut place = Place::new()?;
        let spec = willing(&place, TEAM, MEMBERS, "")?;
        let begun = Instant::now();
        place.up(TEAM, &spec)?;
        let up = ns(begun.elapsed());
        kill_whole(&place)?;
        let begun = Instant::now();
        place.run(&["up", "--resume", TEAM])?;
        let resume = ns(begun.elapsed());
        place.down(TEAM)?;
        kept.push(place);
        fresh.push(up);
        resumed.push(resume);
        ratios.push(resume / up);
    }
    let ratio = median(&ratios);
    Ok(vec![Line {
        what: format!("`crewmux up --resume` of {MEMBERS} members that were all killed, with lead and tmux"),
        floor: format!("their fresh `up`: {}", time(median(&fresh))),
        measured: Spread::of(&resumed).show(time),
        ratio: times(ratio),
        must: "≤ 2×".to_owned(),
        verdict: Verdict::of(ratio <= 2.0),
    }])
}

/// Kills lead, teammates and the tmux server; returns when nobody holds a lease any more.
fn kill_whole(place: &Place) -> Fallible<()> {
    let team = place.team(TEAM)?;
    let dir = place.home().team(&name(TEAM)?);
    let leases: Vec<_> = team.teammates().map(|m| dir.member(&m.name).lease()).chain([dir.lead_lease()]).collect();
    let mut pids: Vec<u32> = leases.iter().filter_map(|path| Some(lease::text(path)?.pid)).collect();
    pids.push(team.tmux.server_pid);
    for signal in [Signal::STOP, Signal::KILL] {
        for pid in &pids {
            // One that sees another's end may be gone already.
            let _ = kill_process(Pid::from_raw(i32::try_from(*pid)?).ok_or("no pid")?, signal);
        }
    }
    let begun = Instant::now();
    for lease in &leases {
        while lease::is_held(lease)? {
            if begun.elapsed() > PATIENCE {
                return Err(format!("{} is still held", lease.display()).into());
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    Ok(())
}
