//! Specs read as a person would write them, in a folder made for each test.

mod find;
mod good;
mod hostile;
mod mistakes;
mod parts;

use std::path::Path;

use tempfile::TempDir;

use super::{LoadOptions, SpecError, parse};
use crate::model::spec::TeamSpec;

/// A project: `bin/run` can be run, `bin/data` cannot, `sub/` is a folder.
struct Project {
    dir: TempDir,
    options: LoadOptions,
}

impl Project {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::create_dir_all(at("bin")).unwrap();
        std::fs::create_dir_all(at("sub")).unwrap();
        program(&at("bin/run"), true);
        program(&at("bin/data"), false);
        let mut options = LoadOptions::new(dir.path().canonicalize().unwrap());
        options.path = Some(at("bin").into_os_string());
        options.home = Some(dir.path().to_owned());
        Self { dir, options }
    }

    fn root(&self) -> &Path {
        &self.options.started_in
    }

    fn parse(&self, text: &str) -> Result<TeamSpec, SpecError> {
        parse(text, "team.toml", self.root(), &self.options)
    }

    fn good(&self, text: &str) -> TeamSpec {
        self.parse(text).unwrap_or_else(|e| panic!("{}", e.render(false, 120)))
    }

    /// What a person sees, with this project's folder called `/project`.
    fn shown(&self, error: &SpecError) -> String {
        let out = error.render(false, 400).replace(self.root().to_str().unwrap(), "/project");
        out.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
    }

    fn path(&self, name: &str) -> String {
        self.dir.path().canonicalize().unwrap().join(name).to_str().unwrap().to_owned()
    }
}

fn program(path: &Path, executable: bool) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::write(path, "#!/bin/sh\n").unwrap();
    let mode = if executable { 0o755 } else { 0o644 };
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}
