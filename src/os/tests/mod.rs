//! The mechanisms with real processes.

mod life;
mod reap;
mod relay;
mod spawn;

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::process::{self, ProcessId};
use super::spawn::Program;

/// Far longer than anything here takes; only a defect waits so long.
const LIMIT: Duration = Duration::from_secs(60);

fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + LIMIT;
    while !condition() {
        assert!(Instant::now() < deadline, "never came true: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn program(argv: &[&str]) -> Program {
    Program {
        argv: argv.iter().map(Into::into).collect(),
        cwd: PathBuf::from("/"),
        env: vec![("PATH".into(), std::env::var_os("PATH").unwrap_or_default()), ("TERM".into(), "xterm".into())],
    }
}

/// Runs the test `name` of this file's crate in a process of its own, where `CREWMUX_TEST_ALONE` is set.
fn alone(name: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &format!("os::tests::{name}"), "--nocapture", "--test-threads=1"])
        .env(ALONE, "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

const ALONE: &str = "CREWMUX_TEST_ALONE";

fn is_alone() -> bool {
    std::env::var_os(ALONE).is_some()
}

fn id(child: &Child) -> ProcessId {
    process::stat(child.id()).unwrap().id()
}
