//! How much mail may lie unread: in a mailbox, from one member with another, and on the disk.

use super::desk::Desk;
use super::error::ActError;
use super::who::Who;
use crate::decide::authority::Authority;
use crate::model::message::Lane;
use crate::model::name::Name;
use crate::store::{MemberDir, TeamDir, backlog, blob, cursors};

const MIB: u64 = 1024 * 1024;
/// Fewer messages than this cannot be many bytes: their files are not asked.
const FEW: u64 = 64;

/// Whether one more message may lie in `to`'s mailbox.
pub(super) fn check(desk: &mut Desk, who: &Who, dir: &MemberDir, to: &Name) -> Result<(), ActError> {
    let limits = desk.team()?.settings.limits.clone();
    let depth = backlog::depth(dir, Lane::Inbox)?;
    let most = limits.queue_depth;
    if depth >= most {
        return Err(ActError::failed(format!("`{to}` has {depth} unread messages, its limit is {most}"))
            .hint("wait until it has read some, or raise `queue_depth` under `[limits]`"));
    }
    if depth > FEW && backlog::bytes_beyond(dir, Lane::Inbox)? >= limits.queue_mib.saturating_mul(MIB) {
        let most = limits.queue_mib;
        return Err(ActError::failed(format!("`{to}` has {most} MiB of unread mail, which is its limit"))
            .hint("wait until it has read some, or raise `queue_mib` under `[limits]`"));
    }
    if who.authority == Authority::Member {
        check_own(desk, dir, to, limits.sender_depth)?;
    }
    Ok(())
}

/// One member alone must not take the whole of another's mailbox: the others' words have to find room.
fn check_own(desk: &mut Desk, dir: &MemberDir, to: &Name, most: u64) -> Result<(), ActError> {
    let Some(own) = desk.sent.get_mut(to).filter(|own| own.len() as u64 >= most) else { return Ok(()) };
    let handed = cursors::read(dir)?.lane(Lane::Inbox).handed;
    while own.front().is_some_and(|seq| *seq <= handed) {
        own.pop_front();
    }
    let lie = own.len() as u64;
    if lie < most {
        return Ok(());
    }
    Err(ActError::failed(format!("{lie} of your messages lie unread with `{to}`, the limit for one sender is {most}"))
        .hint("wait until it has read some, or raise `sender_depth` under `[limits]`"))
}

/// Whether one more large text may be kept.
pub(super) fn check_blobs(team: &TeamDir, size: usize, most_mib: u64) -> Result<(), ActError> {
    let there = blob::total(team)?;
    if there.saturating_add(size as u64) <= most_mib.saturating_mul(MIB) {
        return Ok(());
    }
    let blobs = team.blobs();
    Err(ActError::failed(format!("the team's large texts would take more than {most_mib} MiB, which is their limit"))
        .cause(format!("{there} bytes lie in {}", blobs.display()))
        .hint("put it into a file under $CREWMUX_SCRATCH and send the path, or raise `blobs_mib` under `[limits]`"))
}
