//! A teammate's view of one of its lanes: what waits, what is being handed over, what was read.

use std::collections::{HashMap, HashSet, VecDeque};

use super::cursor::{HandOver, LaneCursor, REMEMBERED, Seen, Verdict};
use super::cursors::{self, CursorFile};
use super::error::{Result, StoreError};
use super::member_dir::MemberDir;
use super::tail::{Line, Position, Tail};
use crate::model::id::{MessageId, SegmentId};
use crate::model::message::{Lane, Message, Priority};
use crate::model::time::Timestamp;

const READ_BYTES: usize = 256 * 1024;
/// How far back ids are looked up when a lane is opened, in bytes.
const BACK_BYTES: u64 = 8 * 1024 * 1024;

/// How much waiting mail is kept in memory, in bytes of its lines. The rest stays on disk until its turn comes.
const PAGE_BYTES: u64 = 4 * 1024 * 1024;

/// A message that is being handed over.
#[derive(Clone, Debug, PartialEq)]
pub struct Waiting {
    pub seq: u64,
    pub ts: Timestamp,
    pub id: MessageId,
    pub message: Message,
    /// It may have been handed over before.
    pub redelivered: bool,
}

/// A message that waits to be handed over: where it lies, and what its turn depends on.
#[derive(Clone, Debug, PartialEq)]
pub struct Queued {
    pub seq: u64,
    pub ts: Timestamp,
    pub id: MessageId,
    pub priority: Priority,
    /// It may have been handed over before.
    pub redelivered: bool,
    place: Seen,
    /// The message itself, as long as a page has room for it.
    message: Option<Box<Message>>,
}

impl Queued {
    /// Bytes of its line on file, whether it is in memory or not.
    #[must_use]
    pub fn line_bytes(&self) -> u64 {
        self.place.end - self.place.start
    }

    fn bytes(&self) -> u64 {
        if self.message.is_some() { self.line_bytes() } else { 0 }
    }

    fn whole(self) -> Option<Waiting> {
        let message = *self.message?;
        Some(Waiting { seq: self.seq, ts: self.ts, id: self.id, message, redelivered: self.redelivered })
    }
}

/// What is to be done with lines of a file that the cursor does not fit.
#[derive(Clone, Copy, Debug)]
enum Refit {
    /// Up to the record at this place everything was handed over.
    UpTo(Option<SegmentId>, u64),
    /// What was written up to then was handed over.
    UpToTime(Timestamp),
    /// Nobody knows.
    Unknown,
}

#[derive(Debug)]
pub struct Intake {
    lane: Lane,
    file: CursorFile,
    tail: Tail,
    state: HandOver,
    stored: LaneCursor,
    waiting: VecDeque<Queued>,
    /// Bytes of the messages among them that are in memory.
    held: u64,
    refit: Option<Refit>,
    bad: u64,
    /// Something was acted on and is not stored yet.
    acted: bool,
}

impl Intake {
    /// Opens a lane where its stored cursor stands. What was being handed over when the last life ended comes again,
    /// marked; what was handed over and not read comes again after [`Self::give_back_unread`].
    pub fn open(dir: &MemberDir, lane: Lane) -> Result<Self> {
        let stored = cursors::read(dir)?.lane(lane).clone();
        let mut tail = Tail::new(dir.lane(lane), stored.position());
        let behind = tail.behind(REMEMBERED, BACK_BYTES)?.unwrap_or_default();
        // The record that the position follows must be the one that was handed over, not one that only looks so.
        let other = behind.iter().rev().find_map(|s| s.id).is_some_and(|id| stored.handed_id != Some(id));
        let mut intake = Self {
            lane,
            file: CursorFile::open(dir),
            tail,
            state: HandOver::resume(stored.clone(), if other { &[] } else { &behind }),
            stored,
            waiting: VecDeque::new(),
            held: 0,
            refit: None,
            bad: 0,
            acted: false,
        };
        if other {
            intake.begin_anew()?;
        }
        Ok(intake)
    }

    /// Reads what is new; returns how many messages came to wait.
    pub fn poll(&mut self) -> Result<usize> {
        let before = self.waiting.len();
        let mut anew = false;
        loop {
            let batch = self.tail.read(READ_BYTES)?;
            self.bad += batch.bad.len() as u64;
            if batch.refit && !anew {
                anew = true;
                self.begin_anew()?;
                continue;
            }
            for line in &batch.lines {
                self.take(line);
            }
            if !batch.more {
                break;
            }
        }
        self.refit = None;
        // Records that are no messages move the cursor too.
        if !self.acted && self.state.stored().handed != self.stored.handed {
            self.store()?;
        }
        Ok(self.waiting.len().saturating_sub(before))
    }

