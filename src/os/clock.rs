//! The clock and the maker of ids: the one place where time and chance come in.

use std::time::SystemTime;

use uuid::Uuid;

use super::fault;
use crate::model::id::{Life, MessageId, RequestId, SegmentId, SpawnId};
use crate::model::time::Timestamp;

/// The wall clock, in microseconds since the Unix epoch.
#[must_use]
pub fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since.as_micros()).unwrap_or(i64::MAX).saturating_add(fault::clock_error()))
}

/// A message's id, ordered by time.
#[must_use]
pub fn new_message_id() -> MessageId {
    MessageId(Uuid::now_v7())
}

/// A life: one start of a lead or a teammate.
#[must_use]
pub fn new_life() -> Life {
    Life(Uuid::now_v7())
}

/// A segment of a journal.
#[must_use]
pub fn new_segment_id() -> SegmentId {
    SegmentId(Uuid::now_v7())
}

/// One act of spawning.
#[must_use]
pub fn new_spawn_id() -> SpawnId {
    SpawnId(Uuid::now_v7())
}

/// A request in the ledger.
#[must_use]
pub fn new_request_id() -> RequestId {
    RequestId(Uuid::now_v7())
}
