//! Where sessions lie: a folder each, with `meta.json`, the main conversation's transcript and those of its children.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use thiserror::Error;
use uuid::Uuid;

use crate::agent::permission::Mode;
use crate::agent::settings::Settings;
use crate::agent::transcript::{Recalled, Transcript};
use crate::model::time::Timestamp;
use crate::os::clock;
use crate::store::document::{self, Sync};
use crate::store::{Home, StoreError};

const VERSION: u32 = 1;
/// Sessions that `list` gives.
const MOST_LISTED: usize = 200;

/// `meta.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    pub v: u32,
    pub id: String,
    pub cwd: PathBuf,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    /// The first line of the first prompt.
    pub title: Option<String>,
    pub model: String,
    pub mode: Mode,
    #[serde(default)]
    pub coordinator: bool,
}

#[derive(Debug, Error)]
pub enum ShelfError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("cannot make {path}: {why}")]
    Make { path: PathBuf, why: std::io::Error },
    #[error("there is no session `{0}`")]
    Unknown(String),
    #[error("no session has been had in {0}")]
    NoneHere(PathBuf),
    #[error("session `{id}` is of version {v}, which is newer than this program")]
    Newer { id: String, v: u32 },
}

/// The folder of all sessions.
#[derive(Clone, Debug)]
pub struct Shelf {
    root: PathBuf,
}

