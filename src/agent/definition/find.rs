//! Where definitions lie, and which of one name counts.

use std::path::{Path, PathBuf};

use super::{Definition, built_in, parse};
use crate::spec::SpecError;

/// A definition is written by hand; what is larger is something else.
const MOST_BYTES: u64 = 256 * 1024;

/// A folder of definitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folder {
    pub path: PathBuf,
    /// Another agent's: its files may hold keys that are not ours.
    pub foreign: bool,
}

/// A definition, and whether a nearer one of its name hides it.
#[derive(Clone, Debug)]
pub struct Found {
    pub definition: Definition,
    pub hidden: bool,
}

/// A file that is no usable definition.
#[derive(Debug)]
pub struct Broken {
    pub path: PathBuf,
    pub error: SpecError,
}

/// All definitions that there are from one place.
#[derive(Debug, Default)]
pub struct Library {
    found: Vec<Found>,
    broken: Vec<Broken>,
}

/// The folders that are looked through from `cwd`, nearest first: `.crewmux/agents` and `.claude/agents` here and in each folder above
/// up to the root of the repository, then the person's own. Outside a repository nothing above is looked into.
#[must_use]
pub fn folders(cwd: &Path, config: Option<&Path>) -> Vec<Folder> {
    let root = cwd.ancestors().position(|dir| dir.join(".git").exists()).unwrap_or(0);
    let mut out = Vec::new();
    for dir in cwd.ancestors().take(root + 1) {
        out.push(Folder { path: dir.join(".crewmux/agents"), foreign: false });
        out.push(Folder { path: dir.join(".claude/agents"), foreign: true });
    }
    out.extend(config.map(|dir| Folder { path: dir.join("crewmux/agents"), foreign: false }));
    out
}

impl Library {
    /// Only what is built in.
    #[must_use]
    pub fn built_in() -> Self {
        let mut library = Self::default();
        built_in().into_iter().for_each(|definition| library.add(definition));
        library
    }

    /// Everything that `folders` hold, then what is built in.
    #[must_use]
    pub fn load(folders: &[Folder]) -> Self {
        let mut library = Self::default();
        for folder in folders {
            for path in files(&folder.path) {
                match read(&path, folder.foreign) {
                    Ok(definition) => library.add(definition),
                    Err(error) => library.broken.push(Broken { path, error }),
                }
            }
        }
        built_in().into_iter().for_each(|definition| library.add(definition));
        library
    }

    fn add(&mut self, definition: Definition) {
        let hidden = self.found.iter().any(|f| f.definition.name == definition.name);
        self.found.push(Found { definition, hidden });
    }

    /// Every definition, hidden ones too, nearest first.
    #[must_use]
    pub fn all(&self) -> &[Found] {
        &self.found
    }

    #[must_use]
    pub fn broken(&self) -> &[Broken] {
        &self.broken
    }

    /// Those that can be named.
    pub fn usable(&self) -> impl Iterator<Item = &Definition> {
        self.found.iter().filter(|f| !f.hidden).map(|f| &f.definition)
    }

    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Definition> {
        self.usable().find(|d| d.name == name)
    }

    /// The names that [`Library::get`] knows.
    #[must_use]
    pub fn names(&self) -> Vec<&str> {
        self.usable().map(|d| d.name.as_str()).collect()
    }
}

/// The Markdown files of a folder, by name. A folder that cannot be read has none.
fn files(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut out: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|e| e == "md") && path.is_file()).collect();
    out.sort();
    out
}

fn read(path: &Path, foreign: bool) -> Result<Definition, SpecError> {
    use std::io::Read as _;
    let failed = |why: String| SpecError::plain(format!("cannot read the definition {}: {why}", path.display()), None);
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(|e| failed(e.to_string()))?;
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(|e| failed(e.to_string()))?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(failed(format!("it has more than {MOST_BYTES} bytes")));
    }
    let text = String::from_utf8(bytes).map_err(|_| failed("it is not UTF-8".to_owned()))?;
    parse(text.strip_prefix('\u{feff}').unwrap_or(&text), path, foreign)
}
