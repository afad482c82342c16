use std::cell::RefCell;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::process::Signal;
use tokio::time::timeout;

use super::{LIMIT, program};
use crate::os::process;
use crate::os::relay::{Relay, RelayHandle};
use crate::os::spawn::{PtyChild, PtyStdin, spawn_on_pty};
use crate::os::terminal::{DEFAULT_SIZE, Master, RawMode, Winsize, open_pty, set_winsize, winsize};

/// Our own terminal, with the test as the person before it.
struct Outer {
    person: Master,
    terminal: OwnedFd,
    _raw: RawMode,
}

impl Outer {
    fn new() -> Self {
        let (person, terminal) = open_pty(DEFAULT_SIZE).unwrap();
        let raw = RawMode::enter(&terminal).unwrap().unwrap();
        Self { person: Master::new(person).unwrap(), terminal, _raw: raw }
    }

    fn relay(&self, argv: &[&str]) -> (Relay, RelayHandle, PtyChild) {
        let mut pty = spawn_on_pty(&program(argv), PtyStdin::Terminal, DEFAULT_SIZE).unwrap();
        let master = std::mem::replace(&mut pty.master, rustix::stdio::stdin().try_clone_to_owned().unwrap());
        let (relay, handle) = Relay::new(master, &self.terminal, &self.terminal).unwrap();
        (relay, handle, pty)
    }

    async fn type_all(&self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            bytes = &bytes[self.person.write(bytes).await.unwrap()..];
        }
    }

    /// Reads until what was shown ends so.
    async fn shows(&self, end: &[u8]) -> Vec<u8> {
        let mut shown = Vec::new();
        let mut buffer = [0; 4096];
        while !shown.ends_with(end) {
            let read = timeout(LIMIT, self.person.read(&mut buffer)).await;
            let length = read.unwrap_or_else(|_| panic!("shown: {:?}", String::from_utf8_lossy(&shown))).unwrap();
            shown.extend_from_slice(&buffer[..length]);
        }
        shown
    }
}

/// Reads raw bytes and gives them back, once it says so.
const RAW_CAT: [&str; 3] = ["sh", "-c", "stty raw -echo; printf ready; exec cat"];

#[tokio::test]
async fn every_byte_arrives_both_ways() {
    let outer = Outer::new();
    let (relay, handle, mut pty) = outer.relay(&RAW_CAT);
    let log = RefCell::new(Vec::new());
    let suspended = RefCell::new(0);
    let person = async {
        outer.shows(b"ready").await;
        let mut hostile: Vec<u8> = (0..=255).collect();
        hostile.extend_from_slice(b"\x1b[201~\x1b]0;x\x07\x03\x04\x1a\x11\x13%s$(rm)\\;");
        let hostile = hostile.repeat(200);
        let ((), shown) = tokio::join!(outer.type_all(&hostile), async {
            let mut shown = Vec::new();
            while shown.len() < hostile.len() {
                shown.extend(outer.shows(b"").await);
                let mut buffer = [0; 4096];
                let length = outer.person.read(&mut buffer).await.unwrap();
                shown.extend_from_slice(&buffer[..length]);
            }
            shown
        });
        assert!(shown == hostile, "{} of {} bytes", shown.len(), hostile.len());
        pty.child.kill().await.unwrap();
        handle.finish();
        hostile
    };
    let run = relay.run(|chunk| log.borrow_mut().extend_from_slice(chunk), || *suspended.borrow_mut() += 1);
    let (hostile, ended) = tokio::join!(person, run);
    ended.unwrap();
    assert!(log.borrow().strip_prefix(b"ready") == Some(&hostile[..]));
    assert_eq!(*suspended.borrow(), 0, "in raw mode Ctrl-Z is a byte like any other");
}

#[tokio::test]
async fn pastes_are_clean_and_marked_when_the_program_wants_it() {
    let outer = Outer::new();
    let script = r"stty raw -echo; printf '\033[?2004hready'; exec cat -v";
    let (relay, handle, mut pty) = outer.relay(&["sh", "-c", script]);
    let person = async {
        outer.shows(b"ready").await;
        assert!(handle.bracketed_paste());
        handle.paste(b"a\n\x1b[201~\x03b").await.unwrap();
        let shown = outer.shows(b"~^M").await;
        assert_eq!(String::from_utf8(shown).unwrap(), "^[[200~a^M[201~b^[[201~^M");
        handle.keys(b"\x1bq").await.unwrap();
        outer.shows(b"^[q").await;
        pty.child.kill().await.unwrap();
        handle.finish();
    };
    let (ended, ()) = tokio::join!(relay.run(|_| {}, || {}), person);
    ended.unwrap();
    assert_eq!(handle.paste(b"late").await.unwrap_err().kind(), std::io::ErrorKind::BrokenPipe);
}

#[tokio::test]
async fn ctrl_z_is_noticed_and_stops_nothing() {
    let outer = Outer::new();
    let (relay, handle, mut pty) = outer.relay(&["sh", "-c", "stty -echo; echo ready; exec cat"]);
    let suspended = RefCell::new(0);
    let person = async {
        outer.shows(b"ready\r\n").await;
        outer.type_all(b"\x1a").await;
        // The signal comes before the bytes typed after it, so a stopped program would never answer.
        outer.type_all(b"still here\r").await;
        outer.shows(b"still here\r\n").await;
        assert_ne!(process::stat(pty.id.pid).unwrap().state, 'T');
        // End of file at the start of a line.
        outer.type_all(b"\x04").await;
        assert_eq!(pty.child.wait().await.unwrap().to_string(), "exit status: 0");
        handle.finish();
    };
    let (ended, ()) = tokio::join!(relay.run(|_| {}, || *suspended.borrow_mut() += 1), person);
    ended.unwrap();
    assert_eq!(*suspended.borrow(), 1);
}

