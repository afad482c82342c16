//! From an append in one process to the engine's input in another, against half a round trip on a Unix socket, and
//! beside it what looking once a second gives.

use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::time::Duration;

use crewmux::model::id::MessageId;
use crewmux::model::message::Lane;
use crewmux::os::clock;
use crewmux::store::intake::Intake;
use crewmux::store::{Durability, MemberDir, Watch, mailbox};

use crate::helper::{Helper, median_of, wait_for_start};
use crate::place::{Place, message};
use crate::stats::{Spread, median, now_ns, time, times};
use crate::table::{Line, Verdict};
use crate::{Fallible, ROUNDS};

/// Messages a round.
const COUNT: usize = 500;
/// Between two messages: long enough for the reader to fall asleep again.
const PAUSE: Duration = Duration::from_millis(2);
/// What others do.
const POLL: Duration = Duration::from_secs(1);

pub fn row() -> Fallible<Vec<Line>> {
    let (mut ours, mut halves, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let place = Place::new()?;
        let (half, handed) = (round_trip(&place)? / 2.0, handed(&place, "read", COUNT)?);
        halves.push(half);
        ours.push(handed);
        ratios.push(handed / half);
    }
    let polled = handed(&Place::new()?, "poll", 2 * COUNT)?;
    let (measured, ratio) = (Spread::of(&ours), median(&ratios));
    let floor = format!("half a Unix-socket round trip: {}", time(median(&halves)));
    Ok(vec![
        Line {
            what: "append in one process → handed to the engine in another".to_owned(),
            floor: floor.clone(),
            measured: measured.show(time),
            ratio: times(ratio),
            must: "≤ 6× and ≤ 0.3 ms".to_owned(),
            verdict: Verdict::of(ratio <= 6.0 && measured.median <= 300_000.0),
        },
        Line {
            what: "the same by looking once a second, as others do".to_owned(),
            floor,
            measured: time(polled),
            ratio: format!("{:.0}×", polled / median(&halves)),
            must: "—".to_owned(),
            verdict: Verdict::Open,
        },
    ])
}

/// The median of messages that one helper writes and another takes.
fn handed(place: &Place, how: &str, count: usize) -> Fallible<f64> {
    let dir = place.mailbox(how)?.path().display().to_string();
    let count = count.to_string();
    let mut reader = Helper::start(&[how, &dir, &count])?;
    let mut writer = Helper::start(&["write", &dir, &count])?;
    reader.go()?;
    writer.go()?;
    writer.numbers()?;
    median_of(&mut reader)
}

/// The median round trip of a message's length between this process and a helper.
fn round_trip(place: &Place) -> Fallible<f64> {
    let path = place.path().join("echo");
    let listener = UnixListener::bind(&path)?;
    let mut echo = Helper::start(&["echo", &path.to_string_lossy()])?;
    echo.go()?;
    let (mut socket, _) = listener.accept()?;
    let (line, mut back) = ([b'x'; 400], [0; 400]);
    let mut trips = Vec::with_capacity(COUNT);
    for _ in 0..COUNT {
        let begun = now_ns();
        socket.write_all(&line)?;
        socket.read_exact(&mut back)?;
        trips.push((now_ns() - begun) as f64);
        std::thread::sleep(PAUSE);
    }
    drop(socket);
    echo.numbers()?;
    Ok(median(&trips))
}

/// `echo SOCKET`
pub fn echo(args: &[&str]) -> Fallible<()> {
    let [path] = args else { return Err("echo SOCKET".into()) };
    wait_for_start()?;
    let mut socket = UnixStream::connect(path)?;
    let mut line = [0; 400];
    while socket.read_exact(&mut line).is_ok() {
        socket.write_all(&line)?;
    }
    Ok(())
}

/// `write DIR COUNT`: each message says when its delivery began.
pub fn write(args: &[&str]) -> Fallible<()> {
    let [dir, count] = args else { return Err("write DIR COUNT".into()) };
    let (dir, count) = (MemberDir::at(dir.into()), count.parse::<usize>()?);
    wait_for_start()?;
    for _ in 0..count {
        let message = message(clock::new_message_id(), &now_ns().to_string())?;
        mailbox::deliver(&dir, &message, Lane::Inbox, Durability::Fast, false)?;
        std::thread::sleep(PAUSE);
    }
    Ok(())
}

/// The receiving end, as a teammate has it: what is handed over is first noted as being on its way.
struct Reader {
    intake: Intake,
    /// The engine's input.
    engine: std::io::PipeWriter,
    latencies: Vec<u64>,
}

impl Reader {
    fn open(dir: &MemberDir) -> Fallible<Self> {
        let (mut output, engine) = std::io::pipe()?;
        std::thread::spawn(move || std::io::copy(&mut output, &mut std::io::sink()));
        Ok(Self { intake: Intake::open(dir, Lane::Inbox)?, engine, latencies: Vec::new() })
    }

    fn look(&mut self) -> Fallible<()> {
        self.intake.poll()?;
        let ids: Vec<MessageId> = self.intake.waiting().iter().map(|w| w.id).collect();
        if ids.is_empty() {
            return Ok(());
        }
        for waiting in self.intake.begin(&ids)? {
            let mut line = serde_json::to_vec(&waiting.message)?;
            line.push(b'\n');
            self.engine.write_all(&line)?;
            let sent: u64 = waiting.message.content().unwrap_or_default().parse()?;
            self.latencies.push(now_ns() - sent);
        }
        self.intake.finish_read()?;
        Ok(())
    }

    fn print(&self) {
        self.latencies.iter().for_each(|ns| println!("{ns}"));
    }
}

/// `read DIR COUNT`: woken by the kernel.
pub fn read(args: &[&str]) -> Fallible<()> {
    let [dir, count] = args else { return Err("read DIR COUNT".into()) };
    let (dir, count) = (MemberDir::at(dir.into()), count.parse::<usize>()?);
    let mut watch = Watch::start([dir.mail_dir()]);
    let mut reader = Reader::open(&dir)?;
    wait_for_start()?;
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
        while reader.latencies.len() < count {
            reader.look()?;
            if reader.latencies.len() < count {
                watch.changed().await;
            }
        }
        Ok::<_, Box<dyn std::error::Error>>(())
    })?;
    reader.print();
    Ok(())
}

/// `poll DIR COUNT`: looks once a second.
pub fn poll(args: &[&str]) -> Fallible<()> {
    let [dir, count] = args else { return Err("poll DIR COUNT".into()) };
    let (dir, count) = (MemberDir::at(dir.into()), count.parse::<usize>()?);
    let mut reader = Reader::open(&dir)?;
    wait_for_start()?;
    while reader.latencies.len() < count {
        std::thread::sleep(POLL);
        reader.look()?;
    }
    reader.print();
    Ok(())
}
