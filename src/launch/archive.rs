//! A copy of a team's files for people to keep: whole or not there, and its story in plain text beside the records.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::act::ActError;
use crate::model::name::Name;
use crate::store::{Home, StoreError, TeamDir, make_dirs};
use crate::view::replay::Story;

/// What `crewmux replay` prints, for whoever has no crewmux at hand.
const STORY: &str = "story.txt";

/// Where a team's copy is going to lie.
#[derive(Clone, Debug)]
pub(super) struct Archive {
    folder: PathBuf,
    place: PathBuf,
    /// It grows here and is renamed to its place when it is whole.
    part: PathBuf,
}

impl Archive {
    /// Looks whether a team can be kept there, before anybody of it is asked to end. Makes nothing.
    pub fn plan(home: &Home, folder: &Path, name: &Name) -> Result<Self, ActError> {
        let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        let there = folder.ancestors().find_map(|dir| dir.canonicalize().ok()).unwrap_or_default();
        let root = home.root().canonicalize().unwrap_or_else(|_| home.root().to_owned());
        if there.starts_with(&root) || folder.starts_with(home.root()) {
            return Err(ActError::usage(format!("{} lies within crewmux's own files", folder.display()))
                .hint("name a folder outside of them"));
        }
        let place = folder.join(name.component());
        // An empty folder is no archive: the copy takes its place.
        if fs::symlink_metadata(&place).is_ok() && !fs::read_dir(&place).is_ok_and(|mut all| all.next().is_none()) {
            return Err(ActError::conflict(format!("{} is there already", place.display()))
                .hint("name another folder, or move that one away"));
        }
        let part = folder.join(format!(".{}.part", name.component()));
        Ok(Self { folder, place, part })
    }

    /// Copies the team's files. They are closed: nobody writes them any more.
    pub fn write(&self, dir: &TeamDir) -> Result<&Path, ActError> {
        make_dirs(&self.folder)?;
        // What an earlier try that was cut off has left.
        let _ = fs::remove_dir_all(&self.part);
        let written = copy_tree(dir.path(), &self.part).and_then(|()| self.tell());
        let placed = written
            .and_then(|()| fs::rename(&self.part, &self.place).map_err(|e| io("put in its place", &self.place, e)));
        if placed.is_err() {
            let _ = fs::remove_dir_all(&self.part);
        }
        placed.map(|()| self.place.as_path())
    }

    fn tell(&self) -> Result<(), ActError> {
        let path = self.part.join(STORY);
        let failed = |e| io("write", &path, e);
        let file = File::options().write(true).create_new(true).mode(0o600).open(&path).map_err(failed)?;
        let mut file = BufWriter::new(file);
        let mut story = Story::open(&TeamDir::at(self.part.clone()), false)?;
        while let Some(told) = story.tell()? {
            file.write_all(told.line(false).as_bytes()).map_err(failed)?;
        }
        file.flush().map_err(failed)
    }
}

fn io(what: &'static str, path: &Path, error: std::io::Error) -> ActError {
    StoreError::io(what, path, error).into()
}

/// Every file and folder but locks and environments. Links, pipes and sockets of programs are left out.
fn copy_tree(from: &Path, to: &Path) -> Result<(), ActError> {
    make_dirs(to)?;
    for entry in fs::read_dir(from).map_err(|e| io("read", from, e))? {
        let entry = entry.map_err(|e| io("read", from, e))?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type().map_err(|e| io("look at", &source, e))?;
        if kind.is_dir() {
            copy_tree(&source, &target)?;
        } else if kind.is_file() && is_kept(&source) {
            fs::copy(&source, &target).map_err(|e| io("copy", &source, e))?;
            // A file of a program's that its owner may not read or write is no good to whoever reads the archive.
            let mode = fs::symlink_metadata(&target).map_err(|e| io("look at", &target, e))?.permissions().mode();
            fs::set_permissions(&target, fs::Permissions::from_mode(mode & 0o700 | 0o600))
                .map_err(|e| io("change the mode of", &target, e))?;
        }
    }
    Ok(())
}

/// Neither a lock nor the launcher's environment, which may hold keys.
fn is_kept(path: &Path) -> bool {
    let is_env = path.ends_with("state/env");
    !is_env && path.extension().is_none_or(|extension| extension != "lock")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::act::testing::{Made, member};
    use crate::model::spec::EngineKind::Worker;

    #[test]
    fn a_copy_is_whole_or_not_there_and_takes_no_other_ones_place() {
        let made = Made::team(&[member("a", Worker)]);
        made.mail("operator", "a", "keep this");
        let dir = made.desk.dir.clone();
        fs::write(dir.member(&Name::parse("a").unwrap()).path().join("state/env"), "KEY=secret\0").unwrap();
        std::os::unix::fs::symlink("/", dir.scratch().join("out")).unwrap();
        fs::write(dir.scratch().join("env"), "a program's own").unwrap();
        let to = tempfile::tempdir().unwrap();
        let (home, name) = (Home::at(to.path().join("home")), made.desk.name.clone());
        let plan = |folder: &Path| Archive::plan(&home, folder, &name);

        let kept = plan(to.path()).unwrap().write(&dir).unwrap().to_owned();
        let story = fs::read_to_string(kept.join(STORY)).unwrap();
        assert!(story.contains("operator → a") && story.contains("    keep this"), "{story}");
        assert!(!kept.join("members/a/state/env").exists() && !kept.join("scratch/out").exists());
        assert_eq!(fs::read_to_string(kept.join("scratch/env")).unwrap(), "a program's own");
        assert_eq!(plan(to.path()).unwrap_err().code, 7, "another archive is not written over");
        assert_eq!(plan(&home.root().join("teams/x")).unwrap_err().code, 2);

        // What cannot be finished leaves nothing, and what was cut off is begun anew.
        let next = to.path().join("next");
        let archive = plan(&next).unwrap();
        fs::create_dir_all(archive.part.join("members")).unwrap();
        fs::create_dir_all(archive.place.join("taken meanwhile")).unwrap();
        archive.write(&dir).unwrap_err();
        assert!(!archive.part.exists());
        fs::remove_dir(archive.place.join("taken meanwhile")).unwrap();
        assert!(plan(&next).unwrap().write(&dir).unwrap().join("team.json").is_file());
    }
}
