//! Mistakes in a spec, and how they are shown.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use miette::{Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, NamedSource, SourceCode};

/// The exit code of everything that is wrong with a spec: usage.
const EXIT_USAGE: u8 = 2;
/// More mistakes than this in one file help nobody.
const MAX_SHOWN: usize = 20;
/// A snippet with a longer line than this (bytes) would bury the message.
const MAX_SNIPPET_LINE: usize = 600;

/// One thing that is wrong. Its labels are byte ranges of the spec's text, the first the place itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    pub message: String,
    pub labels: Vec<(Range<usize>, String)>,
    pub help: Option<String>,
}

impl Mistake {
    /// A mistake that lies in no place of the file.
    #[must_use]
    pub fn nowhere(message: impl Into<String>) -> Self {
        Self { message: message.into(), labels: Vec::new(), help: None }
    }

    /// A mistake at `at`; `label` stands under the underlined text.
    #[must_use]
    pub fn at(at: Range<usize>, message: impl Into<String>, label: impl Into<String>) -> Self {
        Self { message: message.into(), labels: vec![(at, label.into())], help: None }
    }

    #[must_use]
    pub fn and(mut self, at: Range<usize>, label: impl Into<String>) -> Self {
        self.labels.push((at, label.into()));
        self
    }

    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    fn start(&self) -> usize {
        self.labels.first().map_or(0, |(at, _)| at.start)
    }
}

/// Everything that is wrong with a spec, in the order of the file; never empty.
#[derive(Clone, Debug)]
pub struct SpecError {
    name: String,
    text: Arc<str>,
    mistakes: Vec<Mistake>,
}

impl SpecError {
    /// A spec that could not even be read or found.
    #[must_use]
    pub fn plain(message: impl Into<String>, help: Option<String>) -> Self {
        let mistake = Mistake { message: message.into(), labels: Vec::new(), help };
        Self { name: String::new(), text: Arc::from(""), mistakes: vec![mistake] }
    }

    /// Mistakes in `text`, which people know as `name`. The same mistake found by two ways is kept once.
    #[must_use]
    pub fn in_text(name: &str, text: &str, mut mistakes: Vec<Mistake>) -> Self {
        mistakes.sort_by_key(Mistake::start);
        let mut seen: Vec<Mistake> = Vec::with_capacity(mistakes.len());
        for mistake in mistakes {
            let known = seen.iter().rev().take_while(|m| m.start() == mistake.start()).any(|m| *m == mistake);
            if !known {
                seen.push(mistake);
            }
        }
        Self { name: name.to_owned(), text: Arc::from(printable(text)), mistakes: seen }
    }

