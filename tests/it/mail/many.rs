//! Many senders, many messages.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use crewmux::act::{Client, Send, Verb};
use crewmux::model::message::{Body, Message, Text};
use crewmux::model::name::{AgentId, Name};
use crewmux::os::clock::{new_message_id, now};
use crewmux::store::{Durability, Home, Journal};

use crate::puppet::team;
use crate::support::{Crew, until};

const SENDERS: usize = 16;
const EACH: usize = 500;

fn client(home: &Path) -> Client {
    Client::open(&Home::at(home.to_owned()), &Name::parse("t").expect("a name"), None).expect("the team")
}

fn send(client: &mut Client, text: String) {
    let send = Send { to: "sink".to_owned(), text, ..Send::default() };
    client.perform(Verb::Send(send)).expect("sent");
}

#[test]
#[ignore = "a child of `f02_none_of_many_senders_loses_a_message`"]
fn sends_its_share() {
    let home = std::env::var_os("CREWMUX_TEST_HOME").expect("set by the test that starts this");
    let mut client = client(Path::new(&home));
    for n in 0..EACH {
        send(&mut client, format!("{}:{n}", std::process::id()));
    }
}

#[test]
fn f02_none_of_many_senders_loses_a_message() {
    let crew = Crew::new();
    crew.up(&(team("t") + &crew.taker("sink") + &crew.puppet("hand")));
    let child = |_| {
        Command::new(std::env::current_exe().expect("this binary"))
            .args(["--exact", "mail::many::sends_its_share", "--ignored", "--nocapture"])
            .env("CREWMUX_TEST_HOME", crew.home())
            .stdout(Stdio::null())
            .spawn()
            .expect("starts")
    };
    let children: Vec<Child> = (0..SENDERS).map(child).collect();
    // Whole programs, a member's among them, in between.
    let inside = crew.order("hand", "for n in 0 1 2 3 4 5 6 7; do crewmux send sink hand:$n; done");
    for n in 0..8 {
        crew.ok(&["send", "sink", &format!("operator:{n}")]);
    }
    let mut names: Vec<String> = children.iter().map(|c| c.id().to_string()).collect();
    for mut child in children {
        assert!(child.wait().expect("ends").success());
    }
    assert_eq!(crew.outcome(&inside).code, 0, "the member has sent its own");
    let all = SENDERS * EACH + 16;
    let lines = || std::fs::read(crew.dir().join("sink.got")).map_or(0, |b| b.iter().filter(|b| **b == b'\n').count());
    until("all have arrived", || lines() >= all);
    let texts = crew.texts("sink");
    assert_eq!(texts.len(), all, "none twice");
    for name in &names {
        let own = texts.iter().filter_map(|t| t.strip_prefix(&format!("{name}:")));
        assert!(own.eq((0..EACH).map(|n| n.to_string())), "the order of {name} is kept");
    }
    names = vec!["hand".to_owned(), "operator".to_owned()];
    for name in &names {
        let own = texts.iter().filter_map(|t| t.strip_prefix(&format!("{name}:")));
        assert!(own.eq((0..8).map(|n| n.to_string())), "the order of {name} is kept");
    }
    // Whole lines, numbered without a gap.
    let file = crew.member("t", "sink").join("mail/inbox.jsonl");
    let text = std::fs::read_to_string(&file).expect("whole text");
    let seqs = text.lines().map(|l| serde_json::from_str::<serde_json::Value>(l).expect("a record")["seq"].as_u64());
    assert!(seqs.eq((1..=text.lines().count() as u64).map(Some)));
}

/// Puts messages into the mailbox, many under one lock.
fn append(crew: &Crew, count: usize) {
    let journal = Journal::open(crew.member("t", "sink").join("mail/inbox.jsonl"));
    let to = Name::parse("sink").expect("a name");
    let from = AgentId::new(Name::operator(), Name::parse("t").expect("a name"));
    let text = Body::Text(Text { content: Some("one of many".to_owned()), ..Text::default() });
    let messages: Vec<Message> =
        (0..count).map(|_| Message::new(new_message_id(), from.clone(), to.clone(), &text)).collect();
    for some in messages.chunks(1000) {
        let mut locked = journal.lock().expect("the lock");
        locked.append_all(some, now()).expect("appended");
        locked.finish(Durability::Fast).expect("finished");
    }
}

/// What a thread or process has read so far, in bytes.
fn read_by(io: &str) -> u64 {
    let text = std::fs::read_to_string(io).expect("counters");
    text.lines().find_map(|l| l.strip_prefix("rchar: ")).expect("rchar").trim().parse().expect("a number")
}

/// What sending one more message makes the sender and the recipient read, in bytes; the least of some, since other
/// things are read now and then.
fn cost(crew: &Crew, client: &mut Client, mark: &str) -> (u64, u64) {
    let teammate = format!("/proc/{}/io", crew.pid_of("t", "sink"));
    let mut least = (u64::MAX, u64::MAX);
    for n in 0..5 {
        let text = format!("{mark}-{n}");
        let before = (read_by("/proc/thread-self/io"), read_by(&teammate));
        send(client, text.clone());
        let sent = read_by("/proc/thread-self/io") - before.0;
        until("it has arrived", || last_text(crew).as_deref() == Some(text.as_str()));
        until("it was read", || crew.status("t", "sink")["unread"] == 0);
        least = (least.0.min(sent), least.1.min(read_by(&teammate) - before.1));
    }
    least
}

/// The last line of what the sink was given, without reading the rest.
fn last_text(crew: &Crew) -> Option<String> {
    use std::os::unix::fs::FileExt;
    let file = std::fs::File::open(crew.dir().join("sink.got")).ok()?;
    let size = file.metadata().ok()?.len();
    let mut end = vec![0; size.min(4096) as usize];
    let from = size - end.len() as u64;
    file.read_exact_at(&mut end, from).ok()?;
    let line = std::str::from_utf8(&end).ok()?.strip_suffix('\n')?.rsplit('\n').next()?.to_owned();
    Some(crate::puppet::text_of(&serde_json::from_str(&line).ok()?))
}

#[test]
fn f07_one_more_message_costs_the_same_behind_a_hundred_thousand() {
    let crew = Crew::new();
    crew.up(&(team("t") + &crew.taker("sink")));
    let mut client = client(&crew.home());
    append(&crew, 100);
    until("they were all read", || crew.status("t", "sink")["unread"] == 0);
    let few = cost(&crew, &mut client, "few");
    append(&crew, 100_000);
    until("they were all read", || crew.status("t", "sink")["unread"] == 0);
    let many = cost(&crew, &mut client, "many");
    // A cursor is read twice; its file keeps the length of the longest cursor it held, at most a page.
    let grown = |few: u64, many: u64| many > few + few / 5 + 2 * 4096;
    assert!(!grown(few.0, many.0), "the sender reads {} bytes, then {}", few.0, many.0);
    assert!(!grown(few.1, many.1), "the recipient reads {} bytes, then {}", few.1, many.1);
    // Its own files, not those of all processes of the machine.
    assert!(many.1 < 16 * 1024, "the recipient reads {} bytes for a message", many.1);
}
