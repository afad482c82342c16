//! A team's folder: which path is what. Only [`TeamDir::create_new`] makes one.

use std::fs;
use std::path::{Path, PathBuf};

use super::error::{Result, StoreError};
use super::files;
use super::home::{Home, names_in};
use super::member_dir::MemberDir;
use crate::model::name::Name;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TeamDir {
    path: PathBuf,
}

impl TeamDir {
    /// The team whose folder this is (a living one, or one that was taken down).
    #[must_use]
    pub fn at(path: PathBuf) -> Self {
        Self { path }
    }

    /// Builds a whole team folder beside its place and renames it there, so that it exists whole or not at all.
    /// `fill` gets the staging folder; what it fails with is returned as it is, and nothing remains.
    pub fn create_new<E: From<StoreError>>(
        home: &Home,
        name: &Name,
        fill: impl FnOnce(&TeamDir) -> Result<(), E>,
    ) -> Result<Self, E> {
        let teams = home.teams_dir();
        files::make_dirs(&teams)?;
        let team = home.team(name);
        if team.path.symlink_metadata().is_ok() {
            return Err(StoreError::Exists(team.path).into());
        }
        // A dot cannot begin a name's path component, so nobody takes this for a team.
        let staging = Self::at(teams.join(format!(".{}-{}", name.component(), uuid::Uuid::now_v7())));
        let built = staging.skeleton().map_err(E::from).and_then(|()| fill(&staging)).and_then(|()| {
            files::sync_dir(&staging.path)?;
            // A folder replaces only an empty one (rename(2)), so a team made meanwhile is never overwritten.
            fs::rename(&staging.path, &team.path).map_err(|e| match e.kind() {
                std::io::ErrorKind::DirectoryNotEmpty | std::io::ErrorKind::AlreadyExists => {
                    StoreError::Exists(team.path.clone())
                }
                _ => StoreError::io("put in place", &team.path, e),
            })?;
            Ok(files::sync_dir(&teams)?)
        });
        if let Err(error) = built {
            let _ = fs::remove_dir_all(&staging.path);
            return Err(error);
        }
        Ok(team)
    }

    fn skeleton(&self) -> Result<()> {
        for dir in [self.path.clone(), self.members_dir(), self.blobs(), self.plans(), self.scratch()] {
            files::make_dir(&dir)?;
        }
        self.member(&Name::lead()).create()
    }

    /// Makes the folders that are not there: copies often lose empty ones, and no sandbox could allow what is missing.
    pub fn complete(&self) -> Result<()> {
        self.check()?;
        [self.members_dir(), self.blobs(), self.plans(), self.scratch()]
            .iter()
            .try_for_each(|dir| files::make_dirs(dir))
    }

    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    #[must_use]
    pub fn exists(&self) -> bool {
        self.path.is_dir()
    }

    /// `Ok` where the team is there.
    pub fn check(&self) -> Result<()> {
        if self.exists() { Ok(()) } else { Err(StoreError::NoTeam(self.path.clone())) }
    }

    #[must_use]
    pub fn team_json(&self) -> PathBuf {
        self.path.join("team.json")
    }

    #[must_use]
    pub fn lead_lease(&self) -> PathBuf {
        self.path.join("lead.lease")
    }

    /// The board.
    #[must_use]
    pub fn tasks(&self) -> PathBuf {
        self.path.join("tasks.jsonl")
    }

    /// The ledger.
    #[must_use]
    pub fn requests(&self) -> PathBuf {
        self.path.join("requests.jsonl")
    }

    #[must_use]
    pub fn events(&self) -> PathBuf {
        self.path.join("events.jsonl")
    }

    #[must_use]
    pub fn blobs(&self) -> PathBuf {
        self.path.join("blobs")
    }

    #[must_use]
    pub fn plans(&self) -> PathBuf {
        self.path.join("plans")
    }

    #[must_use]
    pub fn scratch(&self) -> PathBuf {
        self.path.join("scratch")
    }

    /// Mail that could no longer be delivered.
    #[must_use]
    pub fn dead_letters(&self) -> PathBuf {
        self.path.join("dead.jsonl")
    }

    #[must_use]
    pub fn members_dir(&self) -> PathBuf {
        self.path.join("members")
    }

    #[must_use]
    pub fn member(&self, name: &Name) -> MemberDir {
        MemberDir::at(self.members_dir().join(name.component()))
    }

    /// Everyone who has a folder, whether in the roster or not.
    pub fn members_on_disk(&self) -> Result<Vec<Name>> {
        self.check()?;
        Ok(names_in(&self.members_dir())?.iter().filter_map(|n| Name::from_component(n)).collect())
    }
}
