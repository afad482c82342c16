//! What is not ours stays.

use crate::puppet::team;
use crate::support::{Crew, lives};

/// What a person left running ends with the test.
struct Theirs(Vec<u32>);

impl Drop for Theirs {
    fn drop(&mut self) {
        for pid in &self.0 {
            let _ = std::process::Command::new("kill").arg("-9").arg(pid.to_string()).output();
        }
    }
}

#[test]
fn f20_a_persons_panes_on_our_server_outlive_the_team() {
    let crew = Crew::new();
    crew.up(&(team("t") + &crew.taker("a") + &crew.taker("b")));
    let ours = crew.panes("t");
    let format = ["-P", "-F", "#{pane_pid}"];
    let made = |args: &[&str]| {
        let ran = crew.tmux("t", &[args, &format, &["sleep", "1000"]].concat());
        ran.trim().parse::<u32>().expect("a pid")
    };
    let socket = crew.tmux("t", &["display-message", "-p", "#{socket_path}"]).trim().to_owned();
    let beside = made(&["split-window", "-d", "-t", "=crewmux-t:"]);
    let window = made(&["new-window", "-d", "-t", "=crewmux-t:"]);
    let session = made(&["new-session", "-d", "-s", "mine"]);
    let server: u32 = crew.tmux("t", &["display-message", "-p", "#{pid}"]).trim().parse().expect("a pid");

    let _theirs = Theirs(vec![server, beside, window, session]);

    let down = crew.run(&["down"]);
    assert_eq!(down.code, 0, "{down:?}");
    assert!(down.err.contains("left"), "it says what was left: {}", down.err);
    assert!(lives(server));
    for pid in [beside, window, session] {
        assert!(lives(pid), "a pane of the person's was closed");
    }
    for pid in ours {
        assert!(!lives(pid), "a pane of ours is left");
    }
    let left =
        std::process::Command::new("tmux").args(["-S", &socket, "list-panes", "-a", "-F", "#{pane_pid}"]).output();
    let left = String::from_utf8_lossy(&left.expect("tmux runs").stdout).into_owned();
    let mut left: Vec<u32> = left.lines().filter_map(|l| l.parse().ok()).collect();
    left.sort_unstable();
    let mut mine = [beside, window, session];
    mine.sort_unstable();
    assert_eq!(left, mine);

    // The same name again, while that server still runs.
    crew.ok(&["up", "spec.toml"]);
    crew.ok(&["send", "a", "again"]);
    crew.until_got("a", "again");
    crew.ok(&["down"]);
    assert!(lives(session));
}

#[test]
fn f20_shutting_a_member_down_closes_its_own_pane_only() {
    let crew = Crew::new();
    crew.up(&(team("t") + &crew.taker("a") + &crew.taker("b")));
    let mine = crew.tmux("t", &["split-window", "-d", "-P", "-F", "#{pane_pid}", "-t", "=crewmux-t:", "sleep", "1000"]);
    let mine: u32 = mine.trim().parse().expect("a pid");
    let server = crew.tmux("t", &["display-message", "-p", "#{pid}"]).trim().parse().expect("a pid");
    let _theirs = Theirs(vec![server, mine]);
    let (a, b) = (crew.pid_of("t", "a"), crew.pid_of("t", "b"));
    crew.ok(&["shutdown", "a"]);
    let panes = crew.panes("t");
    assert!(!panes.contains(&a) && panes.contains(&b) && panes.contains(&mine), "{panes:?}");
    crew.ok(&["down"]);
    assert!(lives(mine));
}
