//! What can go wrong with files. Each text is a fragment that reads after "failed to …: " and names its path.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::lease::LeaseText;
use crate::model::name::Name;

pub type Result<T, E = StoreError> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("no team at {}", .0.display())]
    NoTeam(PathBuf),
    #[error("no member at {}", .0.display())]
    NoMember(PathBuf),
    #[error("{} is there already", .0.display())]
    Exists(PathBuf),
    #[error("{} is closed{}", path.display(), said(reason))]
    Closed { path: PathBuf, reason: String },
    #[error("waited {:.1} s for the lock {}, held by {}", waited.as_secs_f64(), path.display(), pids(holders))]
    Locked { path: PathBuf, waited: Duration, holders: Vec<u32> },
    #[error("{} is held by {}", path.display(), held_by(holder.as_deref()))]
    LeaseHeld { path: PathBuf, holder: Option<Box<LeaseText>> },
    #[error("{} has version {found}; this crewmux writes version {known} and leaves a newer one alone", path.display())]
    Newer { path: PathBuf, found: u64, known: u64 },
    #[error("a record of {size} bytes for {} is longer than {limit}", path.display())]
    TooLong { path: PathBuf, size: usize, limit: usize },
    #[error("{}: {why}", path.display())]
    Invalid { path: PathBuf, why: String },
    #[error("neither CREWMUX_HOME, XDG_STATE_HOME nor HOME says where the teams lie")]
    NoHome,
    #[error("{what} {}: {source}", path.display())]
    Io { what: &'static str, path: PathBuf, source: io::Error },
}

impl StoreError {
    /// An error of the operating system: `what` is the verb ("open", "write to", …).
    pub fn io(what: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Io { what, path: path.to_owned(), source }
    }

    pub(super) fn invalid(path: &Path, why: impl ToString) -> Self {
        Self::Invalid { path: path.to_owned(), why: why.to_string() }
    }

    /// The error for a file whose folder is missing: who is not there, the team or the member.
    pub(super) fn missing(path: &Path) -> Self {
        let members = path.ancestors().find(|a| a.file_name().is_some_and(|n| n == "members"));
        match members.and_then(|m| Some((m.parent()?, path.strip_prefix(m).ok()?.components().next()?, m))) {
            Some((team, member, members)) if team.is_dir() => Self::NoMember(members.join(member)),
            Some((team, ..)) => Self::NoTeam(team.to_owned()),
            None => Self::NoTeam(path.parent().unwrap_or(path).to_owned()),
        }
    }

    /// [`Self::missing`] where the folder is what is not there, else the plain error.
    pub(super) fn open(path: &Path, source: io::Error) -> Self {
        let folder_there = path.parent().is_some_and(Path::is_dir);
        if source.kind() == io::ErrorKind::NotFound && !folder_there {
            return Self::missing(path);
        }
        Self::io("open", path, source)
    }

    /// Whether the disk (or the quota, or the limit on file sizes) is what is full.
    #[must_use]
    pub fn is_full(&self) -> bool {
        use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull, WriteZero};
        matches!(self, Self::Io { source, .. }
            if matches!(source.kind(), StorageFull | QuotaExceeded | FileTooLarge | WriteZero))
    }

    /// Whether the same may well go another time: the disk or a lock was in the way, not what was asked for.
    #[must_use]
    pub fn may_pass(&self) -> bool {
        matches!(self, Self::Io { .. } | Self::Locked { .. })
    }

    /// What a person can do about it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Locked { holders, .. } if holders.is_empty() => {
                Some("the holder is not in this pid namespace or has just let go; try again".into())
            }
            Self::Locked { holders, .. } => {
                Some(format!("look at the holder with `ps -fp {}`; a stopped one holds its locks", join(holders, ",")))
            }
            Self::Newer { .. } => Some("use the crewmux that made this team".into()),
            Self::Invalid { path, .. } if path.ends_with("team.json") => {
                let team = path.parent()?.file_name()?.to_str().and_then(Name::from_component)?;
                Some(format!(
                    "`crewmux down --force --team {team}` ends what its leases name and keeps its files; a copy of this one may bring it back"
                ))
            }
            Self::NoHome => Some("set CREWMUX_HOME to a folder of yours".into()),
            _ if self.is_full() => Some("make room on that disk; what was written before is whole".into()),
            Self::Io { source, .. } if source.kind() == io::ErrorKind::PermissionDenied => {
                Some("set CREWMUX_HOME to a folder that you can write".into())
            }
            _ => None,
        }
    }
}

fn said(reason: &str) -> String {
    if reason.is_empty() { String::new() } else { format!(" ({reason})") }
}

fn join(pids: &[u32], between: &str) -> String {
    pids.iter().map(u32::to_string).collect::<Vec<_>>().join(between)
}

fn pids(pids: &[u32]) -> String {
    match pids {
        [] => "a process that /proc/locks does not name".into(),
        [one] => format!("process {one}"),
        more => format!("processes {}", join(more, ", ")),
    }
}

fn held_by(holder: Option<&LeaseText>) -> String {
    holder.map_or_else(|| "another process".into(), |h| format!("process {} (`{}`, life {})", h.pid, h.command, h.life))
}
