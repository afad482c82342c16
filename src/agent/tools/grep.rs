//! Grep: text in files, by ripgrep's libraries.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use globset::GlobMatcher;
use grep::regex::{RegexMatcher, RegexMatcherBuilder};
use grep::searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};
use ignore::types::TypesBuilder;
use ignore::{WalkBuilder, WalkState};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::context::locked;
use super::cut::head;
use super::file::{self, blocking};
use super::glob::{matcher, search_root, shown, walk};
use super::{BoxFuture, Context, Kind, Outcome, Possible, Subject, Tool, parse, schema};
use crate::agent::wire::ToolSpec;

pub struct Grep;

#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Output {
    /// The files that have it.
    #[default]
    FilesWithMatches,
    /// The lines that have it.
    Content,
    /// How many lines in each file have it.
    Count,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// A regular expression, as ripgrep takes it.
    pattern: String,
    /// A file or folder; else the working folder.
    #[serde(default)]
    path: Option<String>,
    /// Only in files of this pattern, such as `*.ts` or `src/**/*.rs`.
    #[serde(default)]
    glob: Option<String>,
    /// Only in files of this type, as ripgrep names them: rust, py, js.
    #[serde(default, rename = "type")]
    kind: Option<String>,
    #[serde(default)]
    output_mode: Output,
    /// Lines before each.
    #[serde(default, rename = "-B")]
    before: usize,
    /// Lines after each.
    #[serde(default, rename = "-A")]
    after: usize,
    /// Lines around each.
    #[serde(default, rename = "-C")]
    around: usize,
    /// Capitals and small letters are the same.
    #[serde(default, rename = "-i")]
    ignore_case: bool,
    /// Line numbers; shown unless this is false.
    #[serde(default, rename = "-n")]
    numbers: Option<bool>,
    /// The expression may span lines, and `.` fits a line's end.
    #[serde(default)]
    multiline: bool,
    /// How many lines of the answer to show.
    #[serde(default)]
    head_limit: Option<usize>,
    /// How many lines of the answer to leave out first.
    #[serde(default)]
    offset: usize,
    /// Also what is hidden, or ignored by git.
    #[serde(default)]
    all: bool,
}

/// Bytes shown of a line.
const LINE_BYTES: usize = 500;
/// Bytes of answer after which a search stops: nobody reads more.
const MOST_BYTES: usize = 8 << 20;

const TEXT: &str = "Finds text in files by a regular expression (ripgrep's kind: escape braces that are meant as such). Says which files have \
it; with output_mode content shows the lines. What git ignores, hidden files and binaries are left out unless `all` is set.";

impl Tool for Grep {
    fn name(&self) -> &str {
        "Grep"
    }

    fn spec(&self, _possible: &Possible) -> ToolSpec {
        ToolSpec::new(self.name(), TEXT, schema::<Input>())
    }

    fn kind(&self) -> Kind {
        Kind::Search
    }

    fn subject(&self, input: &Value, cx: &Context) -> Subject {
        file::subject(input["path"].as_str(), cx)
    }

    fn call<'a>(&'a self, input: Value, cx: &'a Context) -> BoxFuture<'a, Outcome> {
        let cx = cx.clone();
        Box::pin(async move {
            let input: Input = match parse("Grep", input) {
                Ok(input) => input,
                Err(refused) => return refused,
            };
            blocking(move || grep(&input, &cx).unwrap_or_else(|refused| refused)).await
        })
    }
}

fn grep(input: &Input, cx: &Context) -> Result<Outcome, Outcome> {
    let search = Search::new(input)?;
    let root = search_root(input.path.as_deref(), cx)?;
    let files = input.glob.as_deref().map(matcher).transpose()?;
    let by_name = input.glob.as_deref().is_some_and(|glob| !glob.contains('/'));
    let found: Mutex<BTreeMap<PathBuf, Vec<String>>> = Mutex::default();
    let (bytes, until) = (AtomicUsize::new(0), Instant::now() + cx.limits.search);
    walker(&root, input)?.build_parallel().run(|| {
        let (found, bytes, search, root, files) = (&found, &bytes, &search, &root, &files);
        let mut searcher = search.searcher();
        Box::new(move |entry| {
            if cx.cancel.is_cancelled() || bytes.load(Ordering::Relaxed) > MOST_BYTES || Instant::now() > until {
                return WalkState::Quit;
            }
            let Ok(entry) = entry else { return WalkState::Continue };
            if !entry.file_type().is_some_and(|kind| kind.is_file())
                || !wanted(entry.path(), root, files.as_ref(), by_name)
            {
                return WalkState::Continue;
            }
            let lines = search.file(&mut searcher, entry.path());
            if !lines.is_empty() {
                bytes.fetch_add(lines.iter().map(String::len).sum(), Ordering::Relaxed);
                locked(found).insert(entry.into_path(), lines);
            }
            WalkState::Continue
        })
    });
    if cx.cancel.is_cancelled() {
        return Err(Outcome::cancelled());
    }
    let stopped = Instant::now() > until || bytes.into_inner() > MOST_BYTES;
    Ok(Outcome::text(answer(input, found.into_inner().unwrap_or_default(), stopped, cx)))
}

fn walker(root: &Path, input: &Input) -> Result<WalkBuilder, Outcome> {
    let mut walk = walk(root, input.all);
    if let Some(kind) = &input.kind {
        let types = TypesBuilder::new().add_defaults().select(kind).build();
        walk.types(types.map_err(|_| {
            Outcome::error(format!("There is no file type {kind:?}. Use glob instead, such as `*.{kind}`."))
        })?);
    }
    Ok(walk)
}

