//! Marking mail as read.

use crate::model::id::MessageId;
use crate::model::message::Lane;
use crate::store::intake::Intake;
use crate::store::{MemberDir, StoreError};

/// Marks these messages of a lane as handed over and read, or all up to a seq; how many were not before.
/// The intake must be polled.
///
/// # Errors
/// When the cursor cannot be written.
pub fn ack_with(intake: &mut Intake, ids: &[MessageId], up_to: Option<u64>) -> Result<usize, StoreError> {
    let wanted: Vec<MessageId> = intake
        .waiting()
        .iter()
        .filter(|w| ids.contains(&w.id) || up_to.is_some_and(|seq| w.seq <= seq))
        .map(|w| w.id)
        .collect();
    intake.begin(&wanted)?;
    intake.finish()?;
    // Handed over earlier and never said to be read: these are meant too.
    let mut read = intake.unread();
    read.retain(|id| wanted.contains(id) || ids.contains(id) || up_to.is_some());
    intake.mark_read(&read)?;
    Ok(read.len())
}

/// [`ack_with`] for a mailbox whose owner is no teammate: the operator's.
///
/// # Errors
/// As [`ack_with`].
pub fn ack(dir: &MemberDir, ids: &[MessageId], up_to: Option<u64>) -> Result<usize, StoreError> {
    let mut intake = Intake::open(dir, Lane::Inbox)?;
    intake.poll()?;
    ack_with(&mut intake, ids, up_to)
}
