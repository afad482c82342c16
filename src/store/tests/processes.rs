//! Real processes: this test binary run again, as one of the ignored tests below.

use std::process::{Child, Command, Stdio};

use super::*;

/// A command that runs `test` of this file in a process of its own, on the journal `file`.
fn child(test: &str, file: &std::path::Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    as_child(&mut command, test, file);
    command
}

fn as_child(command: &mut Command, test: &str, file: &std::path::Path) {
    let test = format!("store::tests::processes::{test}");
    command.args(["--exact", &test, "--ignored", "--nocapture"]).env("CREWMUX_TEST_FILE", file);
    command.stdout(Stdio::null());
}

fn file() -> PathBuf {
    PathBuf::from(std::env::var_os("CREWMUX_TEST_FILE").expect("set by the test that starts this"))
}

#[test]
#[ignore = "a child of `processes_take_turns_without_gap_or_loss`"]
fn appends_a_hundred() {
    let journal = Journal::open(file());
    for n in 0..100 {
        let mut locked = journal.lock().unwrap();
        locked.rotate_if(20_000).unwrap();
        locked.append(&word(format!("{}:{n}", std::process::id()))).unwrap();
        locked.finish(Durability::Fast).unwrap();
    }
}

#[test]
fn processes_take_turns_without_gap_or_loss() {
    let place = place();
    let children: Vec<Child> = (0..8).map(|_| child("appends_a_hundred", &place.file()).spawn().unwrap()).collect();
    let pids: Vec<u32> = children.iter().map(Child::id).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let (seen, bad) = words(&place.file());
    assert_eq!((seen.len(), bad), (800, 0));
    assert!(seen.iter().zip(1..).all(|((seq, _), n)| *seq == n), "no gap");
    for pid in pids {
        let own = seen.iter().filter_map(|(_, w)| w.strip_prefix(&format!("{pid}:")));
        assert!(own.eq((0..100).map(|n| n.to_string())), "each writer's order is kept");
    }
}

#[test]
#[ignore = "a child of `a_disk_that_takes_no_more_leaves_whole_records`"]
fn appends_until_it_is_refused() {
    let journal = Journal::open(file());
    let error = (0..1000).find_map(|n| journal.append(&word(n), Durability::Fast).err()).expect("a refusal");
    assert!(error.is_full(), "{error}");
    let error = journal.append(&word("again"), Durability::Durable).unwrap_err();
    assert!(error.is_full() && error.hint().is_some(), "{error}");
}

#[test]
fn a_disk_that_takes_no_more_leaves_whole_records() {
    let place = place();
    // A limit on the size of files stands for the full disk; the signal that goes with it is ignored.
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' XFSZ; ulimit -f 2; exec \"$0\" \"$@\""]).arg(std::env::current_exe().unwrap());
    as_child(&mut shell, "appends_until_it_is_refused", &place.file());
    assert!(shell.status().unwrap().success());
    let text = std::fs::read_to_string(place.file()).unwrap();
    assert!(text.ends_with("}\n") && text.len() <= 2048, "cut off again");
    let (seen, bad) = words(&place.file());
    assert_eq!(bad, 0);
    let next = Journal::open(place.file()).append(&word("room"), Durability::Fast).unwrap();
    assert_eq!(next.seq, seen.len() as u64 + 1);
}

#[test]
#[ignore = "a child of `a_lease_ends_with_its_process`"]
fn holds_a_lease_until_it_is_killed() {
    let _lease = Lease::take(&file(), &lease_text("child"), lease::RETRY).unwrap();
    std::thread::park();
}

#[test]
fn a_lease_ends_with_its_process() {
    let place = place();
    let path = place.member.lease();
    let mut child = child("holds_a_lease_until_it_is_killed", &path).spawn().unwrap();
    let mut watch = Watch::start([place.member.state_dir()]);
    while lease::text(&path).is_none_or(|t| t.pid != child.id()) {
        assert!(child.try_wait().unwrap().is_none(), "it lives");
        watch.wait_blocking(std::time::Duration::from_millis(50));
    }
    assert!(lease::is_held(&path).unwrap());
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!lease::is_held(&path).unwrap());
    Lease::take(&path, &lease_text("next"), lease::RETRY).unwrap();
}
