//! Read: a file's lines with their numbers, an image, a notebook.

use std::io::{BufRead, BufReader};
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::context::locked;
use super::file::{self, blocking, locate, unreadable};
use super::{BoxFuture, Context, Kind, Outcome, Possible, Resolved, Subject, Tool, parse, schema};
use crate::agent::wire::{ResultPart, ToolSpec};

pub struct Read;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The file, absolute or relative to the working folder.
    #[serde(alias = "path")]
    file_path: String,
    /// The first line to show, counted from 1.
    #[serde(default)]
    offset: Option<usize>,
    /// How many lines to show.
    #[serde(default)]
    limit: Option<usize>,
}

const TEXT: &str = "Reads a file. Text is shown with line numbers, up to 2000 lines unless limit says otherwise; a long file is \
read in parts by offset and limit. Images (PNG, JPEG, GIF, WebP) are shown as such, notebooks (.ipynb) as their cells with outputs. \
A folder is no file: list it with Glob. Read a file before you change it; read several at once when you need them.";

impl Tool for Read {
    fn name(&self) -> &str {
        "Read"
    }

    fn spec(&self, _possible: &Possible) -> ToolSpec {
        ToolSpec::new(self.name(), TEXT, schema::<Input>())
    }

    fn kind(&self) -> Kind {
        Kind::Read
    }

    fn subject(&self, input: &Value, cx: &Context) -> Subject {
        file::subject(input["file_path"].as_str().or_else(|| input["path"].as_str()), cx)
    }

    fn call<'a>(&'a self, input: Value, cx: &'a Context) -> BoxFuture<'a, Outcome> {
        let cx = cx.clone();
        Box::pin(async move {
            let input: Input = match parse("Read", input) {
                Ok(input) => input,
                Err(refused) => return refused,
            };
            blocking(move || read(&input, &cx).unwrap_or_else(|refused| refused)).await
        })
    }
}

fn read(input: &Input, cx: &Context) -> Result<Outcome, Outcome> {
    let at = locate(&input.file_path, cx)?;
    let (_, data) = file::open(&at.real).map_err(|e| unreadable(&input.file_path, &e))?;
    if let Some(media_type) = image_type(&at.real) {
        return image(input, &at, media_type, cx);
    }
    if data.len() > cx.limits.file_bytes {
        return streamed(input, &at, cx);
    }
    let whole = file::read(&at.real, cx.limits.file_bytes).map_err(|e| unreadable(&input.file_path, &e))?;
    if is_binary(&whole.bytes) {
        return Err(Outcome::error(format!(
            "{} is no text ({} bytes). Look at it with a command, such as `file`, `xxd`, or `pdftotext` for a PDF.",
            input.file_path,
            whole.bytes.len()
        )));
    }
    locked(&cx.files).saw(&at.real, &whole.bytes, whole.modified);
    let text = String::from_utf8_lossy(&whole.bytes);
    let is_notebook = at.real.extension().is_some_and(|e| e == "ipynb");
    let text = match super::notebook::render(&text).filter(|_| is_notebook && input.offset.is_none()) {
        Some(cells) => return Ok(Outcome::text(super::cut::middle_cut(&cells, cx.limits.read_bytes, ""))),
        None => text,
    };
    Ok(Outcome::text(part(input, &text, cx)))
}

/// The lines asked for, and what to do for the others.
fn part(input: &Input, text: &str, cx: &Context) -> String {
    if text.is_empty() {
        return "[The file is there and empty.]".to_owned();
    }
    let total = text.lines().count();
    let from = input.offset.unwrap_or(1).max(1);
    if from > total {
        return format!("[There is no line {from}: the file has {total} lines.]");
    }
    let wanted = input.limit.unwrap_or(cx.limits.read_lines).max(1);
    let (mut shown, mut bytes) = (0, 0);
    for line in text.lines().skip(from - 1).take(wanted) {
        bytes += line.len().min(cx.limits.line_bytes) + 8;
        if bytes > cx.limits.read_bytes && shown > 0 {
            break;
        }
        shown += 1;
    }
    let mut out = file::numbered(text.lines().skip(from - 1).take(shown), from, cx.limits.line_bytes);
    let last = from + shown - 1;
    if last < total {
        out.push_str(&format!("[Lines {from} to {last} of {total}. Go on with offset {}.]\n", last + 1));
    }
    out
}

/// A part of a file that is too long to be held in memory. It does not count as seen.
fn streamed(input: &Input, at: &Resolved, cx: &Context) -> Result<Outcome, Outcome> {
    let fail = |e: std::io::Error| unreadable(&input.file_path, &e);
    let (open, data) = file::open(&at.real).map_err(fail)?;
    let Some(from) = input.offset else {
        let error = std::io::Error::new(
            std::io::ErrorKind::FileTooLarge,
            format!("it has {} bytes, and {} are read at once", data.len(), cx.limits.file_bytes),
        );
        return Err(fail(error));
    };
    let mut lines = BufReader::new(open).split(b'\n').skip(from.max(1) - 1);
    let mut out = String::new();
    for number in (from.max(1)..).take(input.limit.unwrap_or(cx.limits.read_lines)) {
        let Some(line) = lines.next() else { break };
        let line = line.map_err(fail)?;
        let text = String::from_utf8_lossy(&line);
        out.push_str(&file::numbered(std::iter::once(text.as_ref()), number, cx.limits.line_bytes));
        if out.len() > cx.limits.read_bytes {
            out.push_str(&format!("[Go on with offset {}.]\n", number + 1));
            break;
        }
    }
    Ok(Outcome::text(if out.is_empty() { format!("[There is no line {from}.]") } else { out }))
}

fn image_type(path: &Path) -> Option<&'static str> {
    let extension = path.extension()?.to_str()?.to_ascii_lowercase();
    Some(match extension.as_str() {
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        _ => return None,
    })
}

/// What the bytes are, whatever the name says: a provider refuses the whole request over a wrong type.
fn sniffed(bytes: &[u8]) -> Option<&'static str> {
    if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
        Some("image/png")
    } else if bytes.starts_with(b"\xff\xd8\xff") {
        Some("image/jpeg")
    } else if bytes.starts_with(b"GIF8") {
        Some("image/gif")
    } else if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
        Some("image/webp")
    } else {
        None
    }
}

fn image(input: &Input, at: &Resolved, named: &str, cx: &Context) -> Result<Outcome, Outcome> {
    let whole = file::read(&at.real, cx.limits.image_bytes).map_err(|e| {
        Outcome::error(format!(
            "{} cannot be shown: {}. Make a smaller copy of it first.",
            input.file_path,
            file::plain(&e)
        ))
    })?;
    let Some(media_type) = sniffed(&whole.bytes) else {
        return Err(Outcome::error(format!(
            "{} is named as {named} and is no image that can be shown.",
            input.file_path
        )));
    };
    let content = vec![ResultPart::image(media_type, &STANDARD.encode(&whole.bytes))];
    Ok(Outcome { content, ..Outcome::default() })
}

/// As git tells: text has no NUL in its beginning.
fn is_binary(bytes: &[u8]) -> bool {
    bytes[..bytes.len().min(8_000)].contains(&0)
}
