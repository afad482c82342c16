//! What lies beside a child's transcript, so that who is resumed is the same child.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::agent::AgentId;
use crate::agent::permission::Mode;
use crate::model::time::Timestamp;
use crate::store::document::{self, Sync};

pub const VERSION: u32 = 1;

/// `ID.meta.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    pub v: u32,
    pub id: AgentId,
    pub definition: String,
    pub description: String,
    pub name: Option<String>,
    pub parent: AgentId,
    pub model: String,
    pub mode: Mode,
    /// The tools that it was shown.
    pub tools: Vec<String>,
    pub cwd: PathBuf,
    pub created_at: Timestamp,
    /// Where it works apart from its parent, and on which branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree: Option<(PathBuf, String)>,
    /// What a commit there writes elsewhere.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub git: Vec<PathBuf>,
}

/// The children's folder of a session.
#[derive(Clone, Debug)]
pub struct Nest(pub PathBuf);

impl Nest {
    #[must_use]
    pub fn transcript(&self, id: &AgentId) -> PathBuf {
        self.0.join(format!("{id}.jsonl"))
    }

    /// Eight hex digits of the session.
    #[must_use]
    pub fn id8(&self) -> String {
        let session = self.0.parent().and_then(Path::file_name).map(|name| name.to_string_lossy().replace('-', ""));
        let session = session.filter(|name| name.len() >= 8 && name.bytes().all(|b| b.is_ascii_hexdigit()));
        session.map_or_else(|| "00000000".to_owned(), |name| name[name.len() - 8..].to_owned())
    }

    fn meta(&self, id: &AgentId) -> PathBuf {
        self.0.join(format!("{id}.meta.json"))
    }

    /// # Errors
    /// Why it cannot be written.
    pub fn keep(&self, kept: &Kept) -> Result<(), String> {
        let made = std::fs::create_dir_all(&self.0).map_err(|e| format!("cannot make {}: {e}", self.0.display()));
        made.and_then(|()| {
            document::replace_json(&self.meta(&kept.id), kept, Sync::Fast).map_err(|error| error.to_string())
        })
    }

    /// A child that once was: by its id, or the last one of that name.
    ///
    /// # Errors
    /// Why it cannot be taken up again; it names the id where only the transcript is missing.
    pub fn find(&self, word: &str) -> Result<Option<Kept>, String> {
        let found = match AgentId::parse(word).filter(|id| !id.is_main()) {
            Some(id) => self.read(&self.meta(&id)),
            None => self.all().into_iter().filter(|k| k.name.as_deref() == Some(word)).max_by_key(|k| k.created_at),
        };
        match found {
            Some(kept) if kept.v > VERSION => Err(format!("{} was kept by a newer version of this program", kept.id)),
            Some(kept) if !self.transcript(&kept.id).exists() => Err(format!("the transcript of {} is gone", kept.id)),
            found => Ok(found),
        }
    }

    fn all(&self) -> Vec<Kept> {
        let entries = std::fs::read_dir(&self.0).into_iter().flatten().flatten();
        entries
            .map(|e| e.path())
            .filter(|p| p.to_string_lossy().ends_with(".meta.json"))
            .filter_map(|p| self.read(&p))
            .collect()
    }

    fn read(&self, path: &Path) -> Option<Kept> {
        document::read_json(path).ok().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::os::clock;

    #[test]
    fn who_was_kept_is_found_by_id_and_the_last_one_by_name() {
        let dir = tempfile::tempdir().unwrap();
        let nest = Nest(dir.path().join("children"));
        assert_eq!(nest.find("scout"), Ok(None));
        let kept = |digits: &str| Kept {
            v: VERSION,
            id: AgentId::parse(digits).unwrap(),
            definition: "Explore".to_owned(),
            description: "look".to_owned(),
            name: Some("scout".to_owned()),
            parent: AgentId::main(),
            model: "m".to_owned(),
            mode: Mode::ReadOnly,
            tools: vec!["Read".to_owned()],
            cwd: PathBuf::from("/w"),
            created_at: clock::now(),
            worktree: None,
            git: Vec::new(),
        };
        let (first, second) = (kept("a00000001"), kept("a00000002"));
        nest.keep(&first).unwrap();
        assert_eq!(nest.find("a00000001"), Err("the transcript of a00000001 is gone".to_owned()));
        nest.keep(&second).unwrap();
        for one in [&first, &second] {
            std::fs::write(nest.transcript(&one.id), "").unwrap();
        }
        assert_eq!(nest.find("a00000001"), Ok(Some(first)));
        assert_eq!(nest.find("scout").unwrap().unwrap().id, second.id);
        for other in ["main", "../a00000001", "a00000009"] {
            assert_eq!(nest.find(other), Ok(None), "{other}");
        }
        nest.keep(&Kept { v: 9, ..second.clone() }).unwrap();
        assert!(nest.find(second.id.as_str()).is_err());
    }
}