    fn take(&mut self, line: &Line) {
        let id = if line.marker.is_some() { None } else { id_of(&line.json) };
        let seen = seen(line, id);
        match self.refit {
            Some(Refit::UpTo(segment, start)) => {
                if (line.segment, line.start) == (segment, start) {
                    self.refit = None;
                }
                return self.state.pass(seen);
            }
            Some(Refit::UpToTime(until)) if line.ts <= until => return self.state.pass(seen),
            _ => {}
        }
        // A record that this version cannot read as a message is stepped over, and counted.
        let message = match id.map(|_| line.parse::<Message>()) {
            Some(Ok(message)) => Some(message),
            Some(Err(_)) => {
                self.bad += 1;
                return self.state.pass(seen);
            }
            None => None,
        };
        let doubtful = matches!(self.refit, Some(Refit::Unknown));
        if let (Verdict::Hand { redelivered }, Some(message)) = (self.state.saw(seen), message) {
            let queued = self.queued(seen, message, redelivered || doubtful);
            self.waiting.push_back(queued);
        }
    }

    fn queued(&mut self, place: Seen, message: Message, redelivered: bool) -> Queued {
        let (id, priority) = (message.id, message.priority);
        let has_room = self.held < PAGE_BYTES;
        let message = has_room.then(|| Box::new(message));
        let queued = Queued { seq: place.seq, ts: place.ts, id, priority, redelivered, place, message };
        self.held += queued.bytes();
        queued
    }

    /// The file is not the one the cursor was made for: falls back to the last record that is, and lets ids decide
    /// about the rest.
    fn begin_anew(&mut self) -> Result<()> {
        let stored = self.state.stored();
        let path = self.tail.path().to_owned();
        let mut anchor = None;
        let mut same_segment = false;
        let mut look = Tail::new(&path, Position::default());
        loop {
            let batch = look.read(READ_BYTES)?;
            for line in &batch.lines {
                same_segment |= line.segment == stored.segment;
                if stored.handed_id.is_some() && id_of(&line.json) == stored.handed_id {
                    anchor = Some(Refit::UpTo(line.segment, line.start));
                }
            }
            if !batch.more {
                break;
            }
        }
        let by_time = stored.handed_ts.filter(|_| same_segment).map(Refit::UpToTime);
        self.refit = Some(anchor.or(by_time).unwrap_or(Refit::Unknown));
        self.state = std::mem::take(&mut self.state).refit();
        self.waiting.clear();
        self.held = 0;
        self.tail = Tail::new(path, Position::default());
        Ok(())
    }

    /// What waits, oldest first. Which comes first is the caller's to say.
    #[must_use]
    pub fn waiting(&self) -> &VecDeque<Queued> {
        &self.waiting
    }

    /// How many bytes of waiting mail are in memory.
    #[cfg(test)]
    pub fn held_bytes(&self) -> u64 {
        self.held
    }

    /// Everything that waits, read.
    #[cfg(test)]
    pub fn messages(&self) -> Result<Vec<Message>> {
        let mut all = Vec::new();
        self.for_each_waiting::<StoreError>(|message| {
            all.push(message.clone());
            Ok(())
        })?;
        Ok(all)
    }

    /// All that waits, read in order, without taking it: for who notes what was never handed over.
    pub fn for_each_waiting<E: From<StoreError>>(
        &self,
        mut take: impl FnMut(&Message) -> Result<(), E>,
    ) -> Result<usize, E> {
        let mut page = Page::default();
        let mut count = 0;
        for queued in &self.waiting {
            let read = match &queued.message {
                Some(message) => Some(message.as_ref().clone()),
                None => page.take(self.tail.path(), queued)?,
            };
            if let Some(message) = read {
                take(&message)?;
                count += 1;
            }
        }
        Ok(count)
    }

    /// Lines that were no records, and records that were no messages.
    #[must_use]
    pub fn bad(&self) -> u64 {
        self.bad
    }

    /// Takes messages out of the queue to hand them over. That they are being handed over is stored before this
    /// returns, so that a crash in between cannot lose them.
    pub fn begin(&mut self, ids: &[MessageId]) -> Result<Vec<Waiting>> {
        let begun = self.state.begin(ids).into_iter().collect();
        if let Err(error) = self.store() {
            self.state.abandon();
            return Err(error);
        }
        self.take_out(&begun)
    }

    /// [`Self::begin`] for one who acts on a message itself and to whom acting twice is the same as once: nothing is
    /// stored until it has, and after a crash the message comes again as if for the first time.
    pub fn begin_to_act(&mut self, ids: &[MessageId]) -> Result<Vec<Waiting>> {
        let begun = self.state.begin(ids).into_iter().collect();
        self.take_out(&begun)
    }

    fn take_out(&mut self, begun: &HashSet<MessageId>) -> Result<Vec<Waiting>> {
        // Mostly they are the first, so the queue behind them is not touched.
        let (mut taken, mut passed) = (Vec::with_capacity(begun.len()), Vec::new());
        while taken.len() < begun.len()
            && let Some(waiting) = self.waiting.pop_front()
        {
            if begun.contains(&waiting.id) { taken.push(waiting) } else { passed.push(waiting) }
        }
        passed.into_iter().rev().for_each(|waiting| self.waiting.push_front(waiting));
        match self.read_bodies(&mut taken) {
            Ok(()) => {
                self.held -= taken.iter().map(Queued::bytes).sum::<u64>();
                // One that is not there any more was taken away by hand: there is nothing to give.
                Ok(taken.into_iter().filter_map(Queued::whole).collect())
            }
            Err(error) => {
                for queued in taken {
                    let at = self.waiting.partition_point(|w| w.seq < queued.seq);
                    self.waiting.insert(at, queued);
                }
                self.state.abandon();
                Err(error)
            }
        }
    }