impl Shelf {
    /// `$CREWMUX_AGENT_DIR`; in a team `agent/MEMBER/` in the team's scratchpad, which a sandboxed member can write; else `agent/` in the home.
    ///
    /// # Errors
    /// Where there is no home.
    pub fn from_env() -> Result<Self, ShelfError> {
        let set = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty());
        if let Some(dir) = set("CREWMUX_AGENT_DIR") {
            return Ok(Self { root: PathBuf::from(dir) });
        }
        if let (Some(scratch), Some(member)) = (set("CREWMUX_SCRATCH"), set("CREWMUX_MEMBER")) {
            return Ok(Self { root: PathBuf::from(scratch).join("agent").join(member) });
        }
        Ok(Self { root: Home::from_env()?.root().join("agent") })
    }

    #[must_use]
    pub fn at(root: PathBuf) -> Self {
        Self { root }
    }

    #[must_use]
    pub fn dir(&self, id: &str) -> PathBuf {
        self.root.join("sessions").join(id)
    }

    #[must_use]
    pub fn transcript(&self, id: &str) -> PathBuf {
        self.dir(id).join("main.jsonl")
    }

    fn meta(&self, id: &str) -> PathBuf {
        self.dir(id).join("meta.json")
    }

    /// The file through which all who share a server and a key tell each other to wait: in a team one for all members.
    #[must_use]
    pub fn limits_file(&self, settings: &Settings) -> PathBuf {
        let mut hasher = blake3::Hasher::new();
        let key = settings.api_key.as_ref().or(settings.auth_token.as_ref()).map(String::as_str).unwrap_or_default();
        for part in [settings.base_url.as_str(), key] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        let name = format!("limits-{}.json", &hasher.finalize().to_hex()[..16]);
        let shared = std::env::var_os("CREWMUX_SCRATCH").filter(|v| !v.is_empty());
        shared.map_or_else(|| self.root.clone(), |scratch| PathBuf::from(scratch).join("agent")).join(name)
    }

    /// Makes the folder of a new session.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn make(&self, cwd: &Path, model: &str, coordinator: bool) -> Result<Kept, ShelfError> {
        use std::os::unix::fs::DirBuilderExt;
        let id = Uuid::now_v7().to_string();
        let dir = self.dir(&id);
        // What was said in a session is its person's own.
        let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(&dir);
        made.map_err(|why| ShelfError::Make { path: dir, why })?;
        let now = clock::now();
        let mut kept = Kept {
            v: VERSION,
            id,
            cwd: cwd.to_owned(),
            created_at: now,
            updated_at: now,
            title: None,
            model: model.to_owned(),
            mode: Mode::Default,
            coordinator,
        };
        self.update(&mut kept)?;
        Ok(kept)
    }

    /// # Errors
    /// When it cannot be written.
    pub fn update(&self, kept: &mut Kept) -> Result<(), ShelfError> {
        kept.updated_at = clock::now();
        Ok(document::replace_json(&self.meta(&kept.id), kept, Sync::Fast)?)
    }

    /// A session by its id, or the beginning of it.
    ///
    /// # Errors
    /// When there is none, or several begin so.
    pub fn find(&self, id: &str) -> Result<Kept, ShelfError> {
        let unknown = || ShelfError::Unknown(id.to_owned());
        let is_plain = !id.is_empty() && id.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
        if !is_plain {
            return Err(unknown());
        }
        let mut names = self.names().into_iter().filter(|name| name.starts_with(id));
        let found = names.next().filter(|_| names.next().is_none()).ok_or_else(unknown)?;
        let kept: Kept = document::read_json(&self.meta(&found))?.ok_or_else(unknown)?;
        if kept.v > VERSION {
            return Err(ShelfError::Newer { id: kept.id, v: kept.v });
        }
        Ok(kept)
    }

    /// The session that was used last in a folder.
    ///
    /// # Errors
    /// When there is none.
    pub fn last(&self, cwd: &Path) -> Result<Kept, ShelfError> {
        let mine = self.list(Some(cwd)).into_iter().next();
        mine.ok_or_else(|| ShelfError::NoneHere(cwd.to_owned()))
    }

    /// The sessions there are, the one used last first. What cannot be read is left out.
    #[must_use]
    pub fn list(&self, cwd: Option<&Path>) -> Vec<Kept> {
        let read = |name: String| document::read_json::<Kept>(&self.meta(&name)).ok().flatten();
        let mut all: Vec<Kept> = self.names().into_iter().rev().filter_map(read).collect();
        all.retain(|kept| kept.v <= VERSION && kept.title.is_some() && cwd.is_none_or(|cwd| kept.cwd == cwd));
        all.sort_by_key(|kept| std::cmp::Reverse(kept.updated_at));
        all.truncate(MOST_LISTED);
        all
    }

    /// The folders' names, oldest first: they begin with the time.
    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.root.join("sessions")).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        names
    }

    /// What was said in a session.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn recall(&self, id: &str) -> Result<Recalled, ShelfError> {
        Ok(Transcript::recall(&self.transcript(id))?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_are_found_by_id_its_beginning_and_their_folder() {
        let dir = tempfile::tempdir().unwrap();
        let shelf = Shelf::at(dir.path().join("agent"));
        assert!(shelf.list(None).is_empty());
        let mut first = shelf.make(Path::new("/a"), "m", false).unwrap();
        assert!(shelf.list(None).is_empty(), "nothing was said in it");
        first.title = Some("one".to_owned());
        shelf.update(&mut first).unwrap();
        let mut second = shelf.make(Path::new("/b"), "m", true).unwrap();
        second.title = Some("two".to_owned());
        shelf.update(&mut second).unwrap();
        assert_eq!(shelf.list(None).iter().map(|k| k.id.as_str()).collect::<Vec<_>>(), [&second.id, &first.id]);
        assert_eq!(shelf.last(Path::new("/a")).unwrap(), first);
        assert!(matches!(shelf.last(Path::new("/c")), Err(ShelfError::NoneHere(_))));
        assert_eq!(shelf.find(&second.id).unwrap(), second);
        // They were made in the same moment and begin alike.
        assert!(matches!(shelf.find(&first.id[..4]), Err(ShelfError::Unknown(_))));
        for bad in ["", "..", "../x", "nope"] {
            assert!(matches!(shelf.find(bad), Err(ShelfError::Unknown(_))), "{bad}");
        }
        let mut newer = shelf.make(Path::new("/a"), "m", false).unwrap();
        newer.v = 99;
        shelf.update(&mut newer).unwrap();
        assert!(matches!(shelf.find(&newer.id), Err(ShelfError::Newer { .. })));
    }

    #[test]
    fn who_shares_server_and_key_shares_the_file() {
        let shelf = Shelf::at(PathBuf::from("/s"));
        let with = |key: &str| Settings { api_key: Some(key.to_owned()), ..Settings::default() };
        assert_eq!(shelf.limits_file(&with("a")), shelf.limits_file(&with("a")));
        assert_ne!(shelf.limits_file(&with("a")), shelf.limits_file(&with("b")));
        let file = shelf.limits_file(&with("secret")).display().to_string();
        assert!(!file.contains("secret"));
    }
}
