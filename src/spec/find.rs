//! Where specs lie.

use std::path::{Path, PathBuf};

use super::error::{SpecError, quote};
use super::suggest::nearest;

/// The folder of specs, in a project and in crewmux's configuration.
pub(super) const TEAMS_DIR: &str = "teams";

/// A spec that `up NAME` would find.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    pub name: String,
    pub path: PathBuf,
}

/// The spec that `arg` means: a path (it has a `/` or ends in `.toml`), or a name, looked for as `teams/NAME.toml`
/// from `cwd` upwards and then in `~/.config/crewmux/teams/`. Without `arg`, the only spec of the nearest folder.
pub fn find(arg: Option<&str>, cwd: &Path) -> Result<PathBuf, SpecError> {
    find_in(arg, cwd, config_dir().as_deref())
}

/// Every spec that a name reaches from `cwd`, nearest first; a name that a nearer folder has is not listed twice.
#[must_use]
pub fn list(cwd: &Path) -> Vec<Found> {
    list_in(cwd, config_dir().as_deref())
}

pub(super) fn find_in(arg: Option<&str>, cwd: &Path, config: Option<&Path>) -> Result<PathBuf, SpecError> {
    let Some(arg) = arg else { return the_only_one(cwd, config) };
    if arg.contains('/') || arg.ends_with(".toml") {
        let joined = cwd.join(arg);
        let path = std::path::absolute(&joined).unwrap_or(joined);
        if path.exists() {
            return Ok(path);
        }
        return Err(SpecError::plain(format!("there is no spec {}", quote(arg)), known(arg, cwd, config, &[path])));
    }
    let looked: Vec<PathBuf> = folders(cwd, config).map(|d| d.join(format!("{arg}.toml"))).collect();
    if let Some(hit) = looked.iter().find(|p| p.exists()) {
        return Ok(hit.clone());
    }
    Err(SpecError::plain(format!("there is no spec {}", quote(arg)), known(arg, cwd, config, &looked)))
}

pub(super) fn list_in(cwd: &Path, config: Option<&Path>) -> Vec<Found> {
    let mut out: Vec<Found> = Vec::new();
    for folder in folders(cwd, config) {
        for found in specs(&folder) {
            if !out.iter().any(|f| f.name == found.name) {
                out.push(found);
            }
        }
    }
    out
}

fn the_only_one(cwd: &Path, config: Option<&Path>) -> Result<PathBuf, SpecError> {
    let nearest_folder = folders(cwd, config).map(|d| specs(&d)).find(|s| !s.is_empty()).unwrap_or_default();
    if let [one] = nearest_folder.as_slice() {
        return Ok(one.path.clone());
    }
    let looked: Vec<PathBuf> = folders(cwd, config).collect();
    let message = if nearest_folder.is_empty() { "there is no spec to use" } else { "say which spec to use" };
    Err(SpecError::plain(message, known("", cwd, config, &looked)))
}

/// `teams` of `cwd` and of every folder above it, then crewmux's own.
fn folders<'a>(cwd: &'a Path, config: Option<&'a Path>) -> impl Iterator<Item = PathBuf> + 'a {
    cwd.ancestors().map(|d| d.join(TEAMS_DIR)).chain(config.map(|c| c.join(TEAMS_DIR)))
}

/// The specs of one folder by name.
fn specs(folder: &Path) -> Vec<Found> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut out: Vec<Found> = entries
        .flatten()
        .filter_map(|entry| {
            let path = entry.path();
            let name = path.file_name()?.to_str()?.strip_suffix(".toml")?.to_owned();
            (!name.is_empty() && path.is_file()).then_some(Found { name, path })
        })
        .collect();
    out.sort_by(|a, b| a.name.cmp(&b.name));
    out
}

fn known(arg: &str, cwd: &Path, config: Option<&Path>, looked: &[PathBuf]) -> Option<String> {
    let mut lines = Vec::new();
    let specs = list_in(cwd, config);
    let word = arg.rsplit('/').next().unwrap_or(arg).trim_end_matches(".toml");
    if let Some(near) = nearest(word, specs.iter().map(|f| f.name.as_str())) {
        lines.push(format!("did you mean `{near}`?"));
    }
    lines.push("looked for:".to_owned());
    lines.extend(looked.iter().map(|p| format!("  {}", p.display())));
    if specs.is_empty() {
        lines.push("no specs exist there; `docs/SPEC.md` tells how to write one".to_owned());
    } else {
        lines.push("specs that exist:".to_owned());
        lines.extend(specs.iter().map(|f| format!("  {}  {}", f.name, f.path.display())));
    }
    Some(lines.join("\n"))
}

/// `$XDG_CONFIG_HOME/crewmux`, else `~/.config/crewmux`.
pub(super) fn config_dir() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    set("XDG_CONFIG_HOME").or_else(|| set("HOME").map(|h| h.join(".config"))).map(|c| c.join("crewmux"))
}
