//! How far the mail of one lane has been handed over and read. Pure: what happened comes in, what is to be stored comes out.

use std::collections::{HashSet, VecDeque};

use serde::{Deserialize, Serialize};

use super::tail::Position;
use crate::decide::plant::{Fault, planted};
use crate::model::id::{MessageId, SegmentId};
use crate::model::time::Timestamp;

/// How many ids a recipient remembers.
pub const REMEMBERED: usize = 4096;

/// One lane in `cursors.json`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LaneCursor {
    /// Every record up to this `seq` was handed over.
    pub handed: u64,
    /// The id of the last message among them, and when it was written.
    pub handed_id: Option<MessageId>,
    pub handed_ts: Option<Timestamp>,
    /// Where the record after `handed` begins.
    pub segment: Option<SegmentId>,
    pub offset: u64,
    /// Messages beyond `handed` that were handed over before those in front of them.
    pub ahead: Vec<MessageId>,
    /// Messages that were being handed over: whether they arrived is not known.
    pub handing: Vec<MessageId>,
    /// Every record up to this `seq` was read; never beyond `handed`.
    pub read: u64,
    /// Messages beyond `read` that were read before those in front of them.
    pub read_ahead: Vec<MessageId>,
}

impl LaneCursor {
    /// Where a reader goes on.
    #[must_use]
    pub const fn position(&self) -> Position {
        Position { segment: self.segment, offset: self.offset, seq: self.handed }
    }
}

/// A record as the cursor sees it. `id` is `None` for a record that is no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    pub seq: u64,
    pub id: Option<MessageId>,
    pub ts: Timestamp,
    pub segment: Option<SegmentId>,
    pub start: u64,
    pub end: u64,
}

/// What is to be done with a record that was just seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// A message to hand over. `redelivered`: it may have been handed over before.
    Hand { redelivered: bool },
    /// Handed over before, or nothing that can be.
    Pass,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Waiting,
    Handing,
    Handed,
    Read,
    /// Nothing to hand over: the journal's own record, or an id that came before.
    Nothing,
}

impl Stage {
    fn is_handed(self) -> bool {
        !matches!(self, Self::Waiting | Self::Handing)
    }

    fn is_read(self) -> bool {
        matches!(self, Self::Read | Self::Nothing)
    }
}

/// The state of one lane: every record beyond `read`, and how far it has come.
#[derive(Clone, Debug, Default)]
pub struct HandOver {
    /// The cursor as of the record in front of `entries`.
    base: LaneCursor,
    entries: VecDeque<(Seen, Stage)>,
    /// How many entries from the front are handed.
    handed: usize,
    /// Behind so many entries from the front all wait: a long queue is not looked through at every step.
    touched: usize,
    memory: Memory,
    /// What the file said when it was opened, of records that have not been seen since.
    owed: LaneCursor,
}

impl HandOver {
    /// Goes on from a stored cursor. `behind` are records up to its `handed`, oldest first, as many as there are or
    /// as are remembered.
    #[must_use]
    pub fn resume(stored: LaneCursor, behind: &[Seen]) -> Self {
        let mut all = Self { owed: stored, ..Self::default() };
        all.base.read = all.owed.read.min(all.owed.handed);
        all.base.handed_id = all.owed.handed_id;
        all.base.handed_ts = all.owed.handed_ts;
        for seen in behind.iter().filter(|s| s.seq <= all.owed.handed) {
            let first = seen.id.is_some_and(|id| all.memory.insert(id));
            let stage = match seen.id.filter(|_| first) {
                None => Stage::Nothing,
                Some(id) if all.owed.read_ahead.contains(&id) => Stage::Read,
                Some(_) if seen.seq <= all.owed.read => Stage::Read,
                Some(_) => Stage::Handed,
            };
            all.entries.push_back((*seen, stage));
        }
        all.touched = all.entries.len();
        // Records that are not remembered any more cannot be given back: the cursor itself stands for them.
        if all.entries.is_empty() {
            let LaneCursor { handed, handed_id, handed_ts, segment, offset, read, .. } = all.owed.clone();
            all.base = LaneCursor { handed, handed_id, handed_ts, segment, offset, read, ..LaneCursor::default() };
        }
        all.settle();
        all
    }

