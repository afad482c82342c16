//! When an ended program is started again.

use crate::support::{Crew, until};

fn team(restart: &str, script: &str) -> String {
    format!(
        "v = 1\nname = \"again\"\n[[member]]\nname = \"voice\"\nengine = \"command\"\nrestart = \"{restart}\"\n\
         command = [\"sh\", \"-c\", \"{script}\"]\n"
    )
}

/// Lives a moment, then ends with what the file `code` says.
const MORTAL: &str = "echo start >>starts; sleep 0.2; exit $(cat code)";

fn starts(crew: &Crew) -> usize {
    crew.read("starts").lines().count()
}

#[test]
fn on_failure_starts_again_after_a_failure_with_growing_pauses() {
    let crew = Crew::new();
    crew.write("code", "3");
    crew.up(&team("on-failure", MORTAL));
    until("three starts", || starts(&crew) >= 3);
    crew.write("code", "0");
    until("it ended well and stays so", || crew.entry("again", "voice")["is_active"] == false);
    assert_eq!(crew.status("again", "voice")["exit"]["code"], 0);
    let restarts = crew.status("again", "voice")["restarts"].as_u64().expect("a count");
    assert_eq!(restarts as usize, starts(&crew) - 1);
    let events = crew.events("again");
    let time = |e: &serde_json::Value, key: &str| -> f64 {
        // Seconds of the hour are enough here.
        let text = e[key].as_str().expect("a time");
        let (minute, second) = (&text[14..16], text[17..].trim_end_matches('Z'));
        minute.parse::<f64>().expect("minutes") * 60.0 + second.parse::<f64>().expect("seconds")
    };
    let pauses: Vec<f64> = events
        .iter()
        .filter(|e| e["type"] == "member_restarting")
        .map(|e| (time(e, "at") - time(e, "ts")).rem_euclid(3600.0))
        .collect();
    assert!(pauses.len() >= 2, "{events:#?}");
    assert!(
        (0.4..0.6).contains(&pauses[0]) && (0.9..1.1).contains(&pauses[1]),
        "half a second, then a second: {pauses:?}"
    );
    let ended = events.iter().find(|e| e["type"] == "member_ended").expect("an end");
    assert!(ended["not_restarted"].as_str().is_some_and(|w| w.contains("ended well")), "{ended}");
}

#[test]
fn always_starts_again_after_a_good_end_too() {
    let crew = Crew::new();
    crew.write("code", "0");
    crew.up(&team("always", MORTAL));
    until("a second start", || starts(&crew) >= 2);
    // A stop is meant.
    crew.ok(&["stop", "voice"]);
    assert_eq!(crew.entry("again", "voice")["is_active"], false);
    assert_eq!(crew.status("again", "voice")["alive"], false);
}

#[test]
fn never_is_never_and_restart_brings_it_back() {
    let crew = Crew::new();
    crew.write("code", "5");
    crew.up(&team("never", MORTAL));
    until("it is out", || crew.entry("again", "voice")["is_active"] == false);
    let exit = crew.status("again", "voice")["exit"].clone();
    assert_eq!((exit["code"].as_i64(), exit["reason"].as_str()), (Some(5), Some("exited")));
    assert_eq!(crew.status("again", "voice")["state"], "failed");
    crew.fails(4, &["send", "voice", "hello"]);
    crew.ok(&["send", "voice", "for later", "--queue"]);
    let before = starts(&crew);
    crew.ok(&["restart", "voice"]);
    until("it is started", || starts(&crew) == before + 1);
    assert!(crew.ok(&["inbox", "--member", "voice"]).contains("for later"));
}
