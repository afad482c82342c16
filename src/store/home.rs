//! The home: the folder that holds every team of one person.

use std::env;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use uuid::Uuid;

use super::error::{Result, StoreError};
use super::files;
use super::team_dir::TeamDir;
use crate::model::name::Name;

/// How many ended teams of one name are kept.
const DEAD_KEPT: usize = 5;
/// Longest path of a socket in bytes: `sun_path` has 108 (unix(7)); the rest is left to who names the file.
const SOCKET_PATH_BYTES: usize = 100;
/// Room for the socket's own name below its folder.
const SOCKET_NAME_BYTES: usize = 16;

/// The home folder. Asking it for a path makes nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Home {
    root: PathBuf,
}

/// A team that was taken down.
#[derive(Clone, Debug)]
pub struct DeadTeam {
    pub name: Name,
    /// UUIDv7: ordered by when the team was taken down.
    pub id: Uuid,
    pub dir: TeamDir,
}

impl Home {
    /// `$CREWMUX_HOME`, else `$XDG_STATE_HOME/crewmux`, else `~/.local/state/crewmux`.
    pub fn from_env() -> Result<Self> {
        let set = |name: &str| env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
        let root = set("CREWMUX_HOME")
            .or_else(|| set("XDG_STATE_HOME").map(|d| d.join("crewmux")))
            .or_else(|| set("HOME").map(|d| d.join(".local/state/crewmux")))
            .ok_or(StoreError::NoHome)?;
        Ok(Self::at(root))
    }

    /// A home at a given place. A relative path counts from the current folder.
    #[must_use]
    pub fn at(root: PathBuf) -> Self {
        Self { root: std::path::absolute(&root).unwrap_or(root) }
    }

    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folder that holds the living teams.
    #[must_use]
    pub fn teams_dir(&self) -> PathBuf {
        self.root.join("teams")
    }

    /// The folder that holds every git work tree made for members. It outlives the teams.
    #[must_use]
    pub fn worktrees_dir(&self) -> PathBuf {
        self.root.join("worktrees")
    }

    /// The folder below which a member's work trees lie, and those of its children; `id8` is that of its team.
    #[must_use]
    pub fn worktrees_of(&self, team: &Name, id8: &str, member: &Name) -> PathBuf {
        self.worktrees_dir().join(format!("{}-{id8}", team.component())).join(member.component())
    }

    #[must_use]
    pub fn team(&self, name: &Name) -> TeamDir {
        TeamDir::at(self.teams_dir().join(name.component()))
    }

    /// The teams there are, by name. What is no team's folder (a staging folder, a stray file) is left out.
    pub fn teams(&self) -> Result<Vec<Name>> {
        let mut names: Vec<Name> =
            names_in(&self.teams_dir())?.iter().filter_map(|n| Name::from_component(n)).collect();
        names.sort();
        Ok(names)
    }

    /// The ended teams that are still kept, oldest first.
    pub fn dead(&self) -> Result<Vec<DeadTeam>> {
        let folder = self.root.join("dead");
        let mut dead: Vec<DeadTeam> = names_in(&folder)?
            .iter()
            .filter_map(|entry| {
                let cut = entry.len().checked_sub(37)?;
                let (name, id) = (entry.get(..cut)?, entry.get(cut..)?.strip_prefix('-')?);
                let dir = TeamDir::at(folder.join(entry));
                Some(DeadTeam { name: Name::from_component(name)?, id: id.parse().ok()?, dir })
            })
            .collect();
        dead.sort_by_key(|d| d.id);
        Ok(dead)
    }

    /// The lock file that `up`, `run`, `resume`, `down` and `gc` of a team hold for their whole run. Its folder is
    /// made where it is not there; the file is made by who locks it, and never deleted.
    pub fn team_lock(&self, name: &Name) -> Result<PathBuf> {
        let dir = self.root.join("locks");
        files::make_dirs(&dir)?;
        Ok(dir.join(format!("{}.lock", name.component())))
    }

