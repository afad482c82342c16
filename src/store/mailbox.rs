//! Mailboxes: a member's two lanes, as those who write to them see them.

use std::path::Path;
use std::time::Duration;

use super::error::{Result, StoreError};
use super::journal::{Durability, Journal};
use super::member_dir::MemberDir;
use super::tail::Tail;
use super::{backlog, cursors};
use super::{record, segment};
use crate::model::id::MessageId;
use crate::model::message::{Lane, Message};
use crate::os::clock;

/// A lane's segment longer than this, in bytes, is followed by a new one.
pub const SEGMENT_BYTES: u64 = 64 * 1024 * 1024;

/// How long a segment stays that its recipient has read whole.
pub const RETENTION: Duration = Duration::from_secs(24 * 60 * 60);

/// So many older segments stay at most, once they were read whole: who writes much must not fill the disk within a day.
pub const READ_KEPT: usize = 4;

/// The acknowledgement of a message: it lies in the recipient's mailbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivered {
    pub id: MessageId,
    pub seq: u64,
    /// How many records of the lane, this one included, had not been handed over by then.
    pub queued: u64,
    /// The id was there already: nothing was written.
    pub duplicate: bool,
}

/// Appends a message to a lane. `dedupe`: this may be a retry, so its id is looked for in the last 4 MiB first.
pub fn deliver(
    dir: &MemberDir,
    message: &Message,
    lane: Lane,
    durability: Durability,
    dedupe: bool,
) -> Result<Delivered> {
    let Appended { seq, duplicate, rotated } = append(&Journal::open(dir.lane(lane)), message, durability, dedupe)?;
    if rotated {
        // The message lies there, whatever becomes of old segments: the next rotation tries again.
        let _ =
            cursors::read(dir).and_then(|at| prune_segments(&dir.lane(lane), at.lane(lane).read, RETENTION, READ_KEPT));
    }
    let queued = backlog::beyond(dir, lane, seq)?;
    Ok(Delivered { id: message.id, seq, queued, duplicate })
}

struct Appended {
    seq: u64,
    duplicate: bool,
    /// A new segment was begun.
    rotated: bool,
}

fn append(journal: &Journal, message: &Message, durability: Durability, dedupe: bool) -> Result<Appended> {
    let body = record::body(message, journal.path())?;
    let mut locked = journal.lock()?;
    if dedupe && let Some(seq) = locked.find_id(&message.id)? {
        return Ok(Appended { seq, duplicate: true, rotated: false });
    }
    let rotated = locked.rotate_if(SEGMENT_BYTES)?;
    let seq = locked.append_body(&body)?.seq;
    locked.finish(durability)?;
    Ok(Appended { seq, duplicate: false, rotated })
}

/// Appends a message also where the lane is closed, and leaves it closed: whoever opens it next finds the message.
pub fn deliver_even_closed(
    dir: &MemberDir,
    message: &Message,
    lane: Lane,
    durability: Durability,
) -> Result<Delivered> {
    let journal = Journal::open(dir.lane(lane));
    let body = record::body(message, journal.path())?;
    let mut locked = journal.lock()?;
    let known = locked.find_id(&message.id)?;
    let seq = match known {
        Some(seq) => seq,
        None => {
            let closed = locked.tail()?.closed;
            if closed.is_some() {
                locked.reopen("for a message that is to wait")?;
            }
            let seq = locked.append_body(&body)?.seq;
            if let Some(reason) = closed {
                locked.close(&reason)?;
            }
            seq
        }
    };
    locked.finish(durability)?;
    let queued = backlog::depth(dir, lane)?;
    Ok(Delivered { id: message.id, seq, queued, duplicate: known.is_some() })
}

/// Closes both lanes: every message after this is refused.
pub fn close(dir: &MemberDir, reason: &str) -> Result<()> {
    for lane in [Lane::Inbox, Lane::Control] {
        close_journal(&dir.lane(lane), reason)?;
    }
    Ok(())
}

/// Closes both lanes, and while nobody can write to the inbox does what is to be done with its last mail. Nothing of
/// that where the inbox is closed already; who dies in between has closed nothing, and the next one does it all.
pub fn close_after<T>(dir: &MemberDir, reason: &str, last: impl FnOnce() -> Result<T>) -> Result<Option<T>> {
    let inbox = Journal::open(dir.lane(Lane::Inbox));
    let mut locked = inbox.lock()?;
    let done = match locked.tail()?.closed {
        Some(_) => None,
        None => Some(last()?),
    };
    locked.close(reason)?;
    locked.finish(Durability::Durable)?;
    close_journal(&dir.lane(Lane::Control), reason)?;
    Ok(done)
}

/// Closes any journal.
pub fn close_journal(path: &Path, reason: &str) -> Result<()> {
    let journal = Journal::open(path);
    let mut locked = journal.lock()?;
    locked.close(reason)?;
    locked.finish(Durability::Durable)
}

/// Opens both lanes again, where they are closed: the member is started once more.
pub fn reopen(dir: &MemberDir, reason: &str) -> Result<()> {
    for lane in [Lane::Inbox, Lane::Control] {
        let path = dir.lane(lane);
        // A lane that nobody ever wrote to is open as it is.
        if !path.exists() {
            continue;
        }
        let journal = Journal::open(path);
        let mut locked = journal.lock()?;
        locked.reopen(reason)?;
        locked.finish(Durability::Durable)?;
    }
    Ok(())
}

/// Whether a lane is closed, and why. Takes no lock.
pub fn closed(dir: &MemberDir, lane: Lane) -> Result<Option<String>> {
    Ok(super::journal::last_record(&dir.lane(lane))?.and_then(|l| l.closed))
}

/// Removes older segments of a journal whose records all have a `seq` of at most `before_seq` and that were last
/// written more than `older_than` ago, or that are more than `keep`. Returns how many. The newest of them stays, so that
/// numbers are not used twice.
pub fn prune_segments(path: &Path, before_seq: u64, older_than: Duration, keep: usize) -> Result<usize> {
    let journal = Journal::open(path);
    let _locked = journal.lock()?;
    let mut older = segment::older(path)?;
    let too_many = older.len().saturating_sub(keep);
    older.pop();
    let mut gone = 0;
    for old in older {
        let last = Tail::last_of(&old.path)?;
        let young = |at| gone >= too_many && clock::now().since(at) < older_than;
        if last.is_none_or(|(seq, at)| seq > before_seq || young(at)) {
            break;
        }
        std::fs::remove_file(&old.path).map_err(|e| StoreError::io("remove", &old.path, e))?;
        gone += 1;
    }
    Ok(gone)
}
