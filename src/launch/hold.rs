//! The team's lock: one `up`, `run`, resume or `down` of a team at a time, each for its whole run.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use crate::act::ActError;
use crate::model::name::Name;
use crate::os::process;
use crate::store::{Home, Lease, LeaseText, StoreError};

/// The held lock. Its file names the holder and is never deleted.
pub struct Hold {
    _lease: Lease,
}

impl Hold {
    /// Takes the lock of `team`.
    ///
    /// # Errors
    /// Exit code 7 where another command works on the team.
    pub fn take(home: &Home, team: &Name, command: &str) -> Result<Self, ActError> {
        let path = lock_file(home, team)?;
        let me = process::me();
        let text = LeaseText {
            boot_id: process::boot_id(),
            pid: me.pid,
            start_time: me.start_time,
            life: crate::os::clock::new_life(),
            command: command.to_owned(),
        };
        match Lease::take(&path, &text, Duration::from_millis(300)) {
            Ok(lease) => Ok(Self { _lease: lease }),
            Err(StoreError::LeaseHeld { holder, .. }) => {
                let who = holder
                    .map_or_else(|| "another command".to_owned(), |h| format!("`{}` (process {})", h.command, h.pid));
                Err(ActError::conflict(format!("{who} is at work on team `{team}`"))
                    .hint("wait until it has ended, or interrupt it; `--name` launches under another name"))
            }
            Err(error) => Err(error.into()),
        }
    }
}

fn lock_file(home: &Home, team: &Name) -> Result<PathBuf, ActError> {
    let path = home.team_lock(team)?;
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|e| StoreError::io("make", folder, e))?;
    }
    Ok(path)
}