    /// The folder for a team's sockets, made where it is not there: short enough for a socket however deep the home
    /// lies, and of mode 0700 in this user's hands.
    pub fn socket_dir(&self, name: &Name) -> Result<PathBuf> {
        let uid = rustix::process::getuid().as_raw();
        let hash = self.hash8(name);
        let runtime =
            env::var_os("XDG_RUNTIME_DIR").filter(|d| !d.is_empty()).map(|d| PathBuf::from(d).join("crewmux"));
        let fits = |base: &PathBuf| base.as_os_str().len() + 1 + hash.len() + 1 + SOCKET_NAME_BYTES < SOCKET_PATH_BYTES;
        let private = |base: PathBuf| {
            private_dir(&base, uid).and_then(|()| {
                let dir = base.join(&hash);
                private_dir(&dir, uid).map(|()| dir)
            })
        };
        // A runtime folder that is set but not there (su, containers) is no reason to fail.
        if let Some(dir) = runtime.filter(fits).and_then(|base| private(base).ok()) {
            return Ok(dir);
        }
        private(PathBuf::from(format!("/tmp/crewmux-{uid}")))
    }

    /// The folders in which socket folders lie, of this user's every home, whether they are there or not.
    #[must_use]
    pub fn socket_bases() -> Vec<PathBuf> {
        let runtime = env::var_os("XDG_RUNTIME_DIR").filter(|d| !d.is_empty());
        let uid = rustix::process::getuid().as_raw();
        runtime
            .map(|d| PathBuf::from(d).join("crewmux"))
            .into_iter()
            .chain([format!("/tmp/crewmux-{uid}").into()])
            .collect()
    }

    /// Folders of teams that were just being made: their place among the teams, and the team's name.
    pub fn staging(&self) -> Result<Vec<(PathBuf, Name)>> {
        let folder = self.teams_dir();
        let found = names_in(&folder)?.into_iter().filter_map(|entry| {
            let stem = entry.strip_prefix('.')?;
            let cut = stem.len().checked_sub(37)?;
            let (name, id) = (stem.get(..cut)?, stem.get(cut..)?.strip_prefix('-')?);
            id.parse::<Uuid>().ok()?;
            Some((folder.join(&entry), Name::from_component(name)?))
        });
        Ok(found.collect())
    }

    /// Eight hex digits that stand for this home's team of that name.
    fn hash8(&self, name: &Name) -> String {
        let mut hasher = blake3::Hasher::new();
        hasher.update(self.root.as_os_str().as_encoded_bytes());
        hasher.update(&[0]);
        hasher.update(name.as_str().as_bytes());
        hasher.finalize().to_hex()[..8].to_owned()
    }

    /// Moves a team's folder to `dead/<team>-<uuid>/` and drops all but the last five of its name.
    pub fn bury(&self, name: &Name) -> Result<TeamDir> {
        let from = self.team(name);
        let folder = self.root.join("dead");
        files::make_dirs(&folder)?;
        let to = folder.join(format!("{}-{}", name.component(), Uuid::now_v7()));
        fs::rename(from.path(), &to).map_err(|e| match e.kind() {
            std::io::ErrorKind::NotFound => StoreError::NoTeam(from.path().to_owned()),
            _ => StoreError::io("move away", from.path(), e),
        })?;
        let mut same: Vec<DeadTeam> = self.dead()?.into_iter().filter(|d| d.name == *name).collect();
        same.truncate(same.len().saturating_sub(DEAD_KEPT));
        for old in same {
            // One that cannot be removed now is tried again at the next burial.
            let _ = fs::remove_dir_all(old.dir.path());
        }
        Ok(TeamDir::at(to))
    }
}

/// The names in a folder; none where the folder is not there.
pub(super) fn names_in(dir: &Path) -> Result<Vec<String>> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(StoreError::io("list", dir, e)),
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|e| StoreError::io("list", dir, e))?;
        if entry.file_type().is_ok_and(|t| t.is_dir()) {
            names.extend(entry.file_name().into_string());
        }
    }
    names.sort();
    Ok(names)
}

/// Makes a folder of this user's own, or checks that it is one: in `/tmp` another user could have made it first.
fn private_dir(dir: &Path, uid: u32) -> Result<()> {
    match files::make_dir(dir) {
        Ok(()) | Err(StoreError::Exists(_)) => {}
        Err(e) => return Err(e),
    }
    let meta = fs::symlink_metadata(dir).map_err(|e| StoreError::io("look at", dir, e))?;
    if !meta.is_dir() || meta.uid() != uid || meta.mode() & 0o077 != 0 {
        return Err(StoreError::invalid(dir, format!("is not a folder of mode 0700 that belongs to user {uid}")));
    }
    Ok(())
}