    /// Begins anew with a file that the cursor does not fit: only the ids that are remembered stay.
    #[must_use]
    pub fn refit(self) -> Self {
        let mut memory = self.memory;
        for (seen, stage) in &self.entries {
            if let (Some(id), false) = (seen.id, stage.is_handed()) {
                memory.forget(id);
            }
        }
        let mut owed = LaneCursor { ahead: self.owed.ahead, handing: self.owed.handing, ..LaneCursor::default() };
        let in_flight = self.entries.iter().filter(|(_, stage)| *stage == Stage::Handing);
        owed.handing.extend(in_flight.filter_map(|(seen, _)| seen.id));
        Self { memory, owed, ..Self::default() }
    }

    /// Takes note of the next record of the lane.
    pub fn saw(&mut self, seen: Seen) -> Verdict {
        let (stage, verdict) = match seen.id {
            None => (Stage::Nothing, Verdict::Pass),
            Some(id) if !self.memory.insert(id) => (Stage::Nothing, Verdict::Pass),
            Some(id) if self.owed.ahead.contains(&id) => {
                self.owed.ahead.retain(|i| *i != id);
                let read = self.owed.read_ahead.contains(&id);
                (if read { Stage::Read } else { Stage::Handed }, Verdict::Pass)
            }
            Some(id) => {
                let redelivered = self.owed.handing.contains(&id) && !planted(Fault::MarkForgotten);
                self.owed.handing.retain(|i| *i != id);
                (Stage::Waiting, Verdict::Hand { redelivered })
            }
        };
        self.entries.push_back((seen, stage));
        if stage != Stage::Waiting {
            self.touched = self.entries.len();
        }
        self.settle();
        verdict
    }

    /// Takes note of a record that was handed over and read before this cursor fitted its file.
    pub fn pass(&mut self, seen: Seen) {
        if let Some(id) = seen.id {
            self.memory.insert(id);
        }
        self.entries.push_back((seen, Stage::Nothing));
        self.touched = self.entries.len();
        self.settle();
    }

    /// Marks waiting messages as being handed over; returns those that were waiting.
    pub fn begin(&mut self, ids: &[MessageId]) -> Vec<MessageId> {
        let begun = if planted(Fault::CursorMovesEarly) { Stage::Handed } else { Stage::Handing };
        self.turn(ids, Stage::Waiting, begun)
    }

    /// What was being handed over has arrived; returns the ids.
    pub fn finish(&mut self) -> Vec<MessageId> {
        let ids = self.handing();
        self.turn(&ids, Stage::Handing, Stage::Handed)
    }

    /// What was being handed over has not arrived: it waits again.
    pub fn abandon(&mut self) -> Vec<MessageId> {
        let ids = self.handing();
        self.turn(&ids, Stage::Handing, Stage::Waiting)
    }

    /// Marks messages that were handed over as read.
    pub fn mark_read(&mut self, ids: &[MessageId]) -> Vec<MessageId> {
        self.turn(ids, Stage::Handed, Stage::Read)
    }

    /// Messages that were handed over but not read wait again: their turn broke.
    pub fn give_back(&mut self, ids: &[MessageId]) -> Vec<Seen> {
        let back = self.turn(ids, Stage::Handed, Stage::Waiting);
        let again = |(seen, stage): &(Seen, Stage)| {
            let is_back = *stage == Stage::Waiting && seen.id.is_some_and(|id| back.contains(&id));
            is_back.then_some(*seen)
        };
        self.entries.iter().filter_map(again).collect()
    }

    /// Messages that were handed over and not read, oldest first.
    #[must_use]
    pub fn unread(&self) -> Vec<MessageId> {
        self.in_stage(Stage::Handed)
    }

    /// Messages that are being handed over.
    #[must_use]
    pub fn handing(&self) -> Vec<MessageId> {
        self.in_stage(Stage::Handing)
    }

