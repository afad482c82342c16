//! Lines that are no messages.

use std::io::Write;

use crate::puppet::{team, text_of};
use crate::support::{Crew, kill, until};

fn put(crew: &Crew, bytes: &[u8]) {
    let path = crew.member("t", "writer").join("mail/inbox.jsonl");
    let mut file = std::fs::OpenOptions::new().append(true).open(path).expect("the inbox");
    file.write_all(bytes).expect("written");
}

#[test]
fn f08_damage_is_stepped_over_counted_and_never_repeated() {
    let crew = Crew::new();
    crew.up(&(team("t") + &crew.taker("writer")));
    let mut sent = Vec::new();
    let mut send = |text: String| {
        crew.ok(&["send", "writer", &text]);
        sent.push(text);
    };
    send("the first".to_owned());
    let long = format!("{{\"seq\":9,\"text\":\"{}\"\n", "x".repeat(1 << 20));
    let pieces: [&[u8]; 8] = [
        b"{\"seq\":2,\"ts\":\n",
        b"\0\0\0\0\0\0\0\0\n",
        b"\xff\xfe not text \xc3\n",
        long.as_bytes(),
        b"[1,2,3]\n",
        b"\n",
        b"{\"seq\":7,\"ts\":\"2026-01-01T00:00:00.000000Z\",\"id\":5,\"from\":true}\n",
        b"{\"seq\":8,\"half\":\"a li",
    ];
    for (n, piece) in pieces.iter().enumerate() {
        put(&crew, piece);
        send(format!("after piece {n}"));
    }
    crew.until_got("writer", "after piece 7");
    assert_eq!(crew.texts("writer"), sent);

    // The same in a life that reads them from the start of its memory.
    kill(crew.pid_of("t", "writer"), "KILL");
    crew.ok(&["send", "writer", "in the next life"]);
    sent.push("in the next life".to_owned());
    crew.until_got("writer", "in the next life");
    assert_eq!(crew.texts("writer"), sent);
    until("all was read", || crew.status("t", "writer")["unread"] == 0);
    // People can read the mailbox too.
    let shown = crew.ok(&["inbox", "--member", "writer", "--all", "--json"]);
    let shown: Vec<String> = shown.lines().map(|l| text_of(&serde_json::from_str(l).expect("a message"))).collect();
    assert_eq!(shown, sent);
    // Nothing was said about it again and again.
    let log = std::fs::read_to_string(crew.member("t", "writer").join("teammate.log")).unwrap_or_default();
    assert!(log.lines().count() < 40, "{log}");
}

#[test]
fn f08_damage_in_the_control_lane_does_not_stop_the_lead() {
    let crew = Crew::new();
    crew.up(&(team("t") + &crew.taker("writer")));
    let path = crew.member("t", "team-lead").join("mail/control.jsonl");
    let mut file = std::fs::OpenOptions::new().append(true).open(path).expect("the lane");
    file.write_all(b"{\"seq\":\n\0\0\n\xff\n{\"seq\":3,\"id\":\"x\"}\n{\"half").expect("written");
    let answer = crew.json(&["shutdown", "writer"]);
    assert_eq!(answer["stopped"][0], "writer");
}
