//! Presets of agents: data files, of which some come with crewmux and others lie in the user's configuration.

use std::path::{Path, PathBuf};

use super::error::quote;
use super::find::config_dir;
use super::suggest::did_you_mean;
use crate::model::agent::Preset;

/// Those that come with crewmux.
const BUILT_IN: [(&str, &str); 5] = [
    ("claude", include_str!("../../presets/claude.toml")),
    ("codex", include_str!("../../presets/codex.toml")),
    ("crewmux", include_str!("../../presets/crewmux.toml")),
    ("gemini", include_str!("../../presets/gemini.toml")),
    ("opencode", include_str!("../../presets/opencode.toml")),
];
/// What somebody who writes one begins with.
pub const TEMPLATE: &str = include_str!("../../presets/template.toml");
/// A preset is written by hand; what is larger is something else.
const MOST_BYTES: u64 = 64 * 1024;

/// Why there is no such preset.
#[derive(Debug, thiserror::Error)]
pub enum PresetError {
    #[error("there is no preset {}", quote(.name))]
    Unknown { name: String, help: String },
    #[error("the preset {} cannot be read: {why}", .path.display())]
    Bad { path: PathBuf, why: String },
}

impl PresetError {
    /// What helps.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::Unknown { help, .. } => help.clone(),
            Self::Bad { .. } => {
                "`crewmux doctor` looks at every preset; docs/agents.md says what stands in one".to_owned()
            }
        }
    }
}

/// The preset of that name: the user's own before the one that comes with crewmux.
///
/// # Errors
/// None of that name, with the nearest; or a file that is no preset.
pub fn preset(name: &str) -> Result<Preset, PresetError> {
    preset_in(name, folder().as_deref())
}

/// The name of every preset that there is.
#[must_use]
pub fn names() -> Vec<String> {
    names_in(folder().as_deref())
}

fn folder() -> Option<PathBuf> {
    config_dir().map(|dir| dir.join("presets"))
}

fn preset_in(name: &str, folder: Option<&Path>) -> Result<Preset, PresetError> {
    // A name is one part of a path, never a way to another folder.
    let plain = !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\0']);
    if let Some(path) = folder.filter(|_| plain).map(|f| f.join(format!("{name}.toml")))
        && path.exists()
    {
        return own(name, path);
    }
    if let Some((_, text)) = BUILT_IN.iter().find(|(known, _)| *known == name) {
        return parse(text).map_err(|why| PresetError::Bad { path: PathBuf::from(name), why });
    }
    let known = names_in(folder);
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    let place = folder.map_or_else(String::new, |f| format!("\none of your own would lie in {}", f.display()));
    Err(PresetError::Unknown {
        name: name.to_owned(),
        help: format!("{}{place}", did_you_mean(name, "presets", &known)),
    })
}

fn own(name: &str, path: PathBuf) -> Result<Preset, PresetError> {
    let bad = |why: String| PresetError::Bad { path: path.clone(), why };
    let size = std::fs::metadata(&path).map_err(|e| bad(e.to_string()))?.len();
    if size > MOST_BYTES {
        return Err(bad(format!("it is larger than {MOST_BYTES} bytes")));
    }
    let preset = std::fs::read_to_string(&path).map_err(|e| bad(e.to_string())).and_then(|t| parse(&t).map_err(bad))?;
    if preset.name != name {
        return Err(bad(format!("its `name` is {}, not that of its file", quote(&preset.name))));
    }
    Ok(preset)
}

/// Reads a preset's text.
///
/// # Errors
/// What is wrong with it.
pub fn parse(text: &str) -> Result<Preset, String> {
    let preset: Preset = toml::from_str(text).map_err(|e| e.to_string().trim_end().to_owned())?;
    if preset.command.first().is_none_or(String::is_empty) {
        return Err("it has no `command`".to_owned());
    }
    if let Some(odd) =
        preset.mode_env.keys().find(|word| !["plan", "ask", "full", "coordinator"].contains(&word.as_str()))
    {
        return Err(format!("`mode_env` has {}; its tables are `plan`, `ask`, `full` and `coordinator`", quote(odd)));
    }
    Ok(preset)
}

fn names_in(folder: Option<&Path>) -> Vec<String> {
    let own = folder.and_then(|f| std::fs::read_dir(f).ok()).into_iter().flatten().flatten();
    let own = own.filter_map(|e| e.file_name().into_string().ok()?.strip_suffix(".toml").map(str::to_owned));
    let mut names: Vec<String> = BUILT_IN.iter().map(|(name, _)| (*name).to_owned()).chain(own).collect();
    names.sort();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_that_comes_along_can_be_read() {
        for (name, _) in BUILT_IN {
            let preset = preset_in(name, None).unwrap();
            assert_eq!(preset.name, name);
            assert!(!preset.missing.is_empty() && !preset.title.is_empty(), "{name}");
        }
        assert!(parse(TEMPLATE).is_ok());
    }

    #[test]
    fn ones_own_wins_and_a_bad_one_is_named() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("claude.toml"), TEMPLATE.replace("name = \"template\"", "name = \"claude\""))
            .unwrap();
        assert_eq!(preset_in("claude", Some(dir.path())).unwrap().title, "My agent");
        std::fs::write(dir.path().join("odd.toml"), "name = \"odd\"\ncomand = [\"x\"]\n").unwrap();
        let bad = preset_in("odd", Some(dir.path())).unwrap_err().to_string();
        assert!(bad.contains("odd.toml") && bad.contains("comand"), "{bad}");
        std::fs::write(dir.path().join("x.toml"), TEMPLATE).unwrap();
        assert!(preset_in("x", Some(dir.path())).unwrap_err().to_string().contains("not that of its file"));
        let unknown = preset_in("cluade", Some(dir.path())).unwrap_err();
        assert!(unknown.help().contains("`claude`"), "{}", unknown.help());
        assert!(preset_in("../claude", Some(dir.path())).is_err());
        assert!(names_in(Some(dir.path())).contains(&"odd".to_owned()));
    }
}
