//! From a file to a [`TeamSpec`].

use std::ffi::OsString;
use std::io::Read as _;
use std::path::{Component, Path, PathBuf};

use toml::de::{DeTable, DeValue};

use super::desk::{Desk, in_order};
use super::error::{Mistake, SpecError, quote};
use super::find::TEAMS_DIR;
use super::section::Section;
use super::suggest::{did_you_mean, words};
use super::team;
use super::vars::BUILTINS;
use crate::model::name::Name;
use crate::model::spec::TeamSpec;

/// The newest version of specs that this build reads.
pub const SPEC_VERSION: u64 = 1;
/// A spec is written by hand; what is larger is something else.
pub const MAX_SPEC_BYTES: u64 = 1 << 20;

/// What the command line and the process add to a spec.
#[derive(Clone, Debug)]
pub struct LoadOptions {
    /// `--name`: instead of the spec's own.
    pub name: Option<Name>,
    /// `--cwd`: the team's directory, from `started_in`.
    pub cwd: Option<PathBuf>,
    /// `--set KEY=VALUE`, in order.
    pub set: Vec<(String, String)>,
    /// The directory crewmux was started from; the team's when there is no `cwd`.
    pub started_in: PathBuf,
    /// What a leading `~` stands for.
    pub home: Option<PathBuf>,
    /// `PATH`, where programs that are bare words are looked for.
    pub path: Option<OsString>,
    /// The folder of the running binary, which children find first on their `PATH`.
    pub bin_dir: Option<PathBuf>,
}

impl LoadOptions {
    /// Options that add nothing, with nothing on `PATH`.
    #[must_use]
    pub fn new(started_in: PathBuf) -> Self {
        Self { name: None, cwd: None, set: Vec::new(), started_in, home: None, path: None, bin_dir: None }
    }

    /// Options that add nothing but where this process runs and its `PATH`.
    pub fn from_env() -> std::io::Result<Self> {
        let bin_dir = std::env::current_exe().ok().and_then(|exe| exe.parent().map(Path::to_path_buf));
        let home = std::env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
        Ok(Self { home, path: std::env::var_os("PATH"), bin_dir, ..Self::new(std::env::current_dir()?) })
    }
}

/// Where a team's paths start from; all absolute.
pub(super) struct Places {
    pub cwd: PathBuf,
    pub root: PathBuf,
    pub spec_dir: PathBuf,
    pub home: Option<PathBuf>,
    /// What children find on `PATH`, before a member's own `env` changes it.
    pub path: OsString,
}

/// Reads and checks the spec at `path`. Its programs start from the folder above where it lies in a folder named
/// `teams`, else from its own folder.
pub fn load(path: &Path, options: &LoadOptions) -> Result<TeamSpec, SpecError> {
    let name = path.display().to_string();
    let bytes = read(&options.started_in.join(path))
        .map_err(|why| SpecError::plain(format!("cannot read the spec {}: {why}", quote(&name)), None))?;
    if bytes.len() as u64 > MAX_SPEC_BYTES {
        let message = format!("the spec {} is too big: more than {MAX_SPEC_BYTES} bytes", quote(&name));
        return Err(SpecError::plain(message, Some("is it really a team spec?".to_owned())));
    }
    let text = String::from_utf8(bytes).map_err(|why| {
        let at = why.utf8_error().valid_up_to();
        let lossy = String::from_utf8_lossy(why.as_bytes()).into_owned();
        let bad = Mistake::at(at..at + '\u{fffd}'.len_utf8(), "the spec is not UTF-8", "this byte is not UTF-8")
            .help("save the file as UTF-8");
        SpecError::in_text(&name, &lossy, vec![bad])
    })?;
    let spec_dir = folder_of(&options.started_in.join(path));
    let root = match (spec_dir.file_name(), spec_dir.parent()) {
        (Some(last), Some(above)) if last == TEAMS_DIR => above.to_path_buf(),
        _ => spec_dir.clone(),
    };
    parse_in(&text, &name, &root, &spec_dir, options)
}

/// Checks the text of a spec that people know as `source_name`; `root` is where its programs start from, and its
/// `${spec_dir}` too.
pub fn parse(text: &str, source_name: &str, root: &Path, options: &LoadOptions) -> Result<TeamSpec, SpecError> {
    parse_in(text, source_name, root, root, options)
}

fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(MAX_SPEC_BYTES + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The absolute folder of a file, by its words where that is unambiguous: a `teams` that is a symlink stays `teams`.
fn folder_of(path: &Path) -> PathBuf {
    let full = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let folder = full.parent().unwrap_or(&full).to_path_buf();
    if folder.components().any(|c| c == Component::ParentDir) {
        return folder.canonicalize().unwrap_or(folder);
    }
    folder
}

fn parse_in(
    text: &str,
    source_name: &str,
    root: &Path,
    spec_dir: &Path,
    options: &LoadOptions,
) -> Result<TeamSpec, SpecError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let fail = |mistakes| SpecError::in_text(source_name, text, mistakes);
    let table = toml_of(text).map_err(fail)?;
    let mut desk = Desk::new(text);
    check_version(&desk, &table);
    if !desk.mistakes.borrow().is_empty() {
        return Err(fail(desk.mistakes.into_inner()));
    }
    let places = places(root, spec_dir, options)?;
    let name = options.name.clone().or_else(|| team::name(&section(&desk, &table)));
    builtins(&mut desk, &places, name.as_ref());
    declared(&mut desk, &table, &options.set);
    let spec = team::read(&section(&desk, &table), name, &places);
    let mistakes = desk.mistakes.into_inner();
    match spec {
        Some(spec) if mistakes.is_empty() => Ok(spec),
        _ => Err(fail(mistakes)),
    }
}

