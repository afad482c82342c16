//! The file being read: its values turned into ours, and what was found wrong with it.

use std::cell::RefCell;
use std::ops::Range;

use serde_json::{Map, Value as Json};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::{Mistake, quote};
use super::suggest::did_you_mean;
use super::vars::{BadVar, Vars};
use crate::model::name::Name;

pub(super) type Entry<'i> = Spanned<DeValue<'i>>;

/// A value and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct At<T> {
    pub value: T,
    pub at: Range<usize>,
}

/// The file being read and what was found wrong with it.
pub(super) struct Desk<'a> {
    pub text: &'a str,
    pub vars: Vars,
    pub mistakes: RefCell<Vec<Mistake>>,
}

impl<'a> Desk<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, vars: Vars::default(), mistakes: RefCell::default() }
    }

    pub(super) fn note(&self, mistake: Mistake) {
        self.mistakes.borrow_mut().push(mistake);
    }

    /// A string with its variables filled in; an unknown one is noted at its own place.
    pub(super) fn fill(&self, raw: &str, at: &Range<usize>) -> Option<String> {
        let bad = match self.vars.fill(raw) {
            Ok(text) => return Some(text),
            Err(bad) => bad,
        };
        let mistake = match &bad {
            BadVar::Unknown(name) => {
                let names = self.vars.names();
                Mistake::at(self.inside(at, &format!("${{{name}}}")), format!("unknown variable {}", quote(name)), "")
                    .help(format!(
                        "{}\nmore are declared in `[vars]`; a plain dollar sign is written `$$`",
                        did_you_mean(name, "known variables", &names)
                    ))
            }
            BadVar::Broken => return None,
            BadVar::Open => Mistake::at(self.inside(at, "${"), "`${` without its `}`", "")
                .help("a variable is written `${name}`, a plain dollar sign `$$`"),
        };
        self.note(mistake);
        None
    }

    /// The place of `part` within a value, or the whole value where it is written with escapes.
    fn inside(&self, at: &Range<usize>, part: &str) -> Range<usize> {
        let found = self.text.get(at.clone()).and_then(|raw| raw.find(part));
        found.map_or(at.clone(), |i| at.start + i..at.start + i + part.len())
    }

    pub(super) fn wrong_type(&self, key: &str, entry: &Entry<'_>, expected: &str) {
        let got = kind(entry.get_ref());
        self.note(Mistake::at(entry.span(), format!("`{key}` must be {expected}"), format!("this is {got}")));
    }

    /// The string of an entry, filled in.
    pub(super) fn text_of(&self, key: &str, entry: &Entry<'_>) -> Option<At<String>> {
        let DeValue::String(raw) = entry.get_ref() else {
            self.wrong_type(key, entry, "a string");
            return None;
        };
        let value = self.fill(raw, &entry.span())?;
        if value.contains('\0') {
            self.note(Mistake::at(entry.span(), format!("`{key}` holds a NUL character"), "no program can take it"));
            return None;
        }
        Some(At { value, at: entry.span() })
    }

    /// The strings of an array, filled in; `None` if one of them is not a string.
    pub(super) fn list_of(&self, key: &str, entry: &Entry<'_>) -> Option<Vec<At<String>>> {
        let DeValue::Array(items) = entry.get_ref() else {
            self.wrong_type(key, entry, "an array of strings");
            return None;
        };
        let all: Vec<Option<At<String>>> = items.iter().map(|i| self.text_of(&format!("{key}[]"), i)).collect();
        all.into_iter().collect()
    }

    /// A name that keeps the rules.
    pub(super) fn name_of(&self, what: &str, text: &At<String>) -> Option<Name> {
        match Name::parse(&text.value) {
            Ok(name) => Some(name),
            Err(why) => {
                let message = format!("{} is not a {what}: {why}", quote(&text.value));
                self.note(Mistake::at(text.at.clone(), message, "").help(
                    "a name has 1 to 64 bytes of letters, digits, `-`, `_` and `.`, and starts with a letter, a digit or `_`",
                ));
                None
            }
        }
    }

    /// Any value as JSON.
    pub(super) fn json_of(&self, key: &str, entry: &Entry<'_>) -> Option<Json> {
        Some(match entry.get_ref() {
            DeValue::String(_) => Json::String(self.text_of(key, entry)?.value),
            DeValue::Integer(n) => match i64::from_str_radix(n.as_str(), n.radix()) {
                Ok(n) => Json::from(n),
                Err(_) => {
                    self.note(Mistake::at(entry.span(), format!("`{key}` is too large a number"), ""));
                    return None;
                }
            },
            DeValue::Float(x) => {
                let number = x.as_str().parse().ok().and_then(serde_json::Number::from_f64);
                let Some(number) = number else {
                    self.note(Mistake::at(entry.span(), format!("`{key}` is not a finite number"), ""));
                    return None;
                };
                Json::Number(number)
            }
            DeValue::Boolean(b) => Json::Bool(*b),
            DeValue::Datetime(t) => Json::String(t.to_string()),
            DeValue::Array(items) => {
                Json::Array(items.iter().map(|i| self.json_of(key, i)).collect::<Option<Vec<_>>>()?)
            }
            DeValue::Table(table) => {
                let mut map = Map::new();
                for (name, value) in in_order(table) {
                    map.insert(name.get_ref().to_string(), self.json_of(name.get_ref(), value)?);
                }
                Json::Object(map)
            }
        })
    }
}

/// The entries of a table as they stand in the file.
pub(super) fn in_order<'a, 'i>(table: &'a DeTable<'i>) -> Vec<(&'a Spanned<std::borrow::Cow<'i, str>>, &'a Entry<'i>)> {
    let mut all: Vec<_> = table.iter().collect();
    all.sort_by_key(|(key, _)| key.span().start);
    all
}

fn kind(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "an integer",
        DeValue::Float(_) => "a float",
        DeValue::Boolean(_) => "a boolean",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "an array",
        DeValue::Table(_) => "a table",
    }
}
