//! What crewmux wrote down of each work tree that it made. The records lie where no sandboxed program can write: what
//! is removed, and which repository git is run in, follows from them alone.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::hold;
use crate::act::ActError;
use crate::model::name::Name;
use crate::model::time::Timestamp;
use crate::model::tree::Tree;
use crate::store::document::{self, Sync};
use crate::store::{Home, make_dirs};

/// Where the records of a team lie, beside its members' folders. A component of a name cannot begin with a dot.
const FOLDER: &str = ".trees";
const VERSION: u32 = 1;

/// How far a tree is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Nobody was given it yet: git or `setup` may have been cut off.
    Making,
    Ready,
    /// It was found unchanged, and is being removed.
    Removing,
}

/// One work tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    pub v: u32,
    pub team: Name,
    /// Tells teams of one name apart.
    pub id8: String,
    pub member: Name,
    /// Which child of the member's agent has it; the member itself where there is none.
    #[serde(default)]
    pub agent: Option<String>,
    pub stage: Stage,
    pub created_at: Timestamp,
    pub tree: Tree,
    /// The hash of the tree's own git configuration as git made it, where it has one.
    #[serde(default)]
    pub config: Option<String>,
}

impl Record {
    #[must_use]
    pub fn new(team: Name, id8: String, member: Name, agent: Option<String>, tree: Tree, now: Timestamp) -> Self {
        Self { v: VERSION, team, id8, member, agent, stage: Stage::Making, created_at: now, tree, config: None }
    }

    /// What people call it: the member, or `member/agent`.
    #[must_use]
    pub fn name(&self) -> String {
        match &self.agent {
            Some(agent) => format!("{}/{agent}", self.member),
            None => self.member.to_string(),
        }
    }

    fn path(&self, home: &Home) -> PathBuf {
        path(home, &self.team, &self.id8, &self.member, self.agent.as_deref())
    }

    pub(super) fn save(&self, home: &Home) -> Result<(), ActError> {
        let path = self.path(home);
        if let Some(folder) = path.parent() {
            make_dirs(folder)?;
        }
        Ok(document::replace_json(&path, self, Sync::Fast)?)
    }

    pub(super) fn forget(&self, home: &Home) -> Result<(), ActError> {
        let path = self.path(home);
        match std::fs::remove_file(&path) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                return Err(ActError::failed(format!("cannot remove {}", path.display())).cause(e.to_string()));
            }
            _ => {}
        }
        // What an agent that died left of its hold on it.
        let _ = std::fs::remove_file(hold::path(home, &self.team, &self.id8, &self.member, self.agent.as_deref()));
        // A child's tree comes and goes while its member lives, whose sandbox names the folder around it.
        if self.agent.is_none() {
            drop_empty(Path::new(&self.tree.path).parent());
        }
        drop_empty(path.parent());
        drop_empty(path.parent().and_then(Path::parent));
        Ok(())
    }

    /// The record of one tree, if there is one.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn read(
        home: &Home,
        team: &Name,
        id8: &str,
        member: &Name,
        agent: Option<&str>,
    ) -> Result<Option<Self>, ActError> {
        Ok(document::read_json(&path(home, team, id8, member, agent))?)
    }

    /// Every record, of all teams. One that cannot be read is named by its path.
    ///
    /// # Errors
    /// When the folder cannot be listed.
    pub fn all(home: &Home) -> Result<(Vec<Self>, Vec<PathBuf>), ActError> {
        let (mut found, mut bad) = (Vec::new(), Vec::new());
        for team in entries(&home.worktrees_dir())? {
            for file in entries(&team.join(FOLDER))? {
                if file.extension().is_none_or(|e| e != "json") {
                    continue;
                }
                match document::read_json::<Self>(&file) {
                    Ok(Some(record)) if record.v <= VERSION => found.push(record),
                    Ok(None) => {}
                    _ => bad.push(file),
                }
            }
        }
        found.sort_by(|a, b| (&a.team, a.created_at, a.name()).cmp(&(&b.team, b.created_at, b.name())));
        Ok((found, bad))
    }

    /// The records of one team.
    ///
    /// # Errors
    /// As [`Record::all`].
    pub fn of_team(home: &Home, team: &Name, id8: &str) -> Result<Vec<Self>, ActError> {
        Ok(Self::all(home)?.0.into_iter().filter(|r| r.team == *team && r.id8 == id8).collect())
    }
}

/// Removes the folders around a tree that is gone, where nothing is left in them. While somebody of its team lives his sandbox may
/// name them.
pub fn tidy(home: &Home, record: &Record) {
    let folder = home.worktrees_of(&record.team, &record.id8, &record.member);
    drop_empty(Some(&folder));
    drop_empty(folder.parent());
}

/// Removes a folder if nothing is left in it.
pub(super) fn drop_empty(folder: Option<&Path>) {
    if let Some(folder) = folder {
        let _ = std::fs::remove_dir(folder);
    }
}

pub(super) fn path(home: &Home, team: &Name, id8: &str, member: &Name, agent: Option<&str>) -> PathBuf {
    let folder = home.worktrees_dir().join(format!("{}-{id8}", team.component())).join(FOLDER);
    // A member's component has no dot, so the two parts cannot run into each other.
    folder.join(format!("{}.{}.json", member.component(), agent.unwrap_or("main")))
}

fn entries(dir: &Path) -> Result<Vec<PathBuf>, ActError> {
    match std::fs::read_dir(dir) {
        Ok(entries) => Ok(entries.flatten().map(|e| e.path()).collect()),
        Err(e) if matches!(e.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) => {
            Ok(Vec::new())
        }
        Err(e) => Err(ActError::failed(format!("cannot list {}", dir.display())).cause(e.to_string())),
    }
}
