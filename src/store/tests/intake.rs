use std::fs;

use super::*;
use crate::model::message::Lane;
use crate::store::backlog::depth;
use crate::store::intake::Intake;
use crate::store::{cursors, mailbox};

fn send(place: &Place, text: &str) -> MessageId {
    let id = clock::new_message_id();
    let sent = mailbox::deliver(&place.member, &message(id, text), Lane::Inbox, Durability::Fast, false).unwrap();
    assert!(!sent.duplicate);
    id
}

fn open(place: &Place) -> Intake {
    let mut intake = Intake::open(&place.member, Lane::Inbox).unwrap();
    intake.poll().unwrap();
    intake
}

fn hand(intake: &mut Intake, ids: &[MessageId]) {
    assert_eq!(intake.begin(ids).unwrap().len(), ids.len());
    intake.finish().unwrap();
}

fn waiting(intake: &Intake) -> Vec<(MessageId, bool)> {
    intake.waiting().iter().map(|w| (w.id, w.redelivered)).collect()
}

#[test]
fn a_reader_finds_the_cursors_whole_while_they_are_replaced_and_grow_past_a_page() {
    use std::sync::atomic::{AtomicBool, Ordering};
    let place = place();
    let ids: Vec<MessageId> = (0..300).map(|n| send(&place, &n.to_string())).collect();
    let mut intake = open(&place);
    let done = AtomicBool::new(false);
    std::thread::scope(|threads| {
        let reader = threads.spawn(|| {
            let (mut looks, mut last) = (0_u32, 0);
            while !done.load(Ordering::Relaxed) || looks == 0 {
                let now = cursors::read(&place.member).unwrap().inbox.ahead.len();
                assert!(now >= last, "{now} after {last}: not what anybody wrote");
                (looks, last) = (looks + 1, now);
            }
        });
        // All but the first: they lie ahead of the cursor, each with its id in it.
        for id in &ids[1..] {
            hand(&mut intake, &[*id]);
        }
        done.store(true, Ordering::Relaxed);
        reader.join().unwrap();
    });
    assert_eq!(cursors::read(&place.member).unwrap().inbox.ahead.len(), 299);
    assert!(std::fs::metadata(place.member.cursors()).unwrap().len() > 4096);
    hand(&mut intake, &[ids[0]]);
    let stored = cursors::read(&place.member).unwrap().inbox;
    assert_eq!((stored.handed, stored.ahead.len()), (300, 0));
    intake.mark_read(&ids).unwrap();
    let stored = cursors::read(&place.member).unwrap().inbox;
    assert_eq!((stored.handed, stored.read), (300, 300));
}

#[test]
fn of_a_long_backlog_a_page_is_kept_and_every_message_comes_whole_and_in_order() {
    let place = place();
    let text = |n: usize| format!("{n} {}", "x".repeat(100_000));
    let ids: Vec<MessageId> = (0..120).map(|n| send(&place, &text(n))).collect();
    let mut intake = open(&place);
    assert_eq!(waiting(&intake).len(), 120);
    assert!((4 << 20..5 << 20).contains(&intake.held_bytes()), "{} bytes", intake.held_bytes());
    let read: Vec<String> = intake.messages().unwrap().iter().map(|m| m.content().unwrap().to_owned()).collect();
    assert!(read.iter().enumerate().all(|(n, read)| *read == text(n)));
    // One from far behind comes first, then the rest in batches.
    let mut came = Vec::new();
    let order: Vec<MessageId> = [119].into_iter().chain(0..119).map(|n| ids[n]).collect();
    for batch in [&order[..1], &order[1..40], &order[40..41], &order[41..]] {
        for taken in intake.begin(batch).unwrap() {
            assert_eq!(taken.message.id, taken.id);
            came.push(taken.message.content().unwrap().split(' ').next().unwrap().parse::<usize>().unwrap());
        }
        intake.finish_read().unwrap();
    }
    assert_eq!(came, [119].into_iter().chain(0..119).collect::<Vec<_>>());
    assert_eq!((intake.held_bytes(), depth(&place.member, Lane::Inbox).unwrap()), (0, 0));
    send(&place, "short");
    intake.poll().unwrap();
    assert_eq!(intake.messages().unwrap()[0].content(), Some("short"));
}

#[test]
fn what_lies_unread_is_counted_in_bytes_over_segments() {
    use crate::store::backlog::bytes_beyond;
    let place = place();
    let left = || bytes_beyond(&place.member, Lane::Inbox).unwrap();
    assert_eq!(left(), 0);
    let ids: Vec<MessageId> = (0..4).map(|_| send(&place, &"x".repeat(1000))).collect();
    let whole = fs::metadata(place.member.inbox()).unwrap().len();
    assert_eq!(left(), whole);
    let mut intake = open(&place);
    hand(&mut intake, &ids[..2]);
    let half = left();
    assert!(half < whole && half > whole / 3, "{half} of {whole}");
    let journal = Journal::open(place.member.inbox());
    let mut locked = journal.lock().unwrap();
    assert!(locked.rotate_if(1).unwrap());
    locked.finish(Durability::Fast).unwrap();
    assert_eq!(left(), half);
    send(&place, "more");
    assert_eq!(left(), half + fs::metadata(place.member.inbox()).unwrap().len());
}