#[tokio::test]
async fn a_program_that_never_reads_stalls_nobody() {
    let outer = Outer::new();
    let (relay, handle, mut pty) = outer.relay(&["sh", "-c", "stty raw -echo; printf ready; exec sleep 1000"]);
    let person = async {
        outer.shows(b"ready").await;
        let paste = vec![b'x'; 1 << 20];
        assert!(timeout(Duration::from_millis(200), handle.paste(&paste)).await.is_err());
        // The relay still takes its orders.
        pty.child.kill().await.unwrap();
        handle.finish();
    };
    let (ended, ()) = tokio::join!(relay.run(|_| {}, || {}), person);
    ended.unwrap();
}

#[tokio::test]
async fn a_flood_lets_other_work_on_and_is_shown_whole() {
    const LINES: usize = 200_000;
    let outer = Outer::new();
    let script = format!("stty raw -echo; yes 0123456789 | head -n {LINES}; printf end");
    let (relay, handle, mut pty) = outer.relay(&["sh", "-c", &script]);
    let logged = RefCell::new(0);
    let turns = RefCell::new(0);
    let work = async {
        loop {
            *turns.borrow_mut() += 1;
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    let person = async {
        let shown = outer.shows(b"end").await;
        assert_eq!(shown.len(), LINES * 11 + 3);
        pty.child.wait().await.unwrap();
        handle.finish();
    };
    let relaying = async { tokio::join!(relay.run(|chunk| *logged.borrow_mut() += chunk.len(), || {}), person).0 };
    tokio::select! {
        ended = relaying => ended.unwrap(),
        () = work => unreachable!(),
    }
    assert_eq!(*logged.borrow(), LINES * 11 + 3);
    assert!(*turns.borrow() > 5, "{} turns", turns.borrow());
}

#[tokio::test]
async fn the_last_output_is_not_lost() {
    // Much at once just before the end, nobody reading meanwhile, and an outer that is no terminal.
    let script = "stty raw -echo; yes 0123456789 | head -c 60000; printf end";
    let mut pty = spawn_on_pty(&program(&["sh", "-c", script]), PtyStdin::Terminal, DEFAULT_SIZE).unwrap();
    // It ends if the kernel holds so much for it, else it waits for a reader: both must do.
    let _ = timeout(Duration::from_millis(300), pty.child.wait()).await;
    let null = std::fs::File::options().read(true).write(true).open("/dev/null").unwrap();
    let (relay, handle) = Relay::new(pty.master, &null, &null).unwrap();
    let mut log = Vec::new();
    let end = async {
        pty.child.wait().await.unwrap();
        handle.finish();
    };
    let (ended, ()) = tokio::join!(relay.run(|chunk| log.extend_from_slice(chunk), || {}), end);
    ended.unwrap();
    assert_eq!((log.len(), log.ends_with(b"end")), (60003, true));
}

#[tokio::test]
async fn a_program_may_close_its_terminal_and_open_it_again() {
    let outer = Outer::new();
    let script = "echo ready; exec 0<&- 1>&- 2>&-; sleep 0.3; echo again >/dev/tty; exit 5";
    let (relay, handle, mut pty) = outer.relay(&["sh", "-c", script]);
    let person = async {
        outer.shows(b"ready\r\nagain\r\n").await;
        assert_eq!(pty.child.wait().await.unwrap().code(), Some(5));
        handle.finish();
    };
    let (ended, ()) = tokio::join!(relay.run(|_| {}, || {}), person);
    ended.unwrap();
}

#[tokio::test]
async fn what_was_left_behind_does_not_hold_the_end_up() {
    let outer = Outer::new();
    // It ignores the hang-up and writes for ever.
    let script = "trap '' HUP; (while echo again; do sleep 0.01; done) & echo ready; sleep 0.1; exit 0";
    let (relay, handle, mut pty) = outer.relay(&["sh", "-c", script]);
    let person = async {
        pty.child.wait().await.unwrap();
        handle.finish();
    };
    let (ended, ()) = tokio::join!(relay.run(|_| {}, || {}), person);
    ended.unwrap();
}

#[tokio::test]
async fn the_size_of_our_terminal_is_passed_on() {
    let outer = Outer::new();
    let script = "trap 'stty size; exit' WINCH; echo ready; while :; do sleep 0.01; done";
    let (relay, handle, mut pty) = outer.relay(&["sh", "-c", script]);
    let person = async {
        outer.shows(b"ready\r\n").await;
        let size = Winsize { ws_row: 50, ws_col: 132, ws_xpixel: 0, ws_ypixel: 0 };
        set_winsize(&outer.person, size).unwrap();
        assert_eq!(winsize(&outer.terminal).map(|size| size.ws_col), Some(132));
        // It is not this process's controlling terminal, so the kernel does not tell us.
        rustix::process::kill_process(rustix::process::getpid(), Signal::WINCH).unwrap();
        outer.shows(b"50 132\r\n").await;
        pty.child.wait().await.unwrap();
        handle.finish();
    };
    let (ended, ()) = tokio::join!(relay.run(|_| {}, || {}), person);
    ended.unwrap();
}
