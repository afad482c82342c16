//! The room on a real tmux. Each test has a private server in a folder of its own and kills that server by its process id.

mod argv;
mod attaching;
mod ending;
mod foreign;
mod many;
mod speed;

use super::*;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A private server; ended when dropped.
struct Team {
    tmux: Tmux,
    started: Started,
    dir: tempfile::TempDir,
    extra: Vec<u32>,
}

impl Drop for Team {
    fn drop(&mut self) {
        for pid in self.extra.iter().chain([&self.started.server_pid]) {
            kill(*pid, rustix::process::Signal::KILL);
        }
    }
}

fn kill(pid: u32, signal: rustix::process::Signal) {
    if let Some(pid) = rustix::process::Pid::from_raw(pid.cast_signed()) {
        let _ = rustix::process::kill_process(pid, signal);
    }
}

fn folder() -> tempfile::TempDir {
    tempfile::Builder::new().prefix("cm").tempdir_in("/tmp").unwrap()
}

fn spec(argv: &[&str], cwd: &Path) -> PaneSpec {
    let argv = argv.iter().map(OsString::from).collect();
    PaneSpec {
        argv,
        cwd: cwd.to_owned(),
        env: Vec::new(),
        title: "t".into(),
        label: "name: idle".into(),
        color: "cyan".into(),
    }
}

fn idle() -> PaneSpec {
    spec(&["sleep", "1000"], Path::new("/"))
}

async fn team() -> Team {
    team_with(|tmux, _| tmux, (80, 24)).await
}

async fn team_with(how: impl FnOnce(Tmux, &Path) -> Tmux, size: (u16, u16)) -> Team {
    let dir = folder();
    // A limit for a loaded machine: what a test waits for is seldom the limit itself.
    let tmux = how(Tmux::new(dir.path().join("s")).with_limit(Duration::from_secs(20)), dir.path());
    let started = tmux.start("crewmux-team-1", size, &idle()).await.unwrap();
    Team { tmux, started, dir, extra: Vec::new() }
}

impl Team {
    /// What plain tmux says of this server.
    fn raw(&self, args: &[&str]) -> String {
        raw(self.tmux.socket(), args)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }
}

fn raw(socket: &Path, args: &[&str]) -> String {
    let out = std::process::Command::new("tmux")
        .args(["-u", "-f", "/dev/null", "-S"])
        .arg(socket)
        .args(args)
        .env_remove("TMUX")
        .output()
        .unwrap();
    String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr)
}

/// A program of three lines, to stand in for tmux or to be run in a pane.
fn script(path: &Path, body: &str) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::write(path, format!("#!/bin/sh\n{body}\n")).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// Waits for a condition; the time is only where waiting ends.
async fn until<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let end = Instant::now() + Duration::from_secs(30);
    loop {
        if let Some(found) = look().await {
            return found;
        }
        assert!(Instant::now() < end, "never: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

async fn file(path: &Path) -> Vec<u8> {
    until(&format!("the file {}", path.display()), async || std::fs::read(path).ok()).await
}
