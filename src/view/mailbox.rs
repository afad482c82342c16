//! A mailbox as its owner reads it: every message, whether it was read, and whether its sender is who it says.

use std::collections::HashSet;

use super::inbox::MailView;
use crate::act::{ActError, Client, Desk};
use crate::model::id::MessageId;
use crate::model::message::{Lane, Message};
use crate::model::name::{AgentId, Name};
use crate::model::team::Team;
use crate::store::cursor::LaneCursor;
use crate::store::tail::Marker;
use crate::store::{MemberDir, Position, Tail, cursors};

const READ_BYTES: usize = 4 * 1024 * 1024;

/// One's data lane, read on from where one is.
#[derive(Debug)]
pub struct Mailbox {
    dir: MemberDir,
    tail: Tail,
    seen: HashSet<MessageId>,
    closed: bool,
}

impl Mailbox {
    #[must_use]
    pub fn open(dir: MemberDir) -> Self {
        let tail = Tail::new(dir.inbox(), Position::default());
        Self { dir, tail, seen: HashSet::new(), closed: false }
    }

    /// Only what its owner may not have read: where everything handed over was read too, what lies before is left out.
    ///
    /// # Errors
    /// When the cursor cannot be read.
    pub fn unread(dir: MemberDir) -> Result<Self, ActError> {
        let cursor = cursors::read(&dir)?.lane(Lane::Inbox).clone();
        let position = if cursor.read == cursor.handed { cursor.position() } else { Position::default() };
        let tail = Tail::new(dir.inbox(), position);
        Ok(Self { dir, tail, seen: HashSet::new(), closed: false })
    }

    /// The mailbox of whoever calls; of the lead where the operator asks for that.
    ///
    /// # Errors
    /// When the roster cannot be read.
    pub fn of(client: &mut Client, member: Option<&Name>) -> Result<Self, ActError> {
        let name = member.cloned().unwrap_or_else(|| client.name());
        Ok(Self::open(client.desk.mailbox(&name)?))
    }

    #[must_use]
    pub fn dir(&self) -> &MemberDir {
        &self.dir
    }

    /// What has come since the last look. A message that lies there twice comes once.
    ///
    /// # Errors
    /// When the mailbox or the roster cannot be read.
    pub fn read(&mut self, desk: &mut Desk) -> Result<Vec<MailView>, ActError> {
        let mut found = Vec::new();
        loop {
            let batch = self.tail.read(READ_BYTES)?;
            for line in batch.lines {
                match line.marker {
                    Some(marker) => self.closed = marker == Marker::Closed,
                    None => {
                        let Ok(message) = line.parse::<Message>() else { continue };
                        if self.seen.insert(message.id) {
                            found.push((line.seq, line.ts, message));
                        }
                    }
                }
            }
            if !batch.more {
                break;
            }
        }
        if found.is_empty() {
            return Ok(Vec::new());
        }
        let cursor = self.cursor()?;
        let team = desk.team()?;
        Ok(found
            .into_iter()
            .map(|(seq, ts, message)| MailView {
                read: is_read(&cursor, seq, message.id),
                verified: is_verified(team, &message.from),
                seq,
                ts,
                message,
            })
            .collect())
    }

    /// How far the owner has read.
    ///
    /// # Errors
    /// When the cursor cannot be read.
    pub fn cursor(&self) -> Result<LaneCursor, ActError> {
        Ok(cursors::read(&self.dir)?.lane(Lane::Inbox).clone())
    }

    /// Whether nothing more will come: its owner has ended, or the team.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.closed || !self.dir.exists()
    }
}

/// Whether the owner has read the message of this place and id.
#[must_use]
pub fn is_read(cursor: &LaneCursor, seq: u64, id: MessageId) -> bool {
    seq <= cursor.read || cursor.read_ahead.contains(&id)
}

/// Whether `from` is someone whose name is stamped in this team: the operator, the lead, or who is or was a member.
fn is_verified(team: &Team, from: &AgentId) -> bool {
    let known = |name: &Name| name.is_operator() || name.is_lead() || team.member(name).is_some();
    from.team == team.name && known(&from.name)
}