    /// A message that waits, which goes on waiting.
    pub fn peek(&self, queued: &Queued) -> Result<Option<Message>> {
        match &queued.message {
            Some(message) => Ok(Some(message.as_ref().clone())),
            None => Page::default().take(self.tail.path(), queued),
        }
    }

    /// Reads what is not in memory; it counts as held from then on.
    fn read_bodies(&mut self, taken: &mut [Queued]) -> Result<()> {
        let mut page = Page::default();
        for queued in taken.iter_mut().filter(|queued| queued.message.is_none()) {
            queued.message = page.take(self.tail.path(), queued)?.map(Box::new);
            self.held += queued.bytes();
        }
        Ok(())
    }

    /// What was being handed over has arrived.
    pub fn finish(&mut self) -> Result<Vec<MessageId>> {
        let ids = self.state.finish();
        self.store()?;
        Ok(ids)
    }

    /// [`Self::finish`] and [`Self::mark_read`] at once, for whoever has read what it was handed.
    pub fn finish_read(&mut self) -> Result<Vec<MessageId>> {
        let ids = self.state.finish();
        self.state.mark_read(&ids);
        self.store()?;
        Ok(ids)
    }

    /// What was taken by [`Self::begin_to_act`] is done. To be stored by [`Self::store_acted`] when there is time: until
    /// then a crash has it acted on again.
    pub fn finish_acted(&mut self) {
        let ids = self.state.finish();
        self.state.mark_read(&ids);
        self.acted = true;
    }

    pub fn store_acted(&mut self) -> Result<()> {
        if self.acted {
            self.store()?;
            self.acted = false;
        }
        Ok(())
    }

    /// What was being handed over has not arrived: it waits again, marked.
    pub fn abandon(&mut self) -> Result<()> {
        let seen = self.state.handing_seen();
        self.state.abandon();
        self.wait_again(&seen)
    }

    /// The turn that took these messages has ended: they were read.
    pub fn mark_read(&mut self, ids: &[MessageId]) -> Result<()> {
        if !self.state.mark_read(ids).is_empty() {
            self.store()?;
        }
        Ok(())
    }

    /// Messages that were handed over and not read.
    #[must_use]
    pub fn unread(&self) -> Vec<MessageId> {
        self.state.unread()
    }

    /// The turn that took these messages broke: they wait again, marked.
    pub fn give_back(&mut self, ids: &[MessageId]) -> Result<()> {
        let seen = self.state.give_back(ids);
        self.wait_again(&seen)
    }

    /// [`Self::give_back`] for all that was handed over and not read.
    pub fn give_back_unread(&mut self) -> Result<()> {
        self.give_back(&self.unread())
    }

    fn wait_again(&mut self, seen: &[Seen]) -> Result<()> {
        for seen in seen {
            let Some(line) = self.tail.line_at(seen.segment, seen.start, seen.end)? else { continue };
            let Ok(message) = line.parse::<Message>() else { continue };
            let waiting = self.queued(*seen, message, true);
            let at = self.waiting.partition_point(|w| w.seq < waiting.seq);
            self.waiting.insert(at, waiting);
        }
        self.store()
    }

    fn store(&mut self) -> Result<()> {
        let cursor = self.state.stored();
        if cursor != self.stored {
            self.file.write(self.lane, cursor.clone())?;
            self.stored = cursor;
        }
        Ok(())
    }
}

/// A part of a lane that was read for one message and holds those behind it, too.
#[derive(Default)]
struct Page {
    messages: HashMap<MessageId, Message>,
}

impl Page {
    /// The message, read from its place where it is not at hand; `None` where it does not lie there any more.
    fn take(&mut self, path: &std::path::Path, queued: &Queued) -> Result<Option<Message>> {
        if let Some(message) = self.messages.remove(&queued.id) {
            return Ok(Some(message));
        }
        self.messages.clear();
        let Seen { segment, start, seq, .. } = queued.place;
        let at = Position { segment, offset: start, seq: seq.saturating_sub(1) };
        let batch = Tail::new(path, at).read(READ_BYTES)?;
        self.messages.extend(batch.lines.iter().filter_map(|l| l.parse::<Message>().ok()).map(|m| (m.id, m)));
        Ok(self.messages.remove(&queued.id))
    }
}

fn seen(line: &Line, id: Option<MessageId>) -> Seen {
    Seen { seq: line.seq, id, ts: line.ts, segment: line.segment, start: line.start, end: line.end }
}

/// The id of a record, if it has one.
pub(super) fn id_of(json: &str) -> Option<MessageId> {
    #[derive(serde::Deserialize)]
    struct WithId {
        id: MessageId,
    }
    serde_json::from_str(json).ok().map(|w: WithId| w.id)
}
