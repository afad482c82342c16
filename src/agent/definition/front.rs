//! Front matter: the YAML between two lines of dashes, with the place of everything in the file.

use std::ops::Range;

use saphyr::{LoadableYamlNode, MarkedYaml, Scalar, YamlData};

use crate::spec::Mistake;

/// A value and where it stands, in bytes of the file.
#[derive(Clone, Debug)]
pub(super) struct Entry<'a> {
    pub key: String,
    pub key_at: Range<usize>,
    pub value: Node<'a>,
}

#[derive(Clone, Debug)]
pub(super) struct Node<'a> {
    pub at: Range<usize>,
    pub data: YamlData<'a, MarkedYaml<'a>>,
}

impl Node<'_> {
    /// Any scalar as the text that a person wrote.
    pub fn text(&self) -> Option<String> {
        match &self.data {
            YamlData::Value(Scalar::String(text)) => Some(text.to_string()),
            YamlData::Value(Scalar::Integer(n)) => Some(n.to_string()),
            YamlData::Value(Scalar::Boolean(b)) => Some(b.to_string()),
            _ => None,
        }
    }

    pub fn is_null(&self) -> bool {
        matches!(self.data, YamlData::Value(Scalar::Null))
    }
}

/// A file taken apart.
pub(super) struct Parts<'a> {
    /// Where the YAML lies in the file.
    pub yaml: Range<usize>,
    pub body: &'a str,
}

/// Splits a file at its two lines of dashes.
pub(super) fn split(text: &str) -> Result<Parts<'_>, Mistake> {
    let first = text.split_inclusive('\n').next().unwrap_or_default();
    if first.trim_end() != "---" {
        let end = first.trim_end().len();
        return Err(Mistake::at(
            0..end.max(1).min(text.len()),
            "a definition begins with front matter",
            "`---` is wanted here",
        )
        .help("the file begins with `---`, then `name: …` and `description: …`, then `---`, then the prompt"));
    }
    let mut at = first.len();
    for line in text[first.len()..].split_inclusive('\n') {
        if line.trim_end() == "---" {
            return Ok(Parts { yaml: first.len()..at, body: &text[at + line.len()..] });
        }
        at += line.len();
    }
    Err(Mistake::at(0..3, "the front matter has no end", "begins here").help("write a line `---` below its last key"))
}

/// An unquoted `description: …` in one line, as other agents' files have it: a text, whatever colons and signs it
/// holds, where strict YAML would see a mistake.
struct Loose {
    value: Range<usize>,
    text: String,
}

fn loose_description(yaml: &str) -> Option<Loose> {
    let mut at = 0;
    let mut lines = yaml.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        let begin = at;
        at += line.len();
        let Some(rest) = line.strip_prefix("description:") else { continue };
        let value = rest.trim();
        let own_meaning = ['"', '\'', '|', '>', '&', '*', '[', '{', '!', '#'];
        let goes_on = lines.peek().is_some_and(|next| next.starts_with([' ', '\t']));
        if value.is_empty() || value.starts_with(own_meaning) || goes_on {
            return None;
        }
        let start = begin + "description:".len() + (rest.len() - rest.trim_start().len());
        return Some(Loose { value: start..start + value.len(), text: value.replace("\\n", "\n") });
    }
    None
}

/// Reads the YAML of a file: its keys in order.
pub(super) fn entries<'a>(text: &str, yaml: Range<usize>, masked: &'a mut String) -> Result<Vec<Entry<'a>>, Mistake> {
    let source = &text[yaml.clone()];
    let loose = loose_description(source);
    masked.push_str(source);
    if let Some(loose) = &loose {
        // As many bytes of something harmless, so that every place stays where it is.
        masked.replace_range(loose.value.clone(), &"x".repeat(loose.value.len()));
    }
    let masked: &'a str = masked;
    // The parser counts characters; people's files and our ranges count bytes.
    let byte = |index: usize| masked.char_indices().nth(index).map_or(masked.len(), |(at, _)| at);
    let documents = MarkedYaml::load_from_str(masked).map_err(|error| {
        let at = yaml.start + byte(error.marker().index());
        let end = text[at..].find('\n').map_or(text.len(), |n| at + n);
        let at = at.min(yaml.end.saturating_sub(1));
        Mistake::at(at..end.max(at + 1).min(yaml.end), format!("this is no YAML: {}", error.info()), "")
            .help("a text with `: ` or ` #` in it stands in quotes, or below `key: |`")
    })?;
    let Some(document) = documents.into_iter().next() else { return Ok(Vec::new()) };
    let place = |node: &MarkedYaml<'_>| {
        let start = yaml.start + byte(node.span.start.index());
        let end = yaml.start + byte(node.span.end.index());
        let trimmed = text[start..end.max(start)].trim_end().len();
        start..start + trimmed
    };
    let at = place(&document);
    let YamlData::Mapping(map) = document.data else {
        return Err(Mistake::at(at, "front matter is a list of keys and values", "").help("write `key: value` lines"));
    };
    let mut out = Vec::with_capacity(map.len());
    for (key, value) in map {
        let key_at = place(&key);
        let mut value = Node { at: place(&value), data: value.data };
        let key = Node { at: key_at.clone(), data: key.data }.text().unwrap_or_default();
        if let Some(loose) = loose.as_ref().filter(|_| key == "description") {
            value.data = YamlData::Value(Scalar::String(loose.text.clone().into()));
        }
        out.push(Entry { key, key_at, value });
    }
    Ok(out)
}
