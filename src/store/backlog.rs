//! What of a lane waits, for those who ask and do not take.

use super::cursor::LaneCursor;
use super::cursors;
use super::error::{Result, StoreError};
use super::intake::id_of;
use super::journal;
use super::member_dir::MemberDir;
use super::tail::{Line, Tail};
use crate::model::message::Lane;
use crate::model::time::Timestamp;

/// How many records of a lane have not been handed over. Of an open lane it reads the tail and the cursor alone.
pub fn depth(dir: &MemberDir, lane: Lane) -> Result<u64> {
    if !dir.exists() {
        return Err(StoreError::missing(&dir.lane(lane)));
    }
    match journal::last_record(&dir.lane(lane))? {
        None => Ok(0),
        // What was queued for a member that has ended lies between records that are no messages.
        Some(last) if last.closed.is_some() => messages_beyond(dir, lane),
        Some(last) => beyond(dir, lane, last.seq),
    }
}

/// How many bytes of a lane have not been handed over; older segments that hold some count whole.
pub fn bytes_beyond(dir: &MemberDir, lane: Lane) -> Result<u64> {
    let cursors = cursors::read(dir)?;
    Tail::new(dir.lane(lane), cursors.lane(lane).position()).bytes_left()
}

/// How many records of a lane have not been read. Reads the journal's tail and the cursor alone.
pub fn unread(dir: &MemberDir, lane: Lane) -> Result<u64> {
    let Some(last) = journal::last_record(&dir.lane(lane))? else { return Ok(0) };
    let cursors = cursors::read(dir)?;
    let cursor = cursors.lane(lane);
    let beyond = last.seq.saturating_sub(cursor.read).saturating_sub(cursor.read_ahead.len() as u64);
    Ok(beyond.saturating_sub(u64::from(last.closed.is_some())))
}

/// When the oldest record of a lane was written that has not been handed over; `None` where nothing waits.
pub fn waits_since(dir: &MemberDir, lane: Lane) -> Result<Option<Timestamp>> {
    let Some(last) = journal::last_record(&dir.lane(lane))? else { return Ok(None) };
    let cursors = cursors::read(dir)?;
    let cursor = cursors.lane(lane);
    if last.seq <= cursor.handed || last.closed.is_some() {
        return Ok(None);
    }
    // One line is enough, as long as it is one that can be handed over.
    let batch = Tail::new(dir.lane(lane), cursor.position()).read(1)?;
    let first = batch.lines.iter().find(|l| is_beyond(cursor, l));
    Ok(first.filter(|l| is_to_hand_over(cursor, l)).map(|l| l.ts))
}

/// Whether a record that is not the journal's own lies beyond what was handed over.
fn is_beyond(cursor: &LaneCursor, line: &Line) -> bool {
    line.seq > cursor.handed && line.marker.is_none()
}

/// Whether such a record is a message that was not handed over ahead of its turn.
fn is_to_hand_over(cursor: &LaneCursor, line: &Line) -> bool {
    id_of(&line.json).is_some_and(|id| !cursor.ahead.contains(&id))
}

/// How many messages have not been handed over, by reading them: for a closed lane, whose backlog is short.
fn messages_beyond(dir: &MemberDir, lane: Lane) -> Result<u64> {
    let cursors = cursors::read(dir)?;
    let cursor = cursors.lane(lane);
    let mut tail = Tail::new(dir.lane(lane), cursor.position());
    let mut count = 0;
    loop {
        let batch = tail.read(1 << 20)?;
        count += batch.lines.iter().filter(|l| is_beyond(cursor, l) && is_to_hand_over(cursor, l)).count() as u64;
        if !batch.more {
            return Ok(count);
        }
    }
}

/// How many records up to `seq` have not been handed over.
pub(super) fn beyond(dir: &MemberDir, lane: Lane, seq: u64) -> Result<u64> {
    let cursors = cursors::read(dir)?;
    let cursor = cursors.lane(lane);
    Ok(seq.saturating_sub(cursor.handed).saturating_sub(cursor.ahead.len() as u64))
}
