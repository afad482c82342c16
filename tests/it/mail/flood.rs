//! One member that writes without measure: the disk stays as it is, and the others' mail goes on.

use std::os::unix::fs::MetadataExt;

use crate::puppet::team;
use crate::support::{Crew, until};

const MIB: u64 = 1024 * 1024;

#[test]
fn a_flood_of_rubbish_in_an_outbox_fills_no_disk_and_holds_up_nobody() {
    let crew = Crew::new();
    crew.up(&(team("t") + &crew.puppet("loud") + &crew.taker("writer")));
    // It says something, writes 64 MiB that are nothing, a verb of a dead life among them, and speaks again.
    let outbox = crew.member("t", "loud").join("mail/outbox.jsonl");
    let flood = format!(
        "crewmux send writer before\nyes \"$(printf '%01000d' 7)\" | head -c 67108864 >>{0}\necho >>{0}\n\
         echo '{{\"seq\":7,\"ts\":\"2026-01-01T00:00:00.000000Z\",\"id\":\"x\",\"life\":\"y\",\"verb\":{{}}}}' >>{0}\n\
         crewmux send writer after",
        outbox.display()
    );
    let order = crew.order("loud", &flood);
    crew.until_got("writer", "before");
    crew.ok(&["send", "writer", "from elsewhere"]);
    crew.until_got("writer", "from elsewhere");
    assert_eq!(crew.outcome(&order).code, 0);
    crew.until_got("writer", "after");
    let meta = || std::fs::metadata(&outbox).expect("an outbox");
    assert!(meta().len() >= 64 * MIB);
    until("its room is given back", || meta().blocks() * 512 < 12 * MIB);
    // Whoever floods hears all the same, and ends as others do.
    let answer = crew.json(&["shutdown", "loud"]);
    assert_eq!(answer["stopped"][0], "loud", "{answer}");
    // The next life begins a file of its own; the one before it stays, and no more of them.
    for round in 0..2 {
        crew.ok(&["restart", "loud"]);
        assert_eq!(crew.inside("loud", &format!("crewmux send writer round-{round}")).code, 0);
        crew.until_got("writer", &format!("round-{round}"));
        assert!(meta().len() < MIB);
    }
    assert_eq!(segments(&crew, "mail", "outbox.jsonl"), ["outbox.jsonl", "outbox.jsonl.1"]);
}

#[test]
fn answers_stay_within_two_files() {
    let crew = Crew::new();
    crew.up(&(team("t") + &crew.puppet("loud")));
    // A task whose every answer is long.
    crew.write("long.txt", &"x".repeat(200 * 1024));
    let add = "crewmux task add long --owner loud --description - <long.txt";
    assert_eq!(crew.inside("loud", add).code, 0);
    let ran = crew.inside(
        "loud",
        "for n in $(seq 60); do crewmux task claim 1 >out && crewmux task release 1 >out || exit 1; done",
    );
    assert_eq!(ran.code, 0, "{ran:?}");
    let files = segments(&crew, "", "replies.jsonl");
    assert_eq!(files.len(), 2, "{files:?}");
    for file in files {
        let len = std::fs::metadata(crew.member("t", "loud").join(&file)).expect("there").len();
        assert!(len < 9 * MIB, "{file}: {len}");
    }
}

/// The files of a journal of `loud`.
fn segments(crew: &Crew, folder: &str, journal: &str) -> Vec<String> {
    let files = std::fs::read_dir(crew.member("t", "loud").join(folder)).expect("a folder").flatten();
    let names = files.filter_map(|entry| entry.file_name().into_string().ok());
    let mut own: Vec<String> = names.filter(|n| n.starts_with(journal) && !n.ends_with(".lock")).collect();
    own.sort();
    own
}