    /// [`Self::handing`], and where they lie.
    #[must_use]
    pub fn handing_seen(&self) -> Vec<Seen> {
        let touched = self.entries.iter().take(self.touched);
        touched.filter(|(_, s)| *s == Stage::Handing).map(|(seen, _)| *seen).collect()
    }

    /// The ids in a stage other than waiting.
    fn in_stage(&self, stage: Stage) -> Vec<MessageId> {
        let touched = self.entries.iter().take(self.touched);
        touched.filter(|(_, s)| *s == stage).filter_map(|(seen, _)| seen.id).collect()
    }

    fn turn(&mut self, ids: &[MessageId], from: Stage, to: Stage) -> Vec<MessageId> {
        let wanted: HashSet<MessageId> = ids.iter().copied().collect();
        let mut turned = Vec::new();
        let range = if from == Stage::Waiting { self.entries.len() } else { self.touched };
        for (at, (seen, stage)) in self.entries.iter_mut().enumerate().take(range) {
            if *stage == from
                && let Some(id) = seen.id
                && wanted.contains(&id)
            {
                *stage = to;
                turned.push(id);
                self.touched = self.touched.max(at + 1);
                if !to.is_handed() {
                    self.handed = self.handed.min(at);
                }
                if turned.len() == wanted.len() {
                    break;
                }
            }
        }
        self.settle();
        turned
    }

    /// Moves `handed` and `read` over what is done.
    fn settle(&mut self) {
        while self.entries.get(self.handed).is_some_and(|(_, s)| s.is_handed()) {
            self.handed += 1;
        }
        while self.handed > 0 && self.entries.front().is_some_and(|(_, s)| s.is_read()) {
            if let Some((seen, _)) = self.entries.pop_front() {
                self.handed -= 1;
                self.touched = self.touched.saturating_sub(1);
                take_in(&mut self.base, &seen);
                self.base.read = self.base.read.max(seen.seq);
            }
        }
    }

    /// The cursor as it is to be stored.
    #[must_use]
    pub fn stored(&self) -> LaneCursor {
        let mut cursor = self.base.clone();
        for (seen, _) in self.entries.iter().take(self.handed) {
            take_in(&mut cursor, seen);
        }
        cursor.ahead.clone_from(&self.owed.ahead);
        cursor.handing.clone_from(&self.owed.handing);
        for (at, (seen, stage)) in self.entries.iter().enumerate().take(self.touched) {
            let Some(id) = seen.id else { continue };
            match stage {
                Stage::Handing => cursor.handing.push(id),
                Stage::Handed if at >= self.handed => cursor.ahead.push(id),
                Stage::Read => {
                    cursor.read_ahead.push(id);
                    if at >= self.handed {
                        cursor.ahead.push(id);
                    }
                }
                Stage::Waiting | Stage::Handed | Stage::Nothing => {}
            }
        }
        // Read ahead of records that have not been seen again since the file was opened.
        let unseen = self.owed.read_ahead.iter().filter(|id| self.owed.ahead.contains(id));
        cursor.read_ahead.extend(unseen.copied());
        cursor
    }
}

fn take_in(cursor: &mut LaneCursor, seen: &Seen) {
    cursor.handed = seen.seq;
    cursor.segment = seen.segment;
    cursor.offset = seen.end;
    cursor.handed_ts = Some(seen.ts);
    if seen.id.is_some() {
        cursor.handed_id = seen.id;
    }
}

/// The last ids, in order.
#[derive(Clone, Debug, Default)]
struct Memory {
    set: HashSet<MessageId>,
    order: VecDeque<MessageId>,
}

impl Memory {
    /// `false` where the id is remembered already.
    fn insert(&mut self, id: MessageId) -> bool {
        if !self.set.insert(id) {
            return false;
        }
        self.order.push_back(id);
        if self.order.len() > REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.set.remove(&oldest);
        }
        true
    }

    fn forget(&mut self, id: MessageId) {
        if self.set.remove(&id) {
            self.order.retain(|i| *i != id);
        }
    }
}
