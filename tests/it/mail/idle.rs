//! Idle is a state, not a message.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::puppet::team;
use crate::support::{Crew, until};

/// Size and time of every file below a folder.
fn files(dir: &Path) -> BTreeMap<PathBuf, (u64, SystemTime)> {
    let mut all = BTreeMap::new();
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let meta = entry.metadata().expect("what it is");
        if meta.is_dir() {
            all.extend(files(&entry.path()));
        } else {
            all.insert(entry.path(), (meta.len(), meta.modified().expect("a time")));
        }
    }
    all
}

fn written_by(pid: u32) -> u64 {
    let io = std::fs::read_to_string(format!("/proc/{pid}/io")).expect("counters");
    io.lines().find_map(|l| l.strip_prefix("wchar: ")).expect("wchar").trim().parse().expect("a number")
}

#[test]
fn f15_an_idle_team_writes_nothing() {
    let crew = Crew::new();
    let hand = "\n[[member]]\nname = \"hand\"\nengine = \"worker\"\n[[task]]\nsubject = \"short\"\nrun = [\"true\"]\n";
    crew.up(&(team("t") + &crew.taker("writer") + &crew.puppet("reader") + hand));
    crew.ok(&["wait", "--for", "idle", "--timeout", "30s"]);
    let state = |member: &str| crew.status("t", member)["state"].clone();
    until("all are idle", || ["writer", "reader", "hand"].iter().all(|m| state(m) == "idle"));
    let pids = ["writer", "reader", "hand"].map(|m| crew.pid_of("t", m));
    // Another team's working time is our idle time: its first tenth lets late writes through.
    crew.write(
        "clock.toml",
        "v = 1\nname = \"clock\"\n[[member]]\nname = \"hand\"\nengine = \"worker\"\n\
         [[task]]\nkey = \"a\"\nsubject = \"settle\"\nrun = [\"sleep\", \"0.5\"]\n\
         [[task]]\nsubject = \"tick\"\nrun = [\"sleep\", \"3\"]\nblocked_by = [\"a\"]\n",
    );
    let mut clock = crew.command(&["run", "./clock.toml"]).spawn().expect("starts");
    until("the clock ticks", || {
        let tick = crew.run(&["task", "show", "2", "--team", "clock", "--json"]);
        tick.out.contains("in_progress")
    });
    let before = (files(&crew.team("t")), pids.map(written_by));
    assert!(clock.wait().expect("ends").success());
    let after = (files(&crew.team("t")), pids.map(written_by));
    assert_eq!(before.0, after.0);
    // A wake-up of a thread is eight bytes into an eventfd.
    let few = before.1.iter().zip(after.1).all(|(before, after)| after - before < 64);
    assert!(few, "not even to the terminal: {:?}, then {:?}", before.1, after.1);
    // And it is awake.
    crew.ok(&["send", "writer", "still there"]);
    crew.until_got("writer", "still there");
}
