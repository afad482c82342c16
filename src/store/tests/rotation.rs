use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::*;
use crate::model::time::Timestamp;
use crate::store::{mailbox, segment};

#[test]
fn readers_and_writers_go_on_over_rotations() {
    const WRITERS: u64 = 4;
    const EACH: u64 = 150;
    let place = place();
    let path = place.file();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let path = path.clone();
                scope.spawn(move || {
                    let journal = Journal::open(path);
                    for n in 0..EACH {
                        let mut locked = journal.lock().unwrap();
                        locked.rotate_if(1500).unwrap();
                        locked.append(&word(format!("{writer}:{n}"))).unwrap();
                        locked.finish(Durability::Fast).unwrap();
                    }
                })
            })
            .collect();
        for _ in 0..2 {
            scope.spawn(|| {
                let mut tail = Tail::new(&path, Position::default());
                let mut seqs = Vec::new();
                loop {
                    let last_look = done.load(Ordering::Acquire);
                    let batch = tail.read(700).unwrap();
                    assert!(batch.bad.is_empty() && !batch.refit);
                    seqs.extend(batch.lines.iter().map(|l| l.seq));
                    // A reader may be put down and taken up anywhere.
                    tail = Tail::new(&path, tail.position());
                    if last_look && !batch.more && batch.lines.is_empty() {
                        break;
                    }
                }
                assert_eq!(seqs, (1..=WRITERS * EACH).collect::<Vec<_>>());
            });
        }
        writers.into_iter().for_each(|w| w.join().unwrap());
        done.store(true, Ordering::Release);
    });
    let (seen, bad) = words(&path);
    assert_eq!((seen.len() as u64, bad), (WRITERS * EACH, 0));
    assert!(segment::older(&path).unwrap().len() > 10);
}

#[test]
fn old_segments_go_when_they_were_passed_and_the_reader_goes_on() {
    let place = place();
    let journal = Journal::open(place.file());
    let append = |n: u64| {
        let mut locked = journal.lock().unwrap();
        locked.rotate_if(0).unwrap();
        locked.append(&word(n)).unwrap();
    };
    (1..=5).for_each(append);
    let mut tail = Tail::new(place.file(), Position::default());
    let first = tail.read(1).unwrap();
    assert_eq!((first.lines.len(), first.more), (1, true));
    let prune = |before, age| mailbox::prune_segments(&place.file(), before, age, 9).unwrap();
    assert_eq!(prune(3, Duration::from_secs(3600)), 0, "the retention time is not over");
    assert_eq!(prune(1, Duration::ZERO), 1);
    let mut other = Tail::new(place.file(), tail.position());
    for tail in [&mut tail, &mut other] {
        let rest = tail.read(1 << 16).unwrap();
        assert_eq!((rest.lines.iter().map(|l| l.seq).collect::<Vec<_>>(), rest.refit), (vec![2, 3, 4, 5], false));
    }
    assert_eq!(prune(9, Duration::ZERO), 2, "the newest of the old ones keeps the count");
    append(6);
    assert_eq!(tail.read(1 << 16).unwrap().lines[0].seq, 6);
    assert_eq!(Tail::end(place.file()).unwrap().position().seq, 6);
    (7..=10).for_each(append);
    let many = |before| mailbox::prune_segments(&place.file(), before, Duration::from_secs(3600), 3).unwrap();
    assert_eq!(many(3), 0, "not read yet");
    assert_eq!((many(9), many(9)), (3, 0), "too many of what was read go before their time");
    assert_eq!(segment::older(&place.file()).unwrap().len(), 3);
}

/// How often each word was said.
#[derive(Debug, Default, PartialEq)]
struct Tally(BTreeMap<String, u64>);

#[derive(serde::Serialize, serde::Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Said {
    Word { word: String },
    Snapshot { tally: BTreeMap<String, u64> },
}

impl Folded for Tally {
    type Record = Said;
    fn apply(&mut self, record: Said, _: u64, _: Timestamp) {
        match record {
            Said::Word { word } => *self.0.entry(word).or_default() += 1,
            Said::Snapshot { tally } => self.0 = tally,
        }
    }
    fn snapshot(&self) -> Said {
        Said::Snapshot { tally: self.0.clone() }
    }
}

fn say(log: &mut StateLog<Tally>, word: &str) -> u64 {
    log.update(|tally, _| {
        let before = tally.0.get(word).copied().unwrap_or(0);
        Ok::<_, ()>((before, vec![Said::Word { word: word.into() }]))
    })
    .unwrap()
    .unwrap()
}

#[test]
fn decisions_are_taken_one_after_the_other_over_rotations() {
    let place = place();
    let open = || StateLog::<Tally>::open(place.file()).with_limit(600);
    let taken: Vec<u64> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    let mut log = open();
                    (0..40).map(|_| say(&mut log, "x")).collect::<Vec<_>>()
                })
            })
            .collect();
        threads.into_iter().flat_map(|t| t.join().unwrap()).collect()
    });
    let mut sorted = taken;
    sorted.sort_unstable();
    assert_eq!(sorted, (0..160).collect::<Vec<_>>(), "each number was won by one");
    let mut log = open();
    assert_eq!(log.view().unwrap().0["x"], 160);
    let older = segment::older(&place.file()).unwrap();
    assert_eq!(older.len(), 2, "each segment holds the whole state: the older ones go");
    assert!(older[0].number > 3, "there were many");
    // A refusal writes nothing.
    let before = log.seq();
    assert_eq!(log.update(|_, _| Err::<((), Vec<Said>), _>("no")).unwrap(), Err("no"));
    assert_eq!((log.view().unwrap().0["x"], log.seq()), (160, before));
}

#[test]
fn a_rotation_that_was_cut_off_is_made_good() {
    let place = place();
    let mut log = StateLog::<Tally>::open(place.file());
    assert_eq!((0..3).map(|_| say(&mut log, "x")).collect::<Vec<_>>(), [0, 1, 2]);
    std::fs::rename(place.file(), segment::next_name(&place.file()).unwrap()).unwrap();
    assert_eq!(StateLog::<Tally>::open(place.file()).view().unwrap().0["x"], 3);
    assert_eq!(say(&mut log, "x"), 3);
    std::fs::remove_file(segment::numbered(&place.file(), 1)).unwrap();
    let mut anew = StateLog::<Tally>::open(place.file());
    assert_eq!(anew.view().unwrap().0["x"], 4, "the new segment stands on its own");
    assert_eq!(anew.seq(), 5);
}
