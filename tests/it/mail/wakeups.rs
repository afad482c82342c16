//! A lost wake-up costs a moment, never a message.

use std::io::Write;

use crate::puppet::team;
use crate::support::{Crew, Ran, kill};

#[test]
fn f14_without_inotify_mail_arrives_all_the_same() {
    let crew = Crew::new();
    crew.write("spec.toml", &(team("t") + &crew.taker("writer") + &crew.puppet("hand")));
    // A user namespace of one's own has limits of its own.
    let plain = crew.command(&[]);
    let mut command = std::process::Command::new("unshare");
    command
        .args([
            "-Ur",
            "sh",
            "-c",
            "echo 0 >/proc/sys/user/max_inotify_instances || exit 99; exec \"$0\" up ./spec.toml",
        ])
        .arg(plain.get_program())
        .current_dir(crew.dir())
        .env_clear()
        .envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let ran = command.output().map(Ran::from).expect("unshare runs");
    if ran.code == 99 || ran.err.contains("unshare") {
        return eprintln!("skipped: no user namespace to be had here: {}", ran.err);
    }
    assert_eq!(ran.code, 0, "{ran:?}\n{}", crew.trouble());
    crew.ok(&["send", "writer", "seen by looking"]);
    crew.until_got("writer", "seen by looking");
    let ran = crew.inside("hand", "crewmux send writer 'from a member'");
    assert_eq!(ran.code, 0, "{ran:?}");
    crew.until_got("writer", "from a member");
    let status = std::fs::read_to_string(crew.member("t", "writer").join("state/status.json")).expect("a status");
    assert!(status.contains("polling"), "it is said: {status}");
    let answer = crew.json(&["shutdown", "writer"]);
    assert_eq!(answer["stopped"][0], "writer");
}

#[test]
fn f14_an_overflowing_queue_of_events_hides_nothing() {
    let crew = Crew::new();
    crew.up(&(team("t") + &crew.taker("writer")));
    let limit = std::fs::read_to_string("/proc/sys/fs/inotify/max_queued_events").expect("a limit");
    let limit: usize = limit.trim().parse().expect("a number");
    let teammate = crew.pid_of("t", "writer");
    kill(teammate, "STOP");
    // Two files in turn: equal events in a row would be one.
    let mail = crew.member("t", "writer").join("mail");
    let open = |name: &str| std::fs::File::create(mail.join(name)).expect("a file");
    let (mut a, mut b) = (open("a"), open("b"));
    for _ in 0..limit {
        a.write_all(b".").expect("written");
        b.write_all(b".").expect("written");
    }
    crew.ok(&["send", "writer", "among too many"]);
    kill(teammate, "CONT");
    crew.until_got("writer", "among too many");
    crew.ok(&["send", "writer", "and after"]);
    crew.until_got("writer", "and after");
}

#[test]
fn f14_a_folder_that_went_silent_is_looked_at_within_seconds() {
    let crew = Crew::new();
    crew.up(&(team("t") + &crew.taker("writer")));
    crew.ok(&["send", "writer", "before"]);
    crew.until_got("writer", "before");
    // Another folder in its place: the watch is on the old one, and hears nothing.
    let mail = crew.member("t", "writer").join("mail");
    let old = mail.with_extension("old");
    std::fs::rename(&mail, &old).expect("moved");
    let copied = std::process::Command::new("cp").arg("-a").args([&old, &mail]).status().expect("cp runs");
    assert!(copied.success());
    crew.ok(&["send", "writer", "in silence"]);
    crew.until_got("writer", "in silence");
    assert_eq!(crew.texts("writer"), ["before", "in silence"]);
}