fn wanted(path: &Path, root: &Path, files: Option<&GlobMatcher>, by_name: bool) -> bool {
    let Some(files) = files else { return true };
    let of = if by_name { path.file_name().map(Path::new) } else { path.strip_prefix(root).ok() };
    of.is_some_and(|path| files.is_match(path))
}

struct Search {
    matcher: RegexMatcher,
    output: Output,
    around: (usize, usize),
    numbers: bool,
    multiline: bool,
}

impl Search {
    fn new(input: &Input) -> Result<Self, Outcome> {
        let mut builder = RegexMatcherBuilder::new();
        builder.case_insensitive(input.ignore_case).multi_line(true);
        if input.multiline {
            builder.dot_matches_new_line(true);
        } else {
            builder.line_terminator(Some(b'\n'));
        }
        let matcher = builder.build(&input.pattern).map_err(|e| {
            let what = e.to_string();
            Outcome::error(format!("The expression cannot be read: {what}\nEscape what is meant as it stands by `\\`."))
        })?;
        let around = (input.before.max(input.around), input.after.max(input.around));
        let numbers = input.numbers.unwrap_or(true);
        Ok(Self { matcher, output: input.output_mode, around, numbers, multiline: input.multiline })
    }

    fn searcher(&self) -> Searcher {
        let mut builder = SearcherBuilder::new();
        builder.binary_detection(BinaryDetection::quit(0)).multi_line(self.multiline);
        if self.output == Output::Content {
            builder.before_context(self.around.0).after_context(self.around.1);
        } else {
            builder.line_number(false);
        }
        builder.build()
    }

    /// What the answer says of one file. A file that cannot be read says nothing.
    fn file(&self, searcher: &mut Searcher, path: &Path) -> Vec<String> {
        let mut hits = Hits { search: self, lines: Vec::new(), count: 0, bytes: 0 };
        let _ = searcher.search_path(&self.matcher, path, &mut hits);
        match self.output {
            Output::Content => hits.lines,
            Output::FilesWithMatches | Output::Count if hits.count == 0 => Vec::new(),
            Output::FilesWithMatches => vec![String::new()],
            Output::Count => vec![hits.count.to_string()],
        }
    }
}

struct Hits<'a> {
    search: &'a Search,
    lines: Vec<String>,
    count: u64,
    bytes: usize,
}

impl Hits<'_> {
    fn line(&mut self, number: Option<u64>, bytes: &[u8], mark: char) {
        for (at, line) in bytes.split(|b| *b == b'\n').enumerate() {
            if line.is_empty() && at > 0 {
                continue;
            }
            let text = String::from_utf8_lossy(line);
            let text = text.trim_end_matches('\r');
            let cut = head(text, LINE_BYTES);
            let more = if cut.len() < text.len() { " […]" } else { "" };
            let line = match number.filter(|_| self.search.numbers) {
                Some(number) => format!("{}{mark}{cut}{more}", number + at as u64),
                None => format!("{cut}{more}"),
            };
            self.bytes += line.len();
            self.lines.push(line);
        }
    }
}

impl Sink for Hits<'_> {
    type Error = io::Error;

    fn matched(&mut self, _searcher: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        self.count += 1;
        match self.search.output {
            Output::FilesWithMatches => Ok(false),
            Output::Count => Ok(true),
            Output::Content => {
                self.line(found.line_number(), found.bytes(), ':');
                Ok(self.bytes < MOST_BYTES)
            }
        }
    }

    fn context(&mut self, _searcher: &Searcher, found: &SinkContext<'_>) -> io::Result<bool> {
        self.line(found.line_number(), found.bytes(), '-');
        Ok(true)
    }

    fn context_break(&mut self, _searcher: &Searcher) -> io::Result<bool> {
        self.lines.push("--".to_owned());
        Ok(true)
    }
}

fn answer(input: &Input, found: BTreeMap<PathBuf, Vec<String>>, stopped: bool, cx: &Context) -> String {
    let here = cx.here();
    let files = found.len();
    let lines: Vec<String> = found
        .iter()
        .flat_map(|(path, lines)| {
            let path = shown(path, &here).display().to_string();
            lines.iter().map(move |line| match input.output_mode {
                Output::FilesWithMatches => path.clone(),
                Output::Count => format!("{path}:{line}"),
                Output::Content if line == "--" => line.clone(),
                Output::Content => format!("{path}:{line}"),
            })
        })
        .collect();
    let limit = input.head_limit.unwrap_or(cx.limits.hits).max(1);
    let (mut out, mut told) = (String::new(), 0);
    for line in lines.iter().skip(input.offset).take(limit) {
        if out.len() + line.len() > cx.limits.output_bytes {
            break;
        }
        out.push_str(line);
        out.push('\n');
        told += 1;
    }
    let total = lines.len();
    if total == 0 {
        out.push_str("Nothing fits.\n");
    } else if input.offset + told < total {
        let next = input.offset + told;
        out.push_str(&format!(
            "[{told} of {total} lines, from {files} files. Go on with offset {next}, or narrow it.]\n"
        ));
    }
    if stopped {
        out.push_str("[The search was ended before it had seen all; there may be more. Narrow it.]\n");
    }
    out
}
