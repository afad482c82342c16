//! Trees of who works outside any team. No roster says that such an agent lives, so it holds a lease for each tree that one of its
//! children works in.

use std::path::{Path, PathBuf};

use super::record::{self, Record};
use crate::act::ActError;
use crate::model::name::Name;
use crate::os::clock;
use crate::os::process;
use crate::store::lease::{self, Lease, LeaseText};
use crate::store::{Home, make_dirs};

/// A tree in somebody's hands: while this lives, nobody removes it.
#[derive(Debug)]
pub struct Held {
    path: PathBuf,
    _lease: Lease,
}

impl Drop for Held {
    fn drop(&mut self) {
        // While it is still held: who comes later makes a lease of his own.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Takes the lease of a tree that is to be made, or is there.
///
/// # Errors
/// When somebody holds it, or it cannot be written.
pub fn hold(home: &Home, team: &Name, id8: &str, member: &Name, agent: Option<&str>) -> Result<Held, ActError> {
    let path = path(home, team, id8, member, agent);
    make_dirs(path.parent().unwrap_or(Path::new("/")))?;
    let me = process::me();
    let text = LeaseText {
        boot_id: process::boot_id(),
        pid: me.pid,
        start_time: me.start_time,
        life: clock::new_life(),
        command: "crewmux agent".to_owned(),
    };
    let lease = Lease::take(&path, &text, lease::RETRY)?;
    Ok(Held { path, _lease: lease })
}

/// The process that works in the tree outside any team, where one does.
///
/// # Errors
/// When the lease cannot be looked at.
pub fn holder(home: &Home, record: &Record) -> Result<Option<u32>, ActError> {
    let path = path(home, &record.team, &record.id8, &record.member, record.agent.as_deref());
    Ok(lease::is_held_by_living(&path)?.then(|| lease::text(&path).map_or(0, |text| text.pid)))
}

pub(super) fn path(home: &Home, team: &Name, id8: &str, member: &Name, agent: Option<&str>) -> PathBuf {
    record::path(home, team, id8, member, agent).with_extension("lease")
}
