//! The roster, `team.json`: read by anyone, written by whoever holds the lead's lease.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::document::{self, Sync};
use super::error::{Result, StoreError};
use super::lease::Lease;
use super::team_dir::TeamDir;
use crate::model::team::{TEAM_VERSION, Team};

/// Reads the roster. A newer version is read as far as its known fields suffice.
pub fn read_team(dir: &TeamDir) -> Result<Team> {
    let path = dir.team_json();
    match document::read_json(&path) {
        Ok(team) => team.ok_or_else(|| StoreError::NoTeam(dir.path().to_owned())),
        Err(error @ StoreError::Invalid { .. }) => Err(newer(&path).unwrap_or(error)),
        Err(error) => Err(error),
    }
}

/// What a newer crewmux wrote need not look like a roster of ours any more.
fn newer(path: &Path) -> Option<StoreError> {
    #[derive(Deserialize)]
    struct Version {
        v: u64,
    }
    let found = document::read_json::<Version>(path).ok()??.v;
    let known = u64::from(TEAM_VERSION);
    (found > known).then(|| StoreError::Newer { path: path.to_owned(), found, known })
}

/// Fails for a team that a newer crewmux made: it is read as far as its known fields suffice, and nothing of it is
/// written, since what the newer one has to keep is not known here.
pub fn check_version(dir: &TeamDir, team: &Team) -> Result<()> {
    if team.v <= TEAM_VERSION {
        return Ok(());
    }
    Err(StoreError::Newer { path: dir.team_json(), found: u64::from(team.v), known: u64::from(TEAM_VERSION) })
}

/// Writes the first roster of a team that is being built in a staging folder.
pub fn write_first(staging: &TeamDir, team: &Team) -> Result<()> {
    document::replace_json(&staging.team_json(), team, Sync::Durable)
}

/// The roster in the hands of the lead.
#[derive(Debug)]
pub struct LockedRoster {
    path: PathBuf,
    team: Team,
}

impl LockedRoster {
    /// Opens the roster for writing. `lease` must be the team's own lead lease.
    pub fn open(dir: &TeamDir, lease: &Lease) -> Result<Self> {
        if lease.path() != dir.lead_lease() {
            return Err(StoreError::invalid(lease.path(), format!("is not the lease of {}", dir.path().display())));
        }
        let team = read_team(dir)?;
        check_version(dir, &team)?;
        Ok(Self { path: dir.team_json(), team })
    }

    #[must_use]
    pub fn team(&self) -> &Team {
        &self.team
    }

    /// Changes the roster and replaces the file. Where that fails, the roster stays as it was.
    pub fn update<R>(&mut self, change: impl FnOnce(&mut Team) -> R) -> Result<R> {
        let mut team = self.team.clone();
        let answer = change(&mut team);
        // What an older version left out was filled in when it was read.
        team.v = TEAM_VERSION;
        if team != self.team {
            document::replace_json(&self.path, &team, Sync::Durable)?;
            self.team = team;
        }
        Ok(answer)
    }
}
