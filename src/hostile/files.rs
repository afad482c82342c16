//! Files of a team, as a crash, another version or a hand may have left them.

use std::collections::HashSet;
use std::path::PathBuf;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use tempfile::TempDir;

use crate::act::board::{BoardLog, LedgerLog};
use crate::act::outbox::{Reply, Wish};
use crate::model::id::{Life, MessageId};
use crate::model::message::{Body, Lane, Message, Text};
use crate::model::name::{AgentId, Name};
use crate::model::team::{Exit, Status, Team};
use crate::store::intake::Intake;
use crate::store::{Durability, Folded, Journal, LeaseText, MemberDir, Position, StateLog, Tail, cursors, mailbox};
use crate::view::letter::letter;

/// Small enough that many a line lies across a look's end.
const LOOK_BYTES: usize = 256;

fn file(bytes: &[u8]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("x.jsonl");
    std::fs::write(&path, bytes).expect("written");
    (folder, path)
}

/// Each line is a record or bad, none is both or lost; and after all of them the journal goes on.
pub fn journal(bytes: &[u8]) {
    let (_folder, path) = file(bytes);
    let mut tail = Tail::new(&path, Position::default());
    let (mut records, mut bad, mut last) = (0, 0, 0);
    loop {
        let batch = tail.read(LOOK_BYTES).expect("it can be read");
        for line in &batch.lines {
            assert!(line.start < line.end && line.end <= bytes.len() as u64);
            let there = &bytes[usize::try_from(line.start).expect("small")..usize::try_from(line.end).expect("small")];
            assert_eq!(there.strip_suffix(b"\n"), Some(line.json.as_bytes()));
            let _ = line.parse::<Wish>();
            let _ = line.parse::<Reply>();
            last = last.max(line.seq);
        }
        records += batch.lines.len();
        bad += batch.bad.len();
        if !batch.more {
            break;
        }
    }
    assert!(records + bad <= bytes.iter().filter(|b| **b == b'\n').count());
    let Ok(appended) = Journal::open(&path).append(&json!({"said": "afterwards"}), Durability::Fast) else { return };
    let mut tail = Tail::new(&path, Position::default());
    let mut found = None;
    loop {
        let batch = tail.read(LOOK_BYTES).expect("it can be read");
        found = batch.lines.last().cloned().or(found);
        if !batch.more {
            break;
        }
    }
    let found = found.expect("what was written is there");
    assert_eq!((found.seq, found.json.contains("afterwards")), (appended.seq, true), "{}", found.json);
}

/// Records of any kind are folded, and what follows from them can be written and folded again.
fn folds<F: Folded>(bytes: &[u8]) -> F {
    let (_folder, path) = file(bytes);
    let mut log = StateLog::<F>::open(path);
    log.view().expect("it can be read");
    let snapshot = log.state().snapshot();
    let text = serde_json::to_string(&snapshot).expect("a snapshot is JSON");
    let mut again = F::default();
    again.apply(serde_json::from_str(&text).expect("and back"), 1, crate::model::time::Timestamp(0));
    let twice = serde_json::to_string(&again.snapshot()).expect("JSON");
    assert_eq!(twice, text, "a snapshot holds the whole state");
    again
}

pub fn board(bytes: &[u8]) {
    let board = folds::<BoardLog>(bytes).board;
    let now = crate::model::time::Timestamp(0);
    let _ = board.expire(now, std::time::Duration::ZERO);
    let _ = board.next_deadline(std::time::Duration::ZERO);
    let _ = board.return_stale(&Name::operator(), None, &Name::lead(), now);
}

pub fn ledger(bytes: &[u8]) {
    let mut ledger = folds::<LedgerLog>(bytes).0;
    for record in ledger.expire(crate::model::time::Timestamp(i64::MAX)) {
        ledger.apply(record);
    }
    assert!(ledger.open_requests().iter().all(|request| request.expires.is_none()));
    let _ = ledger.unanswered();
}

/// Whatever the cursors say: no message comes twice in a life, and each comes or counts as handed over.
pub fn cursor(bytes: &[u8]) {
    const MAIL: u64 = 5;
    let folder = tempfile::tempdir().expect("a folder");
    let dir = MemberDir::at(folder.path().join("m"));
    dir.create().expect("folders");
    let from = AgentId::new(Name::operator(), Name::parse("t").expect("a name"));
    for n in 0..MAIL {
        let id = MessageId::derived(&["mail", &n.to_string()]);
        let body = Body::Text(Text { content: Some(n.to_string()), ..Text::default() });
        let message = Message::new(id, from.clone(), Name::lead(), &body);
        mailbox::deliver(&dir, &message, Lane::Inbox, Durability::Fast, true).expect("delivered");
    }
    std::fs::write(dir.cursors(), bytes).expect("written");
    cursors::read(&dir).expect("read, or taken for empty");
    let Ok(mut intake) = Intake::open(&dir, Lane::Inbox) else { return };
    if intake.poll().is_err() || intake.give_back_unread().is_err() {
        // A newer version's, which is left alone.
        return;
    }
    let ids: Vec<MessageId> = intake.waiting().iter().map(|w| w.id).collect();
    assert_eq!(ids.iter().collect::<HashSet<_>>().len(), ids.len(), "none twice");
    let given = intake.begin(&ids).expect("begun");
    assert_eq!(given.len(), ids.len());
    intake.finish_read().expect("finished");
    assert!(intake.waiting().is_empty());
    let mut next = Intake::open(&dir, Lane::Inbox).expect("what we wrote fits");
    next.poll().expect("polled");
    assert!(next.waiting().is_empty(), "nothing comes again");
}

fn comes_back<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(bytes: &[u8]) -> Option<T> {
    let value: T = serde_json::from_slice(bytes).ok()?;
    let text = serde_json::to_string(&value).expect("it is JSON");
    assert_eq!(serde_json::from_str::<T>(&text).expect("and back"), value);
    Some(value)
}

/// Files that are replaced whole.
pub fn documents(bytes: &[u8]) {
    comes_back::<Status>(bytes);
    comes_back::<Exit>(bytes);
    comes_back::<LeaseText>(bytes);
    if let Some(team) = comes_back::<Team>(bytes) {
        let _ = team.id8();
        let _ = team.agent_leads();
        let ledger = crate::decide::ledger::Ledger::default();
        let mut lead = crate::decide::lead::Lead::new(team, ledger);
        lead.begin(&[], Life::derived(&["fuzz"]), crate::model::time::Timestamp(0));
    }
}

/// A message is what it was after it was written down, and shown it is one element.
pub fn message(bytes: &[u8]) {
    let Some(message) = comes_back::<Message>(bytes) else { return };
    if let Some(body) = message.typed() {
        let (kind, value) = body.to_parts();
        assert_eq!(kind, message.kind);
        let again = Message { body: value, ..message.clone() };
        assert_eq!(again.typed(), Some(body));
    }
    let shown = letter(&message, message.content().unwrap_or_default(), true).expect("memory can be written");
    assert!(!shown.contains('\u{1b}'), "{shown:?}");
}
