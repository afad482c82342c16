//! What can be put right in a team's files without anybody losing anything. Each says what it did, a line a file.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::error::{Result, StoreError};
use super::journal::{Durability, Journal};
use super::team_dir::TeamDir;

/// One thing that was put right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mended {
    pub path: PathBuf,
    pub what: &'static str,
}

/// Every journal of a team that is there.
pub fn journals(dir: &TeamDir) -> Result<Vec<PathBuf>> {
    let mut all = vec![dir.tasks(), dir.requests(), dir.events(), dir.dead_letters()];
    for name in dir.members_on_disk()? {
        let member = dir.member(&name);
        all.extend([member.inbox(), member.control(), member.outbox(), member.replies()]);
    }
    all.retain(|path| path.exists());
    Ok(all)
}

/// Ends every last line that its dead writer left half-written.
pub fn torn_lines(dir: &TeamDir) -> Result<Vec<Mended>> {
    let mut done = Vec::new();
    for path in journals(dir)? {
        let journal = Journal::open(&path);
        let mut locked = journal.lock()?;
        if locked.mend()? {
            done.push(Mended { path: path.clone(), what: "a half-written last line was ended" });
        }
        locked.finish(Durability::Fast)?;
    }
    Ok(done)
}

/// Removes what writers that are gone had begun: files that were to be renamed into their place.
pub fn leavings(dir: &TeamDir) -> Result<Vec<Mended>> {
    let mut done = Vec::new();
    each(dir.path(), &mut |path, is_dir| {
        let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        if !is_dir
            && !is_of_programs(dir, path)
            && writer_of(&name).is_some_and(|pid| crate::os::process::stat(pid).is_err())
        {
            fs::remove_file(path).map_err(|e| StoreError::io("remove", path, e))?;
            done.push(Mended { path: path.to_owned(), what: "what a writer that is gone had begun was removed" });
        }
        Ok(())
    })?;
    Ok(done)
}

/// The process that writes a file of such a name: `.NAME.PID-N-SALT.tmp`, see [`super::document`].
fn writer_of(name: &str) -> Option<u32> {
    let stem = name.strip_prefix('.')?.strip_suffix(".tmp")?;
    let (_, tail) = stem.rsplit_once('.')?;
    let mut parts = tail.split('-');
    let pid = parts.next()?.parse().ok()?;
    (parts.count() == 2).then_some(pid)
}

/// Takes everybody else's rights away from the team's own files, and no right of the owner's.
pub fn modes(dir: &TeamDir) -> Result<Vec<Mended>> {
    let mut done = Vec::new();
    each(dir.path(), &mut |path, _| {
        let now = fs::symlink_metadata(path).map_err(|e| StoreError::io("look at", path, e))?.permissions().mode();
        if now & 0o077 != 0 && !is_of_programs(dir, path) {
            fs::set_permissions(path, Permissions::from_mode(now & 0o700))
                .map_err(|e| StoreError::io("change the mode of", path, e))?;
            done.push(Mended { path: path.to_owned(), what: "others could read or write it" });
        }
        Ok(())
    })?;
    Ok(done)
}

/// Files that others may read or write.
pub fn open_to_others(dir: &TeamDir) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    each(dir.path(), &mut |path, _| {
        let mode = fs::symlink_metadata(path).map_or(0, |m| m.permissions().mode());
        if mode & 0o077 != 0 && !is_of_programs(dir, path) {
            found.push(path.to_owned());
        }
        Ok(())
    })?;
    Ok(found)
}

/// Whether a program of the team made it: below `scratch/`, or a member's `tmp/`. What it is for is that program's business.
fn is_of_programs(dir: &TeamDir, path: &Path) -> bool {
    let Ok(inner) = path.strip_prefix(dir.path()) else { return false };
    let parts: Vec<_> = inner.iter().filter_map(|part| part.to_str()).collect();
    matches!(parts.as_slice(), ["scratch", _, ..] | ["members", _, "tmp", _, ..])
}

/// Every file and folder below `dir`, and itself. Links are left alone, and what goes meanwhile is passed over.
fn each(dir: &Path, look: &mut dyn FnMut(&Path, bool) -> Result<()>) -> Result<()> {
    look(dir, true)?;
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(e) => return Err(StoreError::io("list", dir, e)),
    };
    for entry in entries.flatten() {
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() {
            each(&entry.path(), look)?;
        } else if kind.is_file() {
            match look(&entry.path(), false) {
                Err(StoreError::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {}
                other => other?,
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::name::Name;
    use crate::store::Home;

    #[test]
    fn what_can_be_mended_is_mended_once_and_the_rest_stays() {
        let root = tempfile::tempdir().unwrap();
        let home = Home::at(root.path().join("home"));
        let dir = TeamDir::create_new::<StoreError>(&home, &Name::parse("t").unwrap(), |_| Ok(())).unwrap();
        let lead = dir.member(&Name::lead());
        let journal = Journal::open(lead.inbox());
        journal.append(&serde_json::json!({"type": "x"}), Durability::Fast).unwrap();
        let whole = fs::read(lead.inbox()).unwrap();
        fs::write(lead.inbox(), [whole.as_slice(), b"{\"seq\":2,\"half"].concat()).unwrap();
        let gone = lead.state_dir().join(".status.json.4294967-0-abcdef01.tmp");
        let own = lead.state_dir().join(format!(".status.json.{}-0-abcdef01.tmp", std::process::id()));
        for path in [&gone, &own] {
            fs::write(path, "{").unwrap();
            fs::set_permissions(path, Permissions::from_mode(0o600)).unwrap();
        }
        let shared = dir.scratch().join("for all");
        let own_temporary = dir.scratch().join(".notes.4294967-0-abcdef01.tmp");
        for path in [&shared, &own_temporary] {
            fs::write(path, "x").unwrap();
            fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
        }
        fs::set_permissions(lead.inbox(), Permissions::from_mode(0o640)).unwrap();
        assert_eq!(open_to_others(&dir).unwrap(), [lead.inbox()]);

        let paths = |done: Vec<Mended>| done.into_iter().map(|m| m.path).collect::<Vec<_>>();
        assert_eq!(paths(torn_lines(&dir).unwrap()), [lead.inbox()]);
        assert_eq!(paths(leavings(&dir).unwrap()), [gone]);
        assert_eq!(paths(modes(&dir).unwrap()), [lead.inbox()]);
        assert!(own.exists() && own_temporary.exists());
        assert!(shared.metadata().unwrap().permissions().mode() & 0o055 == 0o055);
        assert!(torn_lines(&dir).unwrap().is_empty() && leavings(&dir).unwrap().is_empty());
        assert!(modes(&dir).unwrap().is_empty());
        assert_eq!(journal.append(&serde_json::json!({"type": "y"}), Durability::Fast).unwrap().seq, 2);
    }
}
