//! Glob: files by the pattern of their paths.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Instant, SystemTime};

use globset::{GlobBuilder, GlobMatcher};
use ignore::{WalkBuilder, WalkState};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::context::{Here, locked};
use super::file::{self, blocking, locate};
use super::{BoxFuture, Context, Kind, Outcome, Possible, Subject, Tool, parse, schema};
use crate::agent::wire::ToolSpec;

pub struct Glob;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// Such as `**/*.rs` or `src/**/test_*.py`. Without a slash it is held against file names in every folder.
    pattern: String,
    /// The folder to look in; else the working folder.
    #[serde(default)]
    path: Option<String>,
    /// Also what is hidden, or ignored by git.
    #[serde(default)]
    all: bool,
}

/// Up to so many files the newest come first; of more, asking each for its time would cost more than finding them.
const MOST_BY_TIME: usize = 5_000;
/// Threads that walk; more than a few wait for the same disk.
const THREADS: usize = 8;

const TEXT: &str = "Finds files by a pattern of their paths, the newest first. What git ignores and hidden files are left out unless `all` is \
set. To find text in files use Grep.";

impl Tool for Glob {
    fn name(&self) -> &str {
        "Glob"
    }

    fn spec(&self, _possible: &Possible) -> ToolSpec {
        ToolSpec::new(self.name(), TEXT, schema::<Input>())
    }

    fn kind(&self) -> Kind {
        Kind::Search
    }

    fn subject(&self, input: &Value, cx: &Context) -> Subject {
        let (folder, _) = split(input["pattern"].as_str().unwrap_or_default());
        file::subject(Some(&joined(input["path"].as_str(), folder)), cx)
    }

    fn call<'a>(&'a self, input: Value, cx: &'a Context) -> BoxFuture<'a, Outcome> {
        let cx = cx.clone();
        Box::pin(async move {
            let input: Input = match parse("Glob", input) {
                Ok(input) => input,
                Err(refused) => return refused,
            };
            blocking(move || glob(&input, &cx).unwrap_or_else(|refused| refused)).await
        })
    }
}

/// The folder that a pattern begins with, and the rest: `../a/*.rs` looks in `../a`.
fn split(pattern: &str) -> (&str, &str) {
    let special = pattern.find(['*', '?', '[', '{', '\\']).unwrap_or(pattern.len());
    match pattern[..special].rfind('/') {
        Some(0) => ("/", &pattern[1..]),
        Some(at) => (&pattern[..at], &pattern[at + 1..]),
        None => ("", pattern),
    }
}

fn joined(path: Option<&str>, folder: &str) -> String {
    let path = Path::new(path.unwrap_or(".")).join(folder);
    path.to_string_lossy().into_owned()
}

/// A pattern that stops at slashes, for paths below the folder.
pub(super) fn matcher(pattern: &str) -> Result<GlobMatcher, Outcome> {
    GlobBuilder::new(pattern)
        .literal_separator(true)
        .build()
        .map(|glob| glob.compile_matcher())
        .map_err(|e| Outcome::error(format!("The pattern {pattern:?} cannot be read: {}.", e.kind())))
}

/// A walk over what is in `root`, as ripgrep does it.
pub(super) fn walk(root: &Path, all: bool) -> WalkBuilder {
    let mut walk = WalkBuilder::new(root);
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(THREADS);
    walk.standard_filters(!all).require_git(false).follow_links(false).threads(threads);
    walk.filter_entry(|entry| entry.depth() == 0 || entry.file_name() != ".git");
    walk
}

/// How a found path is shown: from the working folder, where it lies in there.
pub(super) fn shown<'a>(path: &'a Path, here: &Here) -> &'a Path {
    path.strip_prefix(&here.cwd).unwrap_or(path)
}

/// Where a search begins. The working folder keeps the name that it is known by.
pub(super) fn search_root(path: Option<&str>, cx: &Context) -> Result<PathBuf, Outcome> {
    let Some(path) = path.filter(|path| !matches!(*path, "" | "." | "./")) else { return Ok(cx.here().cwd) };
    let root = locate(path, cx)?.real;
    if root.exists() { Ok(root) } else { Err(Outcome::error(format!("There is no {path}."))) }
}

fn glob(input: &Input, cx: &Context) -> Result<Outcome, Outcome> {
    let (folder, rest) = split(&input.pattern);
    let root = search_root(Some(&joined(input.path.as_deref(), folder)), cx)?;
    let by_name = folder.is_empty() && !input.pattern.contains('/');
    let matcher = matcher(rest)?;
    let found: Mutex<Vec<PathBuf>> = Mutex::default();
    let (until, stop) = (Instant::now() + cx.limits.search, &cx.cancel);
    walk(&root, input.all).build_parallel().run(|| {
        let (found, root, matcher) = (&found, &root, &matcher);
        let mut seen = 0_u32;
        Box::new(move |entry| {
            seen = seen.wrapping_add(1);
            if seen.is_multiple_of(256) && (stop.is_cancelled() || Instant::now() > until) {
                return WalkState::Quit;
            }
            let Ok(entry) = entry else { return WalkState::Continue };
            if entry.file_type().is_some_and(|kind| kind.is_dir()) {
                return WalkState::Continue;
            }
            let fits = if by_name {
                matcher.is_match(entry.file_name())
            } else {
                matcher.is_match(entry.path().strip_prefix(root).unwrap_or(entry.path()))
            };
            if fits {
                locked(found).push(entry.into_path());
            }
            WalkState::Continue
        })
    });
    if stop.is_cancelled() {
        return Err(Outcome::cancelled());
    }
    let late = Instant::now() > until;
    let found = found.into_inner().unwrap_or_default();
    Ok(Outcome::text(listed(found, late, cx)))
}

fn listed(mut found: Vec<PathBuf>, late: bool, cx: &Context) -> String {
    let total = found.len();
    if total <= MOST_BY_TIME {
        let time =
            |path: &Path| std::fs::symlink_metadata(path).and_then(|d| d.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
        found.sort_by_cached_key(|path| (std::cmp::Reverse(time(path)), path.clone()));
    } else {
        found.sort_unstable();
    }
    let here = cx.here();
    let mut out: String =
        found.iter().take(cx.limits.hits).map(|path| format!("{}\n", shown(path, &here).display())).collect();
    if total == 0 {
        out.push_str("No file fits.\n");
    } else if total > cx.limits.hits {
        let order = if total <= MOST_BY_TIME { "newest" } else { "first by name" };
        out.push_str(&format!("[The {order} {} of {total}. Take a narrower pattern.]\n", cx.limits.hits));
    }
    if late {
        out.push_str("[The search was ended after its time; there may be more. Look in a smaller folder.]\n");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn a_pattern_s_folder_is_split_off() {
        for (pattern, parts) in [
            ("*.rs", ("", "*.rs")),
            ("src/**/*.rs", ("src", "**/*.rs")),
            ("../../etc/*", ("../../etc", "*")),
            ("/etc/passwd", ("/etc", "passwd")),
            ("/*", ("/", "*")),
            ("a{b/c,d}", ("", "a{b/c,d}")),
        ] {
            assert_eq!(split(pattern), parts, "{pattern}");
        }
    }
}
