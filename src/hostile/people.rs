//! Files that people write.

use std::path::{Path, PathBuf};

use crate::agent::definition;
use crate::agent::mcp_client;
use crate::agent::settings::Layers;
use crate::spec::{self, LoadOptions, SpecError, preset};

/// Each mistake stands where the text has it, and can be shown on a terminal.
fn can_be_shown(text: &str, error: &SpecError) {
    assert!(!error.mistakes().is_empty());
    for mistake in error.mistakes() {
        for (at, _) in &mistake.labels {
            assert!(at.start <= at.end && at.end <= text.len(), "{mistake:?}");
        }
    }
    let shown = error.render(false, 80);
    let harmless = |c: char| c == '\n' || !(c.is_control() || ('\u{202a}'..='\u{202e}').contains(&c));
    assert!(shown.chars().all(harmless), "{shown:?}");
}

pub fn spec(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let root = Path::new("/");
    if let Err(error) = spec::parse(text, "team.toml", root, &LoadOptions::new(PathBuf::from("/"))) {
        can_be_shown(text, &error);
    }
}

pub fn preset(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(preset) = preset::parse(text) {
        assert!(preset.command.first().is_some_and(|program| !program.is_empty()));
    }
}

pub fn definition(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    for foreign in [false, true] {
        match definition::parse(text, Path::new("agent.md"), foreign) {
            Ok(read) => assert!(!read.name.is_empty() && !read.description.is_empty()),
            Err(error) => can_be_shown(text, &error),
        }
    }
}

/// Of our own agent, and of the servers that a project names.
pub fn settings(bytes: &[u8]) {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    for name in ["agent.toml", ".mcp.json"] {
        std::fs::write(at(name), bytes).expect("written");
    }
    for is_project in [false, true] {
        let mut layers = Layers::default();
        if layers.file(&at("agent.toml"), is_project).is_ok() {
            let _ = layers.finish();
        }
    }
    for server in mcp_client::project(folder.path(), |name| Some(name.to_lowercase())).into_iter().flatten() {
        assert!(!server.name.is_empty() && !server.name.contains("__"));
    }
}