#[test]
fn mail_is_handed_over_once_over_many_lives() {
    let place = place();
    let (a, b, c) = (send(&place, "a"), send(&place, "b"), send(&place, "c"));
    let mut intake = open(&place);
    assert_eq!(waiting(&intake), [(a, false), (b, false), (c, false)]);
    hand(&mut intake, &[b]);
    assert_eq!(depth(&place.member, Lane::Inbox).unwrap(), 2);
    let stored = cursors::read(&place.member).unwrap().inbox;
    assert_eq!((stored.handed, stored.ahead.as_slice()), (0, [b].as_slice()));

    let mut intake = open(&place);
    assert_eq!(waiting(&intake), [(a, false), (c, false)]);
    intake.begin(&[a]).unwrap();
    let mut intake = open(&place);
    assert_eq!(waiting(&intake), [(a, true), (c, false)], "it may have arrived");
    hand(&mut intake, &[a, c]);
    intake.mark_read(&[a, c]).unwrap();
    let stored = cursors::read(&place.member).unwrap().inbox;
    assert_eq!((stored.handed, stored.read, stored.ahead.len()), (3, 1, 0));

    let mut intake = open(&place);
    assert_eq!((waiting(&intake).len(), intake.unread()), (0, vec![b]));
    intake.give_back_unread().unwrap();
    assert_eq!(waiting(&intake), [(b, true)]);
    assert_eq!(intake.messages().unwrap()[0].content(), Some("b"));
    hand(&mut intake, &[b]);
    intake.mark_read(&[b]).unwrap();
    assert_eq!(cursors::read(&place.member).unwrap().inbox.read, 3);
    assert_eq!(depth(&place.member, Lane::Inbox).unwrap(), 0);
}

#[test]
fn what_did_not_arrive_waits_again_in_its_place() {
    let place = place();
    let (a, b) = (send(&place, "a"), send(&place, "b"));
    let mut intake = open(&place);
    intake.begin(&[a]).unwrap();
    assert_eq!(waiting(&intake), [(b, false)]);
    intake.abandon().unwrap();
    assert_eq!(waiting(&intake), [(a, true), (b, false)]);
}

#[test]
fn a_retry_is_one_message() {
    let place = place();
    let id = clock::new_message_id();
    let retry = || mailbox::deliver(&place.member, &message(id, "x"), Lane::Inbox, Durability::Durable, true).unwrap();
    let (first, second) = (retry(), retry());
    assert_eq!((first.seq, first.duplicate, first.queued), (1, false, 1));
    assert_eq!((second.seq, second.duplicate), (1, true));
    // One that was not known to be a retry is known by its id.
    let mut intake = open(&place);
    hand(&mut intake, &[id]);
    mailbox::deliver(&place.member, &message(id, "x"), Lane::Inbox, Durability::Fast, false).unwrap();
    assert_eq!(intake.poll().unwrap(), 0);
    assert_eq!(waiting(&open(&place)), []);
}

#[test]
fn lanes_are_two_and_a_closed_one_says_why() {
    let place = place();
    let id = clock::new_message_id();
    mailbox::deliver(&place.member, &message(id, "x"), Lane::Control, Durability::Fast, false).unwrap();
    assert_eq!(open(&place).waiting().len(), 0);
    let mut control = Intake::open(&place.member, Lane::Control).unwrap();
    let mut inbox = open(&place);
    assert_eq!(control.poll().unwrap(), 1);
    hand(&mut control, &[id]);
    let a = send(&place, "a");
    inbox.poll().unwrap();
    hand(&mut inbox, &[a]);
    let all = cursors::read(&place.member).unwrap();
    assert_eq!((all.inbox.handed, all.control.handed), (1, 1), "neither undoes the other");
    mailbox::close(&place.member, "down").unwrap();
    let late = mailbox::deliver(&place.member, &message(id, "x"), Lane::Inbox, Durability::Fast, false);
    assert!(matches!(late, Err(StoreError::Closed { ref reason, .. }) if reason == "down"));
    assert_eq!(mailbox::closed(&place.member, Lane::Control).unwrap().as_deref(), Some("down"));
    assert_eq!(depth(&place.member, Lane::Inbox).unwrap(), 0, "the closing is nobody's mail");
    mailbox::reopen(&place.member, "restarted").unwrap();
    let b = send(&place, "b");
    assert_eq!(waiting(&open(&place)), [(b, false)]);
}

#[test]
fn a_truncated_inbox_is_read_on_from_its_last_record() {
    let place = place();
    let ids: Vec<MessageId> = (0..5).map(|n| send(&place, &n.to_string())).collect();
    let mut intake = open(&place);
    hand(&mut intake, &ids);
    let text = fs::read_to_string(place.member.inbox()).unwrap();
    let three: usize = text.split_inclusive('\n').take(3).map(str::len).sum();
    let inbox = fs::OpenOptions::new().write(true).open(place.member.inbox()).unwrap();
    inbox.set_len(three as u64 + 5).unwrap();
    let new = send(&place, "new");
    intake.poll().unwrap();
    assert_eq!(waiting(&intake), [(new, false)], "in the same life ids decide");
    inbox.set_len(three as u64).unwrap();
    let (x, y, z) = (send(&place, "x"), send(&place, "y"), send(&place, "z"));
    assert_eq!(waiting(&open(&place)), [(x, false), (y, false), (z, false)], "in the next one, the last record");
}