    /// The exit code of a program that ends because of this.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        EXIT_USAGE
    }

    #[must_use]
    pub fn mistakes(&self) -> &[Mistake] {
        &self.mistakes
    }

    /// One line a mistake, `FILE:LINE:COLUMN: MESSAGE`, for machine-readable output.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        self.mistakes.iter().map(|m| self.line(m)).collect()
    }

    /// The help texts, in the order of the mistakes.
    #[must_use]
    pub fn hints(&self) -> Vec<String> {
        self.mistakes.iter().filter_map(|m| m.help.clone()).collect()
    }

    /// All mistakes with the offending text underlined, `width` columns wide; ends with a newline.
    #[must_use]
    pub fn render(&self, color: bool, width: usize) -> String {
        let theme = if color { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
        let handler = GraphicalReportHandler::new_themed(theme)
            .with_width(width.max(40))
            .with_links(false)
            // A path in a help text must stay one that can be copied.
            .with_break_words(false)
            .without_syntax_highlighting();
        let mut out = String::new();
        for mistake in self.mistakes.iter().take(MAX_SHOWN) {
            let shown = Shown { mistake, message: self.headline(mistake), source: self.source_for(mistake) };
            if handler.render_report(&mut out, &shown).is_err() {
                out.push_str(&shown.message);
                out.push('\n');
            }
        }
        let count = self.mistakes.len();
        if count > MAX_SHOWN {
            out.push_str(&format!("\n{count} mistakes in {}; the first {MAX_SHOWN} are shown\n", self.name));
        } else if count > 1 {
            out.push_str(&format!("\n{count} mistakes in {}\n", self.name));
        }
        out
    }

    fn line(&self, mistake: &Mistake) -> String {
        if self.name.is_empty() {
            return mistake.message.clone();
        }
        match mistake.labels.first() {
            Some((at, _)) => {
                let (line, column) = position(&self.text, at.start);
                format!("{}:{line}:{column}: {}", self.name, mistake.message)
            }
            None => format!("{}: {}", self.name, mistake.message),
        }
    }

    /// The message alone where a snippet names the place, else with the place in front.
    fn headline(&self, mistake: &Mistake) -> String {
        if self.source_for(mistake).is_some() { mistake.message.clone() } else { self.line(mistake) }
    }

    fn source_for(&self, mistake: &Mistake) -> Option<NamedSource<Arc<str>>> {
        if mistake.labels.is_empty() {
            return None;
        }
        let short = mistake.labels.iter().all(|(at, _)| {
            let (line, _) = position(&self.text, at.start);
            self.text.split('\n').skip(line.saturating_sub(2)).take(3).all(|l| l.len() <= MAX_SNIPPET_LINE)
                && at.len() <= 4 * MAX_SNIPPET_LINE
        });
        short.then(|| NamedSource::new(&self.name, Arc::clone(&self.text)))
    }
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.mistakes.as_slice() {
            [] => f.write_str("the spec is not usable"),
            [one] => f.write_str(&self.line(one)),
            [first, rest @ ..] => write!(f, "{} (and {} more)", self.line(first), rest.len()),
        }
    }
}

impl std::error::Error for SpecError {}

/// A mistake as miette sees it.
struct Shown<'a> {
    mistake: &'a Mistake,
    message: String,
    source: Option<NamedSource<Arc<str>>>,
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl fmt::Debug for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Shown<'_> {}

impl Diagnostic for Shown<'_> {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.mistake.help.as_ref().map(|h| Box::new(h) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.source.as_ref().map(|s| s as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        self.source.as_ref()?;
        Some(Box::new(self.mistake.labels.iter().enumerate().map(|(i, (at, label))| {
            let label = (!label.is_empty()).then(|| label.clone());
            match i {
                0 => LabeledSpan::new_primary_with_span(label, at.clone()),
                _ => LabeledSpan::new_with_span(label, at.clone()),
            }
        })))
    }
}

/// Line and column of a byte offset, both from 1; columns count characters.
fn position(text: &str, offset: usize) -> (usize, usize) {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    let before = &text[..offset];
    let start = before.rfind('\n').map_or(0, |i| i + 1);
    (before.matches('\n').count() + 1, before[start..].chars().count() + 1)
}

/// The text with everything that could steer a terminal replaced by something of the same length in bytes, so
/// that ranges stay true.
fn printable(text: &str) -> String {
    text.chars()
        .map(|c| match (steers(c), c.len_utf8()) {
            (false, _) => c,
            (true, 1) => '?',
            (true, 2) => '\u{b7}',
            (true, 3) => '\u{fffd}',
            (true, _) => '\u{1fbc4}',
        })
        .collect()
}

/// A piece of a person's text inside a message: in backticks, shortened, made harmless.
#[must_use]
pub fn quote(text: &str) -> String {
    const MOST: usize = 60;
    let mut out = String::from("`");
    for (i, c) in text.chars().enumerate() {
        if i == MOST {
            out.push('…');
            break;
        }
        if steers(c) || c == '\n' {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    out.push('`');
    out
}

/// Control characters, and the invisible ones that turn or hide what stands beside them.
fn steers(c: char) -> bool {
    let escaped = || c.escape_debug().len() > 1 && !matches!(c, '"' | '\'' | '\\');
    match c {
        '\n' => false,
        '\t' => false,
        _ => escaped() && !unicode_normalization::char::is_combining_mark(c),
    }
}
