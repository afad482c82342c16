//! From the `kill -9` of a teammate to the lead's event, against the kernel's own word of a killed process.

use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use crewmux::model::time::Timestamp;
use crewmux::os::clock;
use crewmux::store::Tail;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::inotify;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

use super::up::willing;
use crate::Fallible;
use crate::helper::{Helper, wait_for_start};
use crate::place::{Place, name};
use crate::stats::{Spread, median, now_ns, ns, time, times};
use crate::table::{Line, Verdict};

const TEAM: &str = "bench-killed";
const MEMBERS: usize = 10;
const PATIENCE: Duration = Duration::from_secs(10);
/// Between two kills: the lead is done with the one before.
const PAUSE: Duration = Duration::from_millis(300);

pub fn row() -> Fallible<Vec<Line>> {
    let mut place = Place::new()?;
    let spec = willing(&place, TEAM, MEMBERS, "restart = \"never\"")?;
    place.up(TEAM, &spec)?;
    let mut events = Tail::end(place.home().team(&name(TEAM)?).events())?;
    let (mut took, mut floors) = (Vec::new(), Vec::new());
    for member in place.team(TEAM)?.teammates() {
        std::thread::sleep(PAUSE);
        floors.push(killed_process(Helper::start(&["watching"])?.pid())?);
        let killed = clock::now();
        kill(member.pid.ok_or("no pid")?)?;
        took.push(ns(left_at(&mut events, member.name.as_str())?.since(killed)));
    }
    place.down(TEAM)?;
    let (spread, floor) = (Spread::of(&took), median(&floors));
    Ok(vec![Line {
        what: "a killed member → the lead's event".to_owned(),
        floor: format!("a killed process with one inotify watch → its pidfd: {}", time(floor)),
        measured: spread.show(time),
        ratio: times(spread.median / floor),
        must: "≤ 10 ms".to_owned(),
        verdict: Verdict::of(spread.median <= 10e6),
    }])
}

/// When the lead wrote that the member is gone: everything of its life had ended by then.
fn left_at(events: &mut Tail, member: &str) -> Fallible<Timestamp> {
    #[derive(serde::Deserialize)]
    struct Event {
        r#type: String,
        member: Option<String>,
    }
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE {
        for line in events.read(1 << 20)?.lines {
            let event: Event = line.parse()?;
            if event.r#type == "member_left" && event.member.as_deref() == Some(member) {
                return Ok(line.ts);
            }
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    Err(format!("the lead never noticed the end of {member}").into())
}

fn kill(pid: u32) -> Fallible<()> {
    let pid = Pid::from_raw(i32::try_from(pid)?).ok_or("no pid")?;
    Ok(kill_process(pid, Signal::KILL)?)
}

/// A process that holds an inotify watch, as each teammate does: the kernel ends it only when the watch is torn down.
pub fn watching(_: &[&str]) -> Fallible<()> {
    let watch = inotify::init(inotify::CreateFlags::CLOEXEC)?;
    inotify::add_watch(&watch, std::env::temp_dir(), inotify::WatchFlags::CREATE)?;
    wait_for_start()
}

/// Nanoseconds from the kill of a process to the wake-up on its pidfd.
fn killed_process(pid: u32) -> Fallible<f64> {
    let pidfd = pidfd_open(Pid::from_raw(i32::try_from(pid)?).ok_or("no pid")?, PidfdFlags::empty())?;
    let waiter = std::thread::spawn(move || {
        let mut fds = [PollFd::from_borrowed_fd(pidfd.as_fd(), PollFlags::IN)];
        poll(&mut fds, None).map(|_| now_ns())
    });
    // The waiter sleeps by the time of the kill.
    std::thread::sleep(Duration::from_millis(5));
    let killed = now_ns();
    kill(pid)?;
    let seen = waiter.join().map_err(|_| "the waiter panicked")??;
    Ok(seen.saturating_sub(killed) as f64)
}
