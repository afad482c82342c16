//! Appending to one mailbox from several processes, against a C-like loop of the same system calls.

use std::path::Path;

use crewmux::model::message::Lane;
use crewmux::os::clock;
use crewmux::store::{Durability, MemberDir, mailbox};
use rustix::fs::{self, FlockOperation, Mode, OFlags};

use crate::helper::{print_span, race, wait_for_start};
use crate::place::{Place, message};
use crate::stats::{Spread, median, now_ns, rate, times};
use crate::table::{Line, Verdict};
use crate::{Fallible, ROUNDS};

/// Appends of all writers together, a round.
const APPENDS: usize = 32_000;
const TEXT: &str = "Please look at src/store/journal.rs first: the tail is read under the lock, and what a writer that \
                    died left behind is ended before anything is appended. Tell me what you find.";

pub fn row() -> Fallible<Vec<Line>> {
    [1, 4, 16].into_iter().map(measure).collect()
}

fn measure(writers: usize) -> Fallible<Line> {
    let (mut rates, mut floors, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let place = Place::new()?;
        let round = |what: &str| -> Fallible<f64> {
            let dir = place.mailbox(what)?;
            let args = [what.to_owned(), dir.path().display().to_string(), (APPENDS / writers).to_string()];
            let (took, _) = race(&vec![args.to_vec(); writers])?;
            Ok(APPENDS as f64 / (took / 1e9))
        };
        let (ours, floor) = (round("append")?, round("append-floor")?);
        rates.push(ours);
        floors.push(floor);
        ratios.push(ours / floor);
    }
    let (measured, ratio) = (Spread::of(&rates), median(&ratios));
    let plural = if writers == 1 { "" } else { "s" };
    Ok(Line {
        what: format!("append to a mailbox, {writers} writer{plural}"),
        floor: format!("the same system calls: {}", rate(median(&floors))),
        measured: measured.show(rate),
        ratio: times(ratio),
        must: "≥ 0.70× and ≥ 50k/s".to_owned(),
        verdict: Verdict::of(ratio >= 0.7 && measured.median >= 50_000.0),
    })
}

/// `append DIR COUNT`
pub fn ours(args: &[&str]) -> Fallible<()> {
    let [dir, count] = args else { return Err("append DIR COUNT".into()) };
    let (dir, count) = (MemberDir::at(dir.into()), count.parse::<usize>()?);
    let mut message = message(clock::new_message_id(), TEXT)?;
    wait_for_start()?;
    let begun = now_ns();
    for _ in 0..count {
        message.id = clock::new_message_id();
        mailbox::deliver(&dir, &message, Lane::Inbox, Durability::Fast, false)?;
    }
    print_span(begun);
    Ok(())
}

/// `append-floor DIR COUNT`: what any program must do that keeps to the same rules, and nothing else.
pub fn floor(args: &[&str]) -> Fallible<()> {
    let [dir, count] = args else { return Err("append-floor DIR COUNT".into()) };
    let count = count.parse::<usize>()?;
    let path = Path::new(dir).join("mail/inbox.jsonl");
    let sidecar = Path::new(dir).join("mail/inbox.jsonl.lock");
    let json = serde_json::to_string(&message(clock::new_message_id(), TEXT)?)?;
    let line = format!("{{\"seq\":123456,\"ts\":\"{}\",{}\n", clock::now(), &json[1..]);
    let mut tail = vec![0; 4096];
    wait_for_start()?;
    let begun = now_ns();
    for _ in 0..count {
        let mode = Mode::RUSR | Mode::WUSR;
        let lock = fs::open(&sidecar, OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC, mode)?;
        fs::flock(&lock, FlockOperation::LockExclusive)?;
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::APPEND | OFlags::CLOEXEC;
        let file = fs::open(&path, flags, mode)?;
        let size = u64::try_from(fs::fstat(&file)?.st_size)?;
        let seen = rustix::io::pread(&file, &mut *tail, size.saturating_sub(4096))?;
        if seen > 0 && tail[seen - 1] != b'\n' {
            return Err("a torn tail".into());
        }
        if rustix::io::write(&file, line.as_bytes())? != line.len() {
            return Err("a short write".into());
        }
        fs::flock(&lock, FlockOperation::Unlock)?;
        drop(file);
        drop(lock);
    }
    print_span(begun);
    Ok(())
}
