use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::store::journal::last_seq;

#[test]
fn a_record_begins_with_seq_and_ts_and_the_first_one_names_its_segment() {
    let place = place();
    let journal = Journal::open(place.file());
    assert!(!place.file().exists(), "opening touches nothing");
    let first = journal.append(&word("a"), Durability::Fast).unwrap();
    let second = journal.append(&serde_json::json!({}), Durability::Durable).unwrap();
    assert_eq!((first.seq, second.seq, first.end), (1, 2, second.start));
    let text = fs::read_to_string(place.file()).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with(&format!("{{\"seq\":1,\"ts\":\"{}\",\"segment\":\"", first.ts)));
    assert!(lines[0].ends_with(",\"word\":\"a\"}"));
    assert_eq!(lines[1], format!("{{\"seq\":2,\"ts\":\"{}\"}}", second.ts));
    assert_eq!(last_seq(&place.file()).unwrap(), 2);
    let mode = |p: &std::path::Path| fs::metadata(p).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&place.file()), mode(place.team.path())), (0o600, 0o700));
}

#[test]
fn the_journals_own_fields_cannot_be_given() {
    let place = place();
    let journal = Journal::open(place.file());
    for payload in [serde_json::json!({"seq": 7}), serde_json::json!({"ts": "x"}), serde_json::json!([1])] {
        assert!(matches!(journal.append(&payload, Durability::Fast), Err(StoreError::Invalid { .. })));
    }
    assert!(!place.file().exists());
}

#[test]
fn a_message_comes_back_as_it_was_sent_unknown_fields_and_all() {
    let place = place();
    let mut sent = message(clock::new_message_id(), "hello\nworld \u{1F980}");
    sent.extra.insert("colour".into(), "blue".into());
    Journal::open(place.file()).append(&sent, Durability::Fast).unwrap();
    let batch = Tail::new(place.file(), Position::default()).read(1000).unwrap();
    assert_eq!(batch.lines[0].parse::<Message>().unwrap(), sent);
    // A program that writes its lines in another form is understood too.
    let spaced = batch.lines[0].json.replacen("\"seq\":1,", "\"seq\": 2, ", 1);
    writeln!(OpenOptions::new().append(true).open(place.file()).unwrap(), "{spaced}").unwrap();
    let batch = Tail::new(place.file(), Position::default()).read(10_000).unwrap();
    assert_eq!(batch.lines[1].parse::<Message>().unwrap(), sent);
}

#[test]
fn nothing_is_made_for_a_team_or_member_that_is_not_there() {
    let place = place();
    let nobody = place.team.member(&name("nobody"));
    let error = Journal::open(nobody.inbox()).append(&word("x"), Durability::Fast).unwrap_err();
    assert!(matches!(error, StoreError::NoMember(ref p) if p == nobody.path()), "{error}");
    assert!(!nobody.path().exists());
    let gone = place.home.team(&name("gone"));
    for path in [gone.member(&name("x")).inbox(), gone.tasks()] {
        let error = Journal::open(path).append(&word("x"), Durability::Fast).unwrap_err();
        assert!(matches!(error, StoreError::NoTeam(ref p) if p == gone.path()), "{error}");
    }
    assert!(!gone.path().exists());
}

#[test]
fn a_closed_journal_refuses_until_it_is_opened() {
    let place = place();
    let journal = Journal::open(place.file());
    journal.append(&word("a"), Durability::Fast).unwrap();
    let mut locked = journal.lock().unwrap();
    locked.close("left").unwrap();
    locked.close("again").unwrap();
    assert_eq!(locked.tail().unwrap().closed.as_deref(), Some("left"));
    drop(locked);
    let refused = |j: &Journal| match j.append(&word("b"), Durability::Fast) {
        Err(StoreError::Closed { reason, .. }) => reason,
        other => panic!("{other:?}"),
    };
    assert_eq!(refused(&journal), "left");
    // Another process reads it from the file.
    drop(journal);
    let journal = Journal::open(place.file());
    assert_eq!(refused(&journal), "left");
    journal.lock().unwrap().reopen("restarted").unwrap();
    assert_eq!(journal.append(&word("c"), Durability::Fast).unwrap().seq, 4);
    let seen: Vec<String> = words(&place.file()).0.into_iter().map(|(_, w)| w).collect();
    assert_eq!(seen, ["a", "Some(Closed)", "Some(Opened)", "c"]);
}

#[test]
fn a_team_made_anew_in_the_same_place_is_written_to_not_the_old_one() {
    let place = place();
    let journal = Journal::open(place.member.inbox());
    journal.append(&word("old"), Durability::Fast).unwrap();
    let dead = place.home.bury(&name("audit")).unwrap();
    assert!(matches!(journal.append(&word("lost"), Durability::Fast), Err(StoreError::NoTeam(_))));
    TeamDir::create_new(&place.home, &name("audit"), |staging| staging.member(&name("scan")).create()).unwrap();
    assert_eq!(journal.append(&word("new"), Durability::Fast).unwrap().seq, 1);
    assert_eq!(words(&place.member.inbox()).0, [(1, "new".into())]);
    assert_eq!(words(&dead.member(&name("scan")).inbox()).0, [(1, "old".into())]);
}

