//! The handshake: done means gone.

use std::process::Stdio;

use crate::puppet::team;
use crate::support::{Crew, Ran, kill, lives, until, with_environment};

/// A program that heeds no request to end, with a grandchild in a session of its own that does not either.
const DEAF: &str = "#!/bin/sh
trap '' TERM HUP INT
setsid sh -c 'trap \"\" TERM HUP INT; while :; do sleep 1000; done' &
( trap '' TERM HUP; while :; do sleep 1000; done ) &
while :; do sleep 1000; done
";

#[test]
fn f16_done_means_gone_whatever_the_program_ignores() {
    let crew = Crew::new();
    crew.script("deaf.sh", DEAF);
    crew.up(&(team("t")
        + "\n[[member]]\nname = \"deaf\"\nengine = \"command\"\ncommand = [\"./deaf.sh\"]\n"
        + &crew.taker("other")));
    let teammate = crew.pid_of("t", "deaf");
    let family = || with_environment("CREWMUX_MEMBER", "deaf").into_iter().filter(|p| of(&crew, *p)).count();
    // Three shells and what they wait for.
    until("its family is there", || family() >= 6);
    let answer = crew.json(&["shutdown", "deaf", "--grace", "100ms"]);
    assert_eq!(answer["stopped"][0], "deaf", "{answer}");
    assert_eq!(family(), 0);
    assert!(!lives(teammate));
    assert!(!crew.panes("t").contains(&teammate), "its pane is closed");
    let status = crew.status("t", "deaf");
    assert_eq!(status["alive"], false, "{status}");
    assert_eq!(crew.status("t", "other")["alive"], true);
}

/// Whether a process belongs to this test's home.
fn of(crew: &Crew, pid: u32) -> bool {
    with_environment("CREWMUX_HOME", crew.home().to_str().expect("plain")).contains(&pid)
}

