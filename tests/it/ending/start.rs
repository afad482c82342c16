//! A launch is whole or not at all.

use std::process::Stdio;

use crate::puppet::team;
use crate::support::{Crew, Ran, kill, until};

/// Eight members, the last of which never gets ready.
fn eight(crew: &Crew) -> String {
    let mut spec = team("t") + "[limits]\nhello = \"60s\"\n";
    for n in 0..7 {
        spec += &crew.taker(&format!("m{n}"));
    }
    spec + "\n[[member]]\nname = \"late\"\nengine = \"command\"\ndeliver = \"paste\"\ncommand = [\"sleep\", \"1000\"]\n"
}

fn begin(crew: &Crew) -> std::process::Child {
    crew.write("spec.toml", &eight(crew));
    let mut up = crew.command(&["up", "./spec.toml"]);
    let up = up.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts");
    until("all eight run", || {
        let programs = crew.processes().into_iter().filter(|p| {
            let environment = std::fs::read(format!("/proc/{p}/environ")).unwrap_or_default();
            environment.split(|b| *b == 0).any(|e| e.starts_with(b"CREWMUX_MEMBER="))
        });
        programs.count() >= 8
    });
    up
}

fn nothing_is_left(crew: &Crew) {
    until("nothing runs", || crew.processes().is_empty());
    assert!(!crew.team("t").exists(), "half a team: {}", crew.json(&["ls"]));
}

#[test]
fn f24_ctrl_c_in_a_launch_undoes_it() {
    let crew = Crew::new();
    let up = begin(&crew);
    kill(up.id(), "INT");
    let ran = Ran::from(up.wait_with_output().expect("ends"));
    assert_eq!(ran.code, 130, "{ran:?}");
    nothing_is_left(&crew);
    // And the name is free.
    crew.up(&(team("t") + &crew.taker("m0")));
}

#[test]
fn f24_a_launch_whose_command_was_killed_undoes_itself() {
    let crew = Crew::new();
    let mut up = begin(&crew);
    kill(up.id(), "KILL");
    up.wait().expect("ends");
    nothing_is_left(&crew);
    crew.up(&(team("t") + &crew.taker("m0")));
}

#[test]
fn f24_one_that_does_not_start_undoes_all() {
    let crew = Crew::new();
    let mut spec = team("t");
    for n in 0..7 {
        spec += &crew.taker(&format!("m{n}"));
    }
    spec += "\n[[member]]\nname = \"late\"\nengine = \"command\"\ncommand = [\"sh\", \"-c\", \"echo no licence; exit 3\"]\n";
    crew.write("spec.toml", &spec);
    let ran = crew.fails(1, &["up", "./spec.toml"]);
    assert!(ran.err.contains("late") && ran.err.contains("no licence") && ran.err.contains('3'), "{}", ran.err);
    nothing_is_left(&crew);
}

#[test]
fn f24_a_lead_killed_in_a_launch_fails_it() {
    let crew = Crew::new();
    let up = begin(&crew);
    let lease = std::fs::read(crew.team("t").join("lead.lease")).expect("a lease");
    let lease: serde_json::Value = serde_json::from_slice(&lease).expect("json");
    kill(u32::try_from(lease["pid"].as_u64().expect("a pid")).expect("a pid"), "KILL");
    let ran = Ran::from(up.wait_with_output().expect("ends"));
    assert_eq!(ran.code, 1, "{ran:?}");
    nothing_is_left(&crew);
}
