use std::time::Duration;

use super::*;

const LONG: Duration = Duration::from_secs(8);
const SHORT: Duration = Duration::from_millis(60);

/// Empties the bell of what has come so far.
fn drain(watch: &mut Watch) {
    while watch.wait_blocking(SHORT).is_some() {}
}

#[test]
fn an_append_wakes_and_reading_does_not() {
    let place = place();
    let journal = Journal::open(place.member.inbox());
    journal.append(&word("a"), Durability::Fast).unwrap();
    let mut watch = Watch::start([place.member.mail_dir()]);
    assert_eq!(watch.mode(), "inotify");
    words(&place.member.inbox());
    assert_eq!(watch.wait_blocking(SHORT), None, "a reader does not wake itself");
    journal.append(&word("b"), Durability::Fast).unwrap();
    assert_eq!(watch.wait_blocking(LONG), Some(Wake::Event));
    drain(&mut watch);
    // One more folder, and a document that takes its place by renaming.
    watch.add(&place.member.state_dir());
    document::replace_json(&place.member.status(), &1, document::Sync::Fast).unwrap();
    assert_eq!(watch.wait_blocking(LONG), Some(Wake::Event));
    watch.remove(&place.member.mail_dir());
    drain(&mut watch);
    journal.append(&word("c"), Durability::Fast).unwrap();
    assert_eq!(watch.wait_blocking(SHORT), None);
}

#[test]
fn a_folder_that_cannot_be_watched_is_looked_at() {
    let place = place();
    let late = place.team.member(&name("late"));
    let mut watch = Watch::start([late.mail_dir()]);
    assert_eq!(watch.mode(), "polling");
    late.create().unwrap();
    assert_eq!(watch.wait_blocking(LONG), Some(Wake::Event));
    Journal::open(late.inbox()).append(&word("a"), Durability::Fast).unwrap();
    assert_eq!(watch.wait_blocking(LONG), Some(Wake::Event));
    assert_eq!(watch.wait_blocking(Duration::from_millis(500)), None, "nothing changed");
}

#[tokio::test]
async fn a_waiting_task_is_woken_and_may_be_dropped() {
    let place = place();
    let mut watch = Watch::start([place.member.mail_dir()]);
    assert!(tokio::time::timeout(SHORT, watch.changed()).await.is_err(), "nothing to hear");
    let inbox = place.member.inbox();
    let writer = tokio::task::spawn_blocking(move || Journal::open(inbox).append(&word("a"), Durability::Fast));
    assert_eq!(tokio::time::timeout(LONG, watch.changed()).await, Ok(Wake::Event));
    writer.await.unwrap().unwrap();
}
