//! Queue depth, waiting until it was read, and durability.

use std::process::Stdio;

use serde_json::Value;

use crate::puppet::team;
use crate::support::{Crew, Ran, until};

#[test]
fn a_full_mailbox_refuses_and_says_so() {
    let crew = Crew::new();
    crew.up(&(team("t") + "[limits]\nqueue_depth = 3\n" + &crew.puppet("hand")));
    for n in 1..=3 {
        let sent = crew.json(&["send", "hand", "hello"]);
        assert_eq!(sent["deliveries"][0]["queued"], n, "{sent}");
    }
    let full = crew.fails(1, &["send", "hand", "one too many"]);
    assert!(full.err.contains('3') && full.err.contains("queue_depth"), "{}", full.err);
    assert_eq!(crew.inbox("t", "hand").len(), 3);
    let all = crew.fails(1, &["send", "*", "to all"]);
    assert!(all.err.contains("hand"), "{}", all.err);
    // Read is room.
    let read = crew.inside("hand", "crewmux inbox --ack --json");
    assert_eq!((read.code, read.out.lines().count()), (0, 3), "{read:?}");
    let sent = crew.json(&["send", "hand", "now it fits"]);
    assert_eq!(sent["deliveries"][0]["queued"], 1, "{sent}");
    assert_eq!(crew.inside("hand", "crewmux inbox").out.matches("now it fits").count(), 1);
    assert_eq!(crew.status("t", "hand")["unread"], 1, "a look alone moves nothing");
}

#[test]
fn one_sender_takes_no_more_than_its_part_and_the_others_still_get_through() {
    let crew = Crew::new();
    let limits = "[limits]\nqueue_depth = 50\nsender_depth = 3\nqueue_mib = 1\nblobs_mib = 1\n";
    crew.up(&(team("t") + limits + &crew.puppet("loud") + &crew.puppet("hand")));
    let flood =
        crew.inside("loud", "for n in 1 2 3 4 5; do crewmux send hand \"word $n\" || echo \"refused $?\"; done");
    assert_eq!(flood.out.matches("refused 1").count(), 2, "{flood:?}");
    assert!(flood.err.contains("limit for one sender is 3") && flood.err.contains("sender_depth"), "{flood:?}");
    crew.ok(&["send", "hand", "from somebody else"]);
    assert_eq!(crew.inbox("t", "hand").len(), 4);
    // What was read makes room again.
    assert_eq!(crew.inside("hand", "crewmux inbox --ack").code, 0);
    assert_eq!(crew.inside("loud", "crewmux send hand more").code, 0);

    // Long texts have a limit of their own, which counts each text once.
    crew.write("long.txt", &"x".repeat(700 * 1024));
    crew.write("longer.txt", &"y".repeat(700 * 1024));
    let sent = |file: &str| crew.inside("loud", &format!("crewmux send hand - <{file}"));
    assert_eq!(sent("long.txt").code, 0);
    let full = sent("longer.txt");
    assert!(full.code == 1 && full.err.contains("blobs_mib"), "{full:?}");
}

#[test]
fn a_sender_can_wait_until_it_was_read() {
    let crew = Crew::new();
    crew.up(&(team("t") + &crew.puppet("hand") + &crew.taker("writer")));
    let late = crew.fails(5, &["send", "hand", "not yet", "--wait=100ms", "--json"]);
    let sent: Value = serde_json::from_str(&late.out).expect("the id all the same");
    assert!(sent["id"].is_string() && sent["deliveries"][0]["read_at"].is_null(), "{sent}");
    assert!(late.err.contains("hand"), "{}", late.err);

    let mut waiting = crew.command(&["send", "hand", "read me", "--wait", "--json"]);
    let mut waiting = waiting.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts");
    until("it was sent", || crew.inbox("t", "hand").len() == 2);
    assert_eq!(crew.inside("hand", "crewmux inbox").code, 0);
    assert!(waiting.try_wait().expect("asks").is_none(), "shown is not read");
    assert_eq!(crew.inside("hand", "crewmux inbox --ack").code, 0);
    let ran = Ran::from(waiting.wait_with_output().expect("ends"));
    assert_eq!(ran.code, 0, "{ran:?}");
    let sent: Value = serde_json::from_str(&ran.out).expect("json");
    assert!(sent["deliveries"][0]["read_at"].is_string(), "{sent}");

    // What a program is given on its input is read with that; and members can wait too.
    crew.ok(&["send", "writer", "given", "--wait=30s"]);
    let inside = crew.inside("hand", "crewmux send writer 'given too' --wait=30s");
    assert_eq!(inside.code, 0, "{inside:?}");
    // Who ends before is said.
    let mut waiting = crew.command(&["send", "hand", "never read", "--wait"]);
    let waiting = waiting.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts");
    until("it was sent", || crew.inbox("t", "hand").len() == 3);
    crew.ok(&["stop", "hand"]);
    let ran = Ran::from(waiting.wait_with_output().expect("ends"));
    assert_eq!(ran.code, 1, "{ran:?}");
}

#[test]
fn durable_mail_is_on_disk_before_it_is_acknowledged() {
    let crew = Crew::new();
    let careful = crew.taker("careful") + "durable = true\n";
    crew.up(&(team("t") + &crew.taker("writer") + &careful));
    let traced = |args: &[&str]| {
        let plain = crew.command(args);
        let mut command = std::process::Command::new("strace");
        command.args(["-f", "-e", "trace=fdatasync,fsync,write,flock", "-o", "trace.txt"]).arg(plain.get_program());
        command.args(args).current_dir(crew.dir()).env_clear();
        command.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let ran = command.output().map(Ran::from)?;
        assert_eq!(ran.code, 0, "{ran:?}");
        std::fs::read_to_string(crew.dir().join("trace.txt"))
    };
    let Ok(trace) = traced(&["send", "writer", "safe", "--durable"]) else {
        return eprintln!("skipped: strace cannot be run here");
    };
    let at = |what: &str| trace.find(what).unwrap_or_else(|| panic!("no {what} in {trace}"));
    let (append, sync) = (at("\"{\\\"seq"), at("fdatasync("));
    assert!(append < sync && trace[sync..].contains("write(1"), "{trace}");
    let unlock = trace[append..].find("LOCK_UN").map(|n| n + append);
    assert!(unlock.is_none_or(|at| at < sync), "never synced under the lock: {trace}");
    let careful = traced(&["send", "careful", "by its spec"]).expect("as before");
    assert!(careful.contains("fdatasync("), "{careful}");
    let fast = traced(&["send", "writer", "talk"]).expect("as before");
    assert!(!fast.contains("sync("), "{fast}");
    crew.until_got("writer", "talk");
    crew.until_got("careful", "by its spec");
}