#[test]
fn another_file_in_its_place_is_read_whole_and_marked() {
    let place = place();
    let ids: Vec<MessageId> = (0..3).map(|n| send(&place, &n.to_string())).collect();
    let mut intake = open(&place);
    hand(&mut intake, &ids);
    drop(intake);
    fs::remove_file(place.member.inbox()).unwrap();
    let new = send(&place, "new");
    let mut intake = open(&place);
    assert_eq!(waiting(&intake), [(new, true)]);
    let later = send(&place, "later");
    intake.poll().unwrap();
    assert_eq!(waiting(&intake), [(new, true), (later, false)]);
}

#[test]
fn bad_lines_and_strange_records_are_stepped_over() {
    let place = place();
    let a = send(&place, "a");
    let journal = Journal::open(place.member.inbox());
    journal.append(&word("no message"), Durability::Fast).unwrap();
    journal.append(&serde_json::json!({"id": clock::new_message_id(), "from": 7}), Durability::Fast).unwrap();
    use std::io::Write;
    fs::OpenOptions::new().append(true).open(place.member.inbox()).unwrap().write_all(b"\0\0\n{torn").unwrap();
    let b = send(&place, "b");
    let mut intake = open(&place);
    assert_eq!((waiting(&intake), intake.bad()), (vec![(a, false), (b, false)], 3));
    hand(&mut intake, &[a, b]);
    assert_eq!(cursors::read(&place.member).unwrap().inbox.handed, 4);
    assert_eq!(waiting(&open(&place)), []);
}

#[test]
fn what_is_queued_for_one_that_has_ended_counts_as_messages() {
    let place = place();
    send(&place, "before");
    let queue = |text: &str| {
        let message = message(clock::new_message_id(), text);
        mailbox::deliver_even_closed(&place.member, &message, Lane::Inbox, Durability::Fast).unwrap().queued
    };
    assert_eq!(queue("open"), 2);
    mailbox::close(&place.member, "ended").unwrap();
    assert_eq!((queue("a"), queue("b")), (3, 4), "what closes and opens a lane is nobody's mail");
    assert_eq!(depth(&place.member, Lane::Inbox).unwrap(), 4);
}

#[test]
fn a_new_segment_lets_go_of_the_old_ones_that_were_read_long_ago() {
    use std::io::{Seek, SeekFrom, Write};
    let place = place();
    let old = |n: u64| place.member.inbox().with_extension(format!("jsonl.{n}"));
    let record = |seq: u64| format!("{{\"seq\":{seq},\"ts\":\"2020-01-01T00:00:00Z\",\"text\":\"old\"}}\n");
    (1..=2).for_each(|n| fs::write(old(n), record(n)).unwrap());
    let mut inbox = fs::File::create(place.member.inbox()).unwrap();
    inbox.seek(SeekFrom::Start(mailbox::SEGMENT_BYTES)).unwrap();
    inbox.write_all(format!("\n{}", record(3)).as_bytes()).unwrap();
    let read = crate::store::cursor::LaneCursor { handed: 1, read: 1, ..Default::default() };
    cursors::CursorFile::open(&place.member).write(Lane::Inbox, read).unwrap();
    let sent = message(clock::new_message_id(), "new");
    let sent = mailbox::deliver(&place.member, &sent, Lane::Inbox, Durability::Fast, false).unwrap();
    assert_eq!(sent.seq, 4);
    let there = [1, 2, 3].map(|n| old(n).exists());
    assert_eq!(there, [false, true, true], "only what was read goes");
}

#[test]
fn the_last_mail_of_an_inbox_is_seen_to_while_nobody_can_add_to_it() {
    let place = place();
    let first = send(&place, "unread");
    let dir = place.member.clone();
    let failed =
        mailbox::close_after::<()>(&dir, "ended", || Err(StoreError::invalid(&dir.cursors(), "no".to_owned())));
    assert!(failed.is_err());
    assert_eq!(mailbox::closed(&dir, Lane::Inbox).unwrap(), None, "the next lead does it all again");
    let seen = mailbox::close_after(&dir, "ended", || {
        let mut last = open(&place);
        last.poll()?;
        Ok(waiting(&last).into_iter().map(|(id, _)| id).collect::<Vec<_>>())
    });
    assert_eq!(seen.unwrap(), Some(vec![first]));
    for lane in [Lane::Inbox, Lane::Control] {
        assert_eq!(mailbox::closed(&dir, lane).unwrap().as_deref(), Some("ended"));
    }
    let again = mailbox::close_after(&dir, "again", || panic!("once is enough"));
    assert_eq!(again.unwrap(), None::<()>);
}
