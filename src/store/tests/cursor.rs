//! The cursor against a plain model: each message once within a life, none lost over crashes.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use uuid::Uuid;

use super::*;
use crate::store::cursor::{HandOver, LaneCursor, Seen, Verdict};

#[derive(Clone, Debug)]
enum Step {
    /// The next record: a message, a repeat of an earlier one, or none at all.
    Append(u8),
    /// Hands over the waiting messages that the bits choose.
    Begin(u8),
    Finish,
    Abandon,
    Read(u8),
    GiveBack(u8),
    Crash,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => any::<u8>().prop_map(Step::Append),
        3 => any::<u8>().prop_map(Step::Begin),
        3 => Just(Step::Finish),
        1 => Just(Step::Abandon),
        2 => any::<u8>().prop_map(Step::Read),
        1 => any::<u8>().prop_map(Step::GiveBack),
        1 => Just(Step::Crash),
    ];
    prop::collection::vec(step, 0..60)
}

fn id(n: u64) -> MessageId {
    MessageId(Uuid::from_u128(u128::from(n) + 1))
}

fn seen(seq: u64, id: Option<MessageId>) -> Seen {
    Seen { seq, id, ts: Timestamp::default(), segment: None, start: seq * 10, end: seq * 10 + 10 }
}

use crate::model::time::Timestamp;

/// A file, a cursor on it, and what the engine has got.
#[derive(Default)]
struct World {
    file: Vec<Seen>,
    cursor: LaneCursor,
    state: HandOver,
    waiting: BTreeMap<u64, (MessageId, bool)>,
    handing: BTreeSet<MessageId>,
    handed: BTreeSet<MessageId>,
    read: BTreeSet<MessageId>,
}

impl World {
    fn see(&mut self, seen: Seen) {
        if let Verdict::Hand { redelivered } = self.state.saw(seen) {
            self.waiting.insert(seen.seq, (seen.id.expect("only a message is handed over"), redelivered));
        }
    }

    fn some(from: impl Iterator<Item = MessageId>, bits: u8) -> Vec<MessageId> {
        from.zip(0..).filter(|(_, n)| bits >> (n % 8) & 1 == 1).map(|(id, _)| id).collect()
    }

    fn step(&mut self, step: &Step) {
        match *step {
            Step::Append(kind) => {
                let seq = self.file.len() as u64 + 1;
                let id = match kind % 8 {
                    0 => None,
                    1 => Some(id(u64::from(kind) % seq)),
                    _ => Some(id(seq)),
                };
                let seen = seen(seq, id);
                self.file.push(seen);
                self.see(seen);
            }
            Step::Begin(bits) => {
                let ids = Self::some(self.waiting.values().map(|(id, _)| *id), bits);
                let begun = self.state.begin(&ids);
                assert_eq!(begun, ids);
                self.waiting.retain(|_, (id, _)| !begun.contains(id));
                self.handing.extend(begun);
            }
            Step::Finish => {
                let done = self.state.finish();
                assert_eq!(done.iter().copied().collect::<BTreeSet<_>>(), self.handing);
                self.handed.extend(std::mem::take(&mut self.handing));
            }
            Step::Abandon => {
                let back = self.state.handing_seen();
                self.state.abandon();
                self.wait_again(&back);
                self.handing.clear();
            }
            Step::Read(bits) => {
                let ids = Self::some(self.handed.difference(&self.read).copied(), bits);
                let read = self.state.mark_read(&ids);
                assert_eq!(read.iter().copied().collect::<BTreeSet<_>>(), ids.into_iter().collect());
                self.read.extend(read);
            }
            Step::GiveBack(bits) => {
                let ids = Self::some(self.handed.difference(&self.read).copied(), bits);
                let back = self.state.give_back(&ids);
                assert_eq!(back.len(), ids.len());
                self.handed.retain(|id| !ids.contains(id));
                self.wait_again(&back);
            }
            Step::Crash => {
                let behind: Vec<Seen> = self.file.iter().filter(|s| s.seq <= self.cursor.handed).copied().collect();
                self.state = HandOver::resume(self.cursor.clone(), &behind);
                self.waiting.clear();
                for seen in self.file.split_off(behind.len()) {
                    self.file.push(seen);
                    self.see(seen);
                }
                for (id, redelivered) in self.waiting.values() {
                    assert_eq!(self.handing.contains(id), *redelivered, "what may have arrived is marked");
                }
                self.handing.clear();
            }
        }
        let now = self.state.stored();
        assert!(now.read <= now.handed);
        self.cursor = now;
    }

    fn wait_again(&mut self, back: &[Seen]) {
        self.waiting.extend(back.iter().map(|s| (s.seq, (s.id.expect("a message"), true))));
    }

    fn check(&self) {
        let every: BTreeSet<MessageId> = self.file.iter().filter_map(|s| s.id).collect();
        let mut parts: Vec<MessageId> = self.waiting.values().map(|(id, _)| *id).collect();
        parts.extend(&self.handing);
        parts.extend(&self.handed);
        let as_set: BTreeSet<MessageId> = parts.iter().copied().collect();
        assert_eq!(parts.len(), as_set.len(), "nothing is in two places");
        assert_eq!(as_set, every, "nothing is lost");
        let cursor = &self.cursor;
        let unread: BTreeSet<MessageId> = self.handed.difference(&self.read).copied().collect();
        assert_eq!(self.state.unread().into_iter().collect::<BTreeSet<_>>(), unread);
        let mut known = BTreeSet::new();
        for seen in &self.file {
            let Some(id) = seen.id.filter(|id| known.insert(*id)) else { continue };
            let handed = seen.seq <= cursor.handed || cursor.ahead.contains(&id);
            assert_eq!(handed, self.handed.contains(&id), "the cursor says what was handed over: {id}");
            let read = seen.seq <= cursor.read || cursor.read_ahead.contains(&id);
            assert_eq!(read, self.read.contains(&id), "the cursor says what was read: {id}");
            assert_eq!(cursor.handing.contains(&id), self.handing.contains(&id));
        }
        assert!(cursor.handed == 0 || cursor.offset == cursor.handed * 10 + 10);
    }
}

proptest! {
    #[test]
    fn each_message_goes_in_once_and_none_is_lost(steps in steps()) {
        let mut world = World::default();
        for step in &steps {
            world.step(step);
            world.check();
        }
    }
}
