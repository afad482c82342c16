//! What is put right in a team's files before a lead takes it up again, and nothing beyond this list:
//!
//! 1. A team of a newer version is refused.
//! 2. A half-written last line of a journal is ended, so that it never becomes a record.
//! 3. What writers that are gone had begun beside a file is removed.
//! 4. A `down` that was cut off before the files went away is undone: board, ledger, events, outboxes and replies are open
//!    again. (One that is to be finished is finished by `down` itself.)
//! 5. Folders that are not there are made: the team's own, and those of members of the roster.
//! 6. What hooks of the lead before started and left is ended.
//!
//! The rest of the list is the new lead's ([`crate::decide::lead::Lead::begin`]): whoever holds its lease in the life that
//! the roster names is taken over; every other recorded life is ended, whatever is left of it, and its tasks go back;
//! the restart policy decides who starts; an unfinished `spawn` is undone; mailboxes of members that are not out are
//! opened; open requests of ended lives are withdrawn, decisions without an answer are answered again.

use std::time::Duration;

use crate::act::ActError;
use crate::hook;
use crate::model::message::Lane;
use crate::model::name::Name;
use crate::model::team::Team;
use crate::store::{Journal, TeamDir, mend, roster};

/// Between TERM and KILL for what hooks left.
const HOOK_GRACE: Duration = Duration::from_secs(1);

pub(super) fn before_resume(dir: &TeamDir, team: &Team) -> Result<(), ActError> {
    roster::check_version(dir, team)?;
    mend::torn_lines(dir)?;
    mend::leavings(dir)?;
    dir.complete()?;
    for member in &team.members {
        let folder = dir.member(&member.name);
        folder.create()?;
        for path in [folder.outbox(), folder.replies()] {
            reopen(&path)?;
        }
    }
    if let Some(left) = hook::left_of(team) {
        let _ = left.end(HOOK_GRACE);
    }
    let lead = dir.member(&Name::lead());
    lead.create()?;
    for path in [dir.tasks(), dir.requests(), dir.events(), lead.lane(Lane::Inbox), lead.lane(Lane::Control)] {
        reopen(&path)?;
    }
    Ok(())
}

fn reopen(path: &std::path::Path) -> Result<(), ActError> {
    if path.exists() {
        let journal = Journal::open(path);
        let mut locked = journal.lock()?;
        locked.reopen("the team is taken up again")?;
        locked.finish(crate::store::Durability::Durable)?;
    }
    Ok(())
}