#[test]
fn bad_lines_are_counted_and_hide_nothing() {
    let place = place();
    let journal = Journal::open(place.file());
    let raw = |bytes: &[u8]| {
        journal.append(&word("ok"), Durability::Fast).unwrap();
        OpenOptions::new().append(true).open(place.file()).unwrap().write_all(bytes).unwrap();
    };
    raw(b"{\"seq\":99,\"ts\":\"no time\"}\n");
    raw(b"\0\0\0\0\n");
    raw(b"{\"seq\":5,\"ts\":\"2026-01-01T00:00:00Z\",\"word\":\"\xff\"}\n");
    raw(b"\n");
    raw(&[b"x".repeat(1_000_000), b"\n".to_vec()].concat());
    raw(&[b"{".repeat(1_000_000), b"\n".to_vec()].concat());
    raw(b"{\"seq\":1,\"seq\":2,\"ts\":\"2026-01-01T00:00:00Z\"}\n");
    let (seen, bad) = words(&place.file());
    assert_eq!(seen.iter().map(|(seq, _)| *seq).collect::<Vec<_>>(), (1..=7).collect::<Vec<_>>());
    assert_eq!(bad, 7);
    assert_eq!(journal.append(&word("ok"), Durability::Fast).unwrap().seq, 8);
}

#[test]
fn junk_without_an_end_is_waited_for_without_being_kept() {
    let place = place();
    fs::write(place.file(), b"x".repeat(3_000_000)).unwrap();
    let mut tail = Tail::new(place.file(), Position::default());
    assert_eq!(tail.read(1000).unwrap(), Batch::default());
    Journal::open(place.file()).append(&word("a"), Durability::Fast).unwrap();
    let batch = tail.read(10_000_000).unwrap();
    assert_eq!((batch.bad[0].len, batch.lines[0].seq), (3_000_001, 1));
    assert!(batch.lines[0].segment.is_some());
}

#[test]
fn an_id_is_found_where_it_is_the_records_own() {
    let place = place();
    let journal = Journal::open(place.file());
    let ids: Vec<MessageId> = (0..50).map(|_| clock::new_message_id()).collect();
    for id in &ids {
        journal.append(&message(*id, "x"), Durability::Fast).unwrap();
    }
    let stranger = clock::new_message_id();
    let mut quoting = message(clock::new_message_id(), "x");
    quoting.body = serde_json::json!({"id": stranger});
    journal.append(&quoting, Durability::Fast).unwrap();
    let mut locked = journal.lock().unwrap();
    assert_eq!(locked.find_id(&ids[0]).unwrap(), Some(1));
    assert_eq!(locked.find_id(&ids[49]).unwrap(), Some(50));
    assert_eq!(locked.find_id(&stranger).unwrap(), None);
}

#[test]
fn threads_take_turns_without_gap_or_loss() {
    let place = place();
    std::thread::scope(|scope| {
        for writer in 0..16 {
            let path = place.file();
            scope.spawn(move || {
                let journal = Journal::open(path);
                for n in 0..50 {
                    journal.append(&word(format!("{writer}:{n}")), Durability::Fast).unwrap();
                }
            });
        }
    });
    let (seen, bad) = words(&place.file());
    assert_eq!((seen.len(), bad), (800, 0));
    assert!(seen.iter().zip(1..).all(|((seq, _), n)| *seq == n), "no gap");
    for writer in 0..16 {
        let own: Vec<usize> = seen
            .iter()
            .filter_map(|(_, w)| w.strip_prefix(&format!("{writer}:")).map(|n| n.parse().unwrap()))
            .collect();
        assert_eq!(own, (0..50).collect::<Vec<_>>(), "each writer's order is kept");
    }
}

#[test]
fn waiting_for_a_lock_ends_and_names_who_holds_it() {
    let place = place();
    let sidecar = crate::store::lock::sidecar(&place.file());
    let held = crate::store::lock::exclusive(&sidecar, Duration::ZERO).unwrap();
    let journal = Journal::open(place.file()).with_wait(Duration::from_millis(20));
    let error = journal.append(&word("a"), Durability::Fast).unwrap_err();
    let StoreError::Locked { ref path, ref holders, .. } = error else { panic!("{error}") };
    assert_eq!((path, holders), (&sidecar, &vec![std::process::id()]));
    assert!(error.hint().unwrap().contains(&std::process::id().to_string()));
    drop(held);
    assert_eq!(journal.append(&word("a"), Durability::Fast).unwrap().seq, 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whatever a writer that died left of its line, the next one goes on: nothing whole is lost, nothing torn is taken
    /// for a record, and `seq` has no gap.
    #[test]
    fn a_journal_cut_anywhere_is_repaired(texts in prop::collection::vec("[ -~é\u{1F980}]{0,12}", 1..4)) {
        let place = place();
        for text in &texts {
            Journal::open(place.file()).append(&word(text), Durability::Fast).unwrap();
        }
        let whole = fs::read(place.file()).unwrap();
        for cut in 0..=whole.len() {
            let path = place.team.path().join(format!("cut-{cut}.jsonl"));
            fs::write(&path, &whole[..cut]).unwrap();
            let left = whole[..cut].iter().filter(|b| **b == b'\n').count();
            let torn = cut > 0 && whole[cut - 1] != b'\n';
            let mut early = Tail::new(&path, Position::default());
            prop_assert_eq!(early.read(1 << 20).unwrap().lines.len(), left);
            let added = Journal::open(&path).append(&word("next"), Durability::Fast).unwrap();
            prop_assert_eq!(added.seq, left as u64 + 1);
            let (seen, bad) = words(&path);
            prop_assert_eq!(bad, usize::from(torn));
            let expected: Vec<(u64, String)> =
                (1..).zip(texts[..left].iter().cloned().chain(["next".into()])).collect();
            prop_assert_eq!(&seen, &expected);
            let later = early.read(1 << 20).unwrap();
            prop_assert_eq!((later.lines.len(), later.refit), (1, false), "a reader that was there goes on");
            fs::remove_file(&path).unwrap();
        }
    }
}