fn section<'a, 'i>(desk: &'a Desk<'a>, table: &'a DeTable<'i>) -> Section<'a, 'i> {
    Section { desk, top: table, under: None, at: 0..0 }
}

fn toml_of(text: &str) -> Result<DeTable<'_>, Vec<Mistake>> {
    let (table, errors) = DeTable::parse_recoverable(text);
    if errors.is_empty() {
        return Ok(table.into_inner());
    }
    // One slip in the syntax makes all that follows look wrong: only the first complaint is surely true.
    let first = errors.iter().min_by_key(|e| e.span().map_or(usize::MAX, |at| at.start));
    let mistake = first.map(|e| {
        let message = e.message().trim_end().replace('\n', "; ");
        match e.span() {
            Some(at) => Mistake::at(at, message, ""),
            None => Mistake::nowhere(message),
        }
    });
    Err(mistake.into_iter().collect())
}

/// A newer spec is refused before anything else is said about it.
fn check_version(desk: &Desk<'_>, table: &DeTable<'_>) {
    let Some(entry) = table.get("v") else { return };
    let DeValue::Integer(n) = entry.get_ref() else {
        desk.wrong_type("v", entry, &format!("the number {SPEC_VERSION}"));
        return;
    };
    let version = u64::from_str_radix(n.as_str(), n.radix());
    let mistake = match version {
        Ok(SPEC_VERSION) => return,
        Ok(0) | Err(_) => Mistake::at(entry.span(), "there is no such version of specs", "")
            .help(format!("write `v = {SPEC_VERSION}`, or leave it out")),
        Ok(newer) => {
            let message = format!("this is a spec of version {newer}; this crewmux reads version {SPEC_VERSION}");
            Mistake::at(entry.span(), message, "a newer version").help("use a newer crewmux")
        }
    };
    desk.note(mistake);
}

fn places(root: &Path, spec_dir: &Path, options: &LoadOptions) -> Result<Places, SpecError> {
    let absolute = |path: &Path| {
        let full = options.started_in.join(path);
        std::path::absolute(&full).unwrap_or(full)
    };
    let cwd = absolute(options.cwd.as_deref().unwrap_or(Path::new("")));
    let cwd = cwd.canonicalize().ok().filter(|c| c.is_dir()).ok_or_else(|| {
        let message = format!("the team's directory {} does not exist or is not a directory", cwd.display());
        SpecError::plain(message, Some("`--cwd DIR` says where the team works".to_owned()))
    })?;
    let path = options.path.clone().unwrap_or_default();
    let path = match &options.bin_dir {
        Some(bin) => {
            std::env::join_paths([bin.clone()].into_iter().chain(std::env::split_paths(&path))).unwrap_or(path)
        }
        None => path,
    };
    let places = Places { cwd, root: absolute(root), spec_dir: absolute(spec_dir), home: options.home.clone(), path };
    for dir in [&places.cwd, &places.root, &places.spec_dir] {
        if dir.to_str().is_none() {
            return Err(SpecError::plain(format!("the directory {} is not UTF-8", dir.display()), None));
        }
    }
    Ok(places)
}

fn builtins(desk: &mut Desk<'_>, places: &Places, name: Option<&Name>) {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    desk.vars.set("cwd", text(&places.cwd));
    desk.vars.set("repo_parent", text(places.cwd.parent().unwrap_or(&places.cwd)));
    desk.vars.set("root", text(&places.root));
    desk.vars.set("spec_dir", text(&places.spec_dir));
    match name {
        Some(name) => desk.vars.set("team", name.as_str()),
        None => desk.vars.set_broken("team"),
    }
}

/// `[vars]`, each filled in with what stands above it, then `--set`, whose values are taken as they are.
fn declared(desk: &mut Desk<'_>, table: &DeTable<'_>, set: &[(String, String)]) {
    let mut names: Vec<String> = Vec::new();
    match table.get("vars").map(|e| (e, e.get_ref())) {
        None => {}
        Some((_, DeValue::Table(vars))) => {
            for (key, entry) in in_order(vars) {
                let name: &str = key.get_ref();
                if BUILTINS.contains(&name) {
                    let message = format!("the variable {} is set by crewmux itself", quote(name));
                    desk.note(Mistake::at(key.span(), message, "choose another name"));
                } else if !is_var_name(name) {
                    let message = format!("{} is not a name for a variable", quote(name));
                    desk.note(Mistake::at(key.span(), message, "").help("use letters, digits, `-` and `_`"));
                } else {
                    match desk.text_of(name, entry) {
                        Some(text) => desk.vars.set(name, text.value),
                        None => desk.vars.set_broken(name),
                    }
                    names.push(name.to_owned());
                }
            }
        }
        Some((entry, _)) => desk.wrong_type("vars", entry, "a table, written under `[vars]`"),
    }
    for (key, value) in set {
        if names.contains(key) {
            desk.vars.set(key, value);
            continue;
        }
        let all: Vec<&str> = names.iter().map(String::as_str).collect();
        let help = match (BUILTINS.contains(&key.as_str()), all.is_empty()) {
            (true, _) => format!("`{key}` is set by crewmux itself"),
            (_, true) => "this spec declares no variables".to_owned(),
            _ => format!("{}\ndeclared: {}", did_you_mean(key, "variables of this spec", &all), words(&all)),
        };
        desk.note(Mistake::nowhere(format!("`--set {key}=…`: the spec has no variable {}", quote(key))).help(help));
    }
}

fn is_var_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
}
