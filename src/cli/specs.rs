//! Where team specs lie that are named without a path.

use std::path::{Path, PathBuf};

use super::error::CommandError;
use crate::view::specs::SpecRow;

/// The folders that are looked through, in their order: `teams` here and in each folder above up to the root of the
/// repository, then the person's own. Outside a repository nothing above is ours to look into.
#[must_use]
pub fn folders() -> Vec<PathBuf> {
    let here = std::env::current_dir().unwrap_or_default();
    let root = here.ancestors().position(|dir| dir.join(".git").exists()).unwrap_or(0);
    let ours = here.ancestors().take(root + 1).map(|dir| dir.join("teams"));
    let mut out: Vec<PathBuf> =
        ours.enumerate().filter(|(i, dir)| *i == 0 || dir.is_dir()).map(|(_, dir)| dir).collect();
    let set = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    // A relative XDG_CONFIG_HOME is to be ignored (XDG Base Directory Specification).
    let config = set("XDG_CONFIG_HOME").filter(|dir| dir.is_absolute());
    let config = config.or_else(|| set("HOME").map(|home| home.join(".config")));
    out.extend(config.map(|dir| dir.join("crewmux/teams")));
    out
}

/// The file that `spec` means: a path as it stands, a name as `teams/NAME.toml`.
pub fn resolve(spec: &str) -> Result<PathBuf, CommandError> {
    resolve_in(spec, &folders())
}

fn resolve_in(spec: &str, folders: &[PathBuf]) -> Result<PathBuf, CommandError> {
    let path = Path::new(spec);
    if spec.contains('/') || path.extension().is_some_and(|e| e == "toml") {
        if path.is_file() {
            return Ok(path.to_owned());
        }
        return Err(CommandError::usage(format!("there is no team spec at {spec}"))
            .hint("`crewmux teams` lists those found by name"));
    }
    let file = format!("{spec}.toml");
    if let Some(found) = folders.iter().map(|dir| dir.join(&file)).find(|path| path.is_file()) {
        return Ok(found);
    }
    let mut error = CommandError::usage(format!("no team spec is named `{spec}`"));
    for dir in folders {
        error = error.because(format!("not in {}", dir.display()));
    }
    let near = names(folders).into_iter().map(|name| (strsim::jaro_winkler(spec, &name), name));
    if let Some((_, name)) = near.filter(|(likeness, _)| *likeness > 0.75).max_by(|a, b| a.0.total_cmp(&b.0)) {
        error = error.hint(format!("did you mean `{name}`?"));
    }
    Err(error.hint("`crewmux teams` lists those found; a path names any other"))
}

fn names(folders: &[PathBuf]) -> Vec<String> {
    folders.iter().flat_map(|dir| files(dir)).filter_map(|path| stem(&path)).collect()
}

fn stem(path: &Path) -> Option<String> {
    path.file_stem().map(|stem| stem.to_string_lossy().into_owned())
}

/// The specs of one folder, by name. A folder that cannot be read has none.
fn files(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut out: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|e| e == "toml") && path.is_file()).collect();
    out.sort();
    out
}

/// Every spec found, in the order in which names are looked for.
#[must_use]
pub fn all() -> Vec<SpecRow> {
    all_in(&folders())
}

fn all_in(folders: &[PathBuf]) -> Vec<SpecRow> {
    let mut out: Vec<SpecRow> = Vec::new();
    for path in folders.iter().flat_map(|dir| files(dir)) {
        let Some(name) = stem(&path) else { continue };
        let hidden = out.iter().any(|row| row.spec == name);
        // Other people's `teams` folders hold other files: a spec has members.
        out.extend(row(name, &path, hidden));
    }
    out
}

fn row(spec: String, path: &Path, hidden: bool) -> Option<SpecRow> {
    let path_text = path.display().to_string();
    let empty =
        SpecRow { spec, description: String::new(), members: 0, tasks: 0, path: path_text, error: None, hidden };
    let read = std::fs::read_to_string(path).map_err(|e| e.to_string());
    match read.and_then(|text| text.parse::<toml::Table>().map_err(|e| e.message().to_owned())) {
        Err(error) => Some(SpecRow { error: Some(error), ..empty }),
        Ok(table) => {
            let count = |key: &str| table.get(key).and_then(toml::Value::as_array).map(Vec::len);
            let description = table.get("description").and_then(toml::Value::as_str).unwrap_or_default().to_owned();
            Some(SpecRow { description, members: count("member")?, tasks: count("task").unwrap_or(0), ..empty })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        let spec = "name = \"audit\"\ndescription = \"looks\"\n[[member]]\nname = \"a\"\n[[task]]\nkey = \"t\"\n";
        std::fs::write(dir.path().join("audit.toml"), spec).unwrap();
        std::fs::write(dir.path().join("broken.toml"), "name = \n").unwrap();
        std::fs::write(dir.path().join("notes.md"), "").unwrap();
        std::fs::write(dir.path().join("rustfmt.toml"), "max_width = 120\n").unwrap();
        dir
    }

    #[test]
    fn specs_are_listed_broken_ones_too_and_later_ones_hidden() {
        let dir = folder();
        let rows = all_in(&[dir.path().to_owned(), dir.path().to_owned()]);
        let seen: Vec<_> = rows.iter().map(|r| (r.spec.as_str(), r.error.is_some(), r.hidden)).collect();
        assert_eq!(
            seen,
            [("audit", false, false), ("broken", true, false), ("audit", false, true), ("broken", true, true)]
        );
        assert_eq!((rows[0].members, rows[0].tasks, rows[0].description.as_str()), (1, 1, "looks"));
    }

    #[test]
    fn names_paths_and_mistakes_resolve() {
        let dir = folder();
        let folders = [dir.path().to_owned()];
        let path = dir.path().join("audit.toml");
        assert_eq!(resolve_in("audit", &folders).unwrap(), path);
        assert_eq!(resolve_in(path.to_str().unwrap(), &[]).unwrap(), path);
        let error = resolve_in("audti", &folders).unwrap_err();
        assert_eq!((error.kind.code(), error.hints[0].as_str()), (2, "did you mean `audit`?"));
        assert_eq!(resolve_in("./no.toml", &folders).unwrap_err().kind.code(), 2);
    }
}