#[test]
fn f17_a_refusal_reaches_who_asked_and_the_member_works_on() {
    let crew = Crew::new();
    crew.up(&(team("t") + &crew.puppet("hand") + "on_shutdown = \"ask\"\n" + &crew.taker("other")));
    let mut asked = crew.command(&["shutdown", "hand", "--grace", "60s", "--reason", "the day is over"]);
    let mut asked = asked.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts");
    until("the request is in its mailbox", || crew.inbox("t", "hand").iter().any(|m| m["type"] == "shutdown_request"));
    let mail = crew.inside("hand", "crewmux inbox --json --ack");
    let mail: serde_json::Value = serde_json::from_str(&mail.out).expect("one message");
    assert_eq!(mail["body"]["reason"], "the day is over", "{mail}");
    let id = mail["body"]["request_id"].as_str().expect("an id").to_owned();
    assert!(asked.try_wait().expect("asks").is_none(), "nothing was decided yet");
    let said = crew.inside("hand", &format!("crewmux reject {id} --reason 'half a page to go'"));
    assert_eq!(said.code, 0, "{said:?}");
    let ran = Ran::from(asked.wait_with_output().expect("ends"));
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.err.contains("half a page to go") && ran.err.contains("hand"), "{}", ran.err);

    let again = crew.inside("hand", &format!("crewmux approve {id}"));
    assert_eq!(again.code, 7, "decided is decided: {again:?}");
    crew.ok(&["send", "hand", "go on then"]);
    until("it is there", || crew.inside("hand", "crewmux inbox").out.contains("go on then"));
    assert_eq!(crew.inside("hand", "crewmux send other 'I go on'").code, 0);
    crew.until_got("other", "I go on");
    assert_eq!(crew.status("t", "hand")["state"], "idle");
    assert_eq!(crew.json(&["requests"]).as_array().map(Vec::len), Some(0));

    // `down` is asked too; the team stays up when one refuses.
    let down = crew.command(&["down"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts");
    until("asked again", || crew.json(&["requests"]).as_array().is_some_and(|r| r.len() == 1));
    let open = crew.json(&["requests"]);
    let id = open[0]["id"].as_str().expect("an id");
    assert_eq!(crew.inside("hand", &format!("crewmux reject {id} --reason 'not now'")).code, 0);
    let ran = Ran::from(down.wait_with_output().expect("ends"));
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.err.contains("not now") && ran.err.contains("--force"), "{}", ran.err);
    assert_eq!(crew.status("t", "hand")["alive"], true);

    // And it agrees when it is done.
    let asked =
        crew.command(&["shutdown", "hand"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts");
    until("asked a third time", || crew.json(&["requests"]).as_array().is_some_and(|r| r.len() == 1));
    let open = crew.json(&["requests"]);
    let id = open[0]["id"].as_str().expect("an id");
    // Whoever approves its own end may not live to hear that it was done.
    crew.order("hand", &format!("crewmux approve {id}"));
    let ran = Ran::from(asked.wait_with_output().expect("ends"));
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(crew.status("t", "hand")["alive"], false);
}

#[test]
fn f18_peers_cannot_end_each_other_or_the_lead() {
    let crew = Crew::new();
    crew.up(&(team("t") + &crew.puppet("hand") + &crew.taker("other")));
    let pids = ["team-lead", "hand", "other"].map(|m| crew.pid_of("t", m));
    let spec = crew.dir().join("spec.toml");
    for verb in [
        "stop other",
        "stop hand",
        "stop team-lead",
        "stop lead",
        "restart other",
        "restart team-lead",
        "shutdown other",
        "shutdown other --force",
        "shutdown hand",
        "shutdown lead",
        "shutdown --all",
        "shutdown --all --force",
        "down",
        "down --force",
        "down --team t --force",
    ] {
        for pose in ["", "env -u CREWMUX_MEMBER -u CREWMUX_LIFE ", "env CREWMUX_MEMBER=team-lead CREWMUX_ROLE=lead "] {
            let ran = crew.inside("hand", &format!("{pose}crewmux {verb}"));
            assert!(ran.code == 4 || (ran.code == 2 && verb.contains("lead")), "{pose}{verb}: {ran:?}");
            assert!(ran.err.contains("hint:") || ran.err.contains("cannot") || ran.code == 2, "{verb}: {}", ran.err);
        }
    }
    let resumed = crew.inside("hand", "crewmux up --resume t");
    assert!(matches!(resumed.code, 4 | 7), "{resumed:?}");
    let up = crew.inside("hand", &format!("crewmux up {}", spec.display()));
    assert!(matches!(up.code, 4 | 7), "{up:?}");
    // Words that only the lead may say, in its own lane, by a line in the outbox.
    let raw = "id=$(cat /proc/sys/kernel/random/uuid)\n\
               printf '{\"seq\":1,\"ts\":\"2026-01-01T00:00:00.000000Z\",\"id\":\"%s\",\"life\":\"%s\",\
               \"verb\":{\"verb\":\"shutdown\",\"name\":\"other\",\"force\":true}}\\n' $id $CREWMUX_LIFE \
               >>\"$CREWMUX_HOME/teams/t/members/hand/mail/outbox.jsonl\"\n";
    let replies = crew.member("t", "hand").join("replies.jsonl");
    let before = crew.journal(&replies).len();
    assert_eq!(crew.inside("hand", raw).code, 0);
    until("it is answered", || crew.journal(&replies).len() > before);
    assert_eq!(crew.journal(&replies).last().expect("an answer")["error"]["code"], 4);

    assert_eq!(crew.inside("hand", "crewmux send other 'we all live'").code, 0);
    crew.until_got("other", "we all live");
    assert_eq!(pids, ["team-lead", "hand", "other"].map(|m| crew.pid_of("t", m)));
    assert!(pids.iter().all(|p| lives(*p)));
    let events = crew.events("t");
    assert!(!events.iter().any(|e| e["type"] == "request_opened" || e["type"] == "member_left"), "{events:#?}");
}

#[test]
fn f19_a_stuck_member_holds_up_nobody_beyond_the_grace() {
    let crew = Crew::new();
    let mute = crew.taker("mute") + "on_shutdown = \"ask\"\n";
    crew.up(&(team("t") + &crew.taker("well") + &crew.taker("asleep") + &crew.taker("frozen") + &mute));
    let pids = ["well", "asleep", "frozen", "mute"].map(|m| crew.pid_of("t", m));
    // Its teammate (whom tmux wakes), and the program of another, whom nobody wakes.
    kill(pids[1], "STOP");
    let program = std::fs::read_to_string(format!("/proc/{0}/task/{0}/children", pids[2])).expect("children");
    let program: u32 = program.trim().parse().expect("one child");
    kill(program, "STOP");
    // Long enough for one that is well, on a machine that has much else to do.
    let answer = crew.json(&["shutdown", "--all", "--grace", "4s"]);
    let names = |key: &str| {
        let mut names: Vec<String> =
            answer[key].as_array().expect("a list").iter().filter_map(|n| n.as_str()).map(str::to_owned).collect();
        names.sort();
        names
    };
    assert_eq!(names("stopped"), ["asleep", "frozen", "mute", "well"], "{answer}");
    assert!(names("forced").contains(&"mute".to_owned()), "{answer}");
    assert!(!names("forced").contains(&"well".to_owned()), "{answer}");
    assert!(pids.iter().chain([&program]).all(|p| !lives(*p)));
    crew.ok(&["down"]);
    until("nothing is left", || crew.processes().is_empty());
}

#[test]
fn f19_a_team_whose_processes_were_all_stopped_goes_down() {
    let crew = Crew::new();
    crew.up(&(team("t") + &crew.taker("a") + &crew.taker("b")));
    // The server first: it would wake the others.
    let server = crew.tmux("t", &["display-message", "-p", "#{pid}"]).trim().parse().expect("a pid");
    kill(server, "STOP");
    for pid in crew.processes() {
        kill(pid, "STOP");
    }
    crew.ok(&["down", "--force", "--grace", "100ms"]);
    until("nothing is left", || crew.processes().is_empty());
}
