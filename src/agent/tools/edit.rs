//! Edit: one text in a file exchanged for another.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::file::{self, blocking, locate};
use super::{BoxFuture, Context, Diff, Kind, Outcome, Possible, Subject, Tool, parse, schema};
use crate::agent::wire::ToolSpec;

pub struct Edit;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The file, absolute or relative to the working folder.
    #[serde(alias = "path")]
    file_path: String,
    /// The text to be exchanged, exactly as it stands in the file, without line numbers.
    old_string: String,
    /// What stands there afterwards.
    new_string: String,
    /// Exchange it everywhere in the file.
    #[serde(default)]
    replace_all: bool,
}

const TEXT: &str = "Exchanges a text in a file for another. The file must have been read, and not have changed since. old_string must \
stand in it exactly once, spaces and all (take more lines around it where it does not), unless replace_all is set. The line numbers \
that Read shows are not part of the file.";

/// Lines shown around a change.
const AROUND: usize = 3;
/// Lines shown of a change at most.
const SHOWN: usize = 40;

impl Tool for Edit {
    fn name(&self) -> &str {
        "Edit"
    }

    fn spec(&self, _possible: &Possible) -> ToolSpec {
        ToolSpec::new(self.name(), TEXT, schema::<Input>())
    }

    fn kind(&self) -> Kind {
        Kind::Edit
    }

    fn subject(&self, input: &Value, cx: &Context) -> Subject {
        file::subject(input["file_path"].as_str().or_else(|| input["path"].as_str()), cx)
    }

    fn call<'a>(&'a self, input: Value, cx: &'a Context) -> BoxFuture<'a, Outcome> {
        let cx = cx.clone();
        Box::pin(async move {
            let input: Input = match parse("Edit", input) {
                Ok(input) => input,
                Err(refused) => return refused,
            };
            blocking(move || edit(&input, &cx).unwrap_or_else(|refused| refused)).await
        })
    }
}

fn edit(input: &Input, cx: &Context) -> Result<Outcome, Outcome> {
    let path = input.file_path.as_str();
    let at = locate(path, cx)?;
    let before = file::current_text(path, &at, cx)?;
    let (after, first, count) = exchange(&before, &input.old_string, &input.new_string, input.replace_all)
        .map_err(|why| Outcome::error(format!("{path} was not changed: {why}")))?;
    file::store(path, &at, &after, cx)?;
    let places = if count == 1 { String::new() } else { format!(" in {count} places, the first") };
    let line = after[..first].lines().count().max(1);
    let from = line.saturating_sub(AROUND).max(1);
    let many = (input.new_string.lines().count() + 2 * AROUND).min(SHOWN);
    let shown = file::numbered(after.lines().skip(from - 1).take(many), from, cx.limits.line_bytes);
    let said = format!("Changed {path}{places} at line {line}:\n{shown}");
    Ok(Outcome::text(said).with_diff(Diff { path: at.real, before: Some(before), after }))
}

/// The text afterwards, where the first change is in it, and how many there are.
///
/// # Errors
/// Why not, and what to do.
fn exchange(text: &str, old: &str, new: &str, all: bool) -> Result<(String, usize, usize), String> {
    if old.is_empty() {
        return Err("old_string is empty. Use Write for a file as a whole.".to_owned());
    }
    if old == new {
        return Err("old_string and new_string are the same.".to_owned());
    }
    // A model sees lines and not how they end.
    let windows = !text.contains(old) && text.contains("\r\n") && !old.contains('\r');
    let crlf = |s: &str| s.replace('\n', "\r\n");
    let (old, new) = if windows { (crlf(old), crlf(new)) } else { (old.to_owned(), new.to_owned()) };
    let places: Vec<usize> = text.match_indices(&old).map(|(at, _)| at).collect();
    match places.as_slice() {
        [] => Err(not_found(text, &old)),
        [first] => Ok((text.replacen(&old, &new, 1), *first, 1)),
        [first, ..] if all => Ok((text.replace(&old, &new), *first, places.len())),
        _ => {
            let lines: Vec<String> =
                places.iter().take(10).map(|at| (text[..*at].matches('\n').count() + 1).to_string()).collect();
            Err(format!(
                "old_string stands in it {} times, at lines {}. Take more of what stands around the one you mean, or set \
                 replace_all.",
                places.len(),
                lines.join(", ")
            ))
        }
    }
}

/// The likeliest reason is white space: where the text stands but for that is worth saying.
fn not_found(text: &str, old: &str) -> String {
    let squeezed = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let Some(first) = old.lines().map(squeezed).find(|line| !line.is_empty()) else {
        return "old_string does not stand in it.".to_owned();
    };
    match text.lines().position(|line| squeezed(line) == first) {
        Some(at) => format!(
            "old_string does not stand in it exactly so. Line {} is like its beginning; read from there and take spaces and \
             line breaks as they are.",
            at + 1
        ),
        None => "old_string does not stand in it. Read the file again.".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::exchange;

    #[test]
    fn one_place_or_all_or_nothing() {
        assert_eq!(exchange("a b c", "b", "x", false), Ok(("a x c".to_owned(), 2, 1)));
        assert_eq!(exchange("b b", "b", "x", true), Ok(("x x".to_owned(), 0, 2)));
        for (text, old, new, says) in [
            ("a\nb\nb", "b", "x", "2 times, at lines 2, 3"),
            ("a", "", "x", "empty"),
            ("a", "a", "a", "the same"),
            ("fn  a() {\n}\n", "fn a() {\n}", "x", "Line 1 is like its beginning"),
            ("a", "z", "x", "does not stand in it. Read"),
        ] {
            let why = exchange(text, old, new, false).unwrap_err();
            assert!(why.contains(says), "{why}");
        }
    }

    #[test]
    fn line_ends_of_the_file_stay() {
        let (text, ..) = exchange("a\r\nb\r\nc\r\n", "a\nb", "x\ny", false).unwrap();
        assert_eq!(text, "x\r\ny\r\nc\r\n");
    }
}
