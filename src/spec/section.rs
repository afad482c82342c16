//! One table of a spec, read key by key. A mistake is noted and reading goes on, so that one run shows all of them.

use std::ops::Range;

use toml::de::{DeTable, DeValue};

use super::desk::{At, Desk, Entry, in_order};
use super::error::{Mistake, quote};
use super::suggest::{did_you_mean, words};
use crate::model::time::Span;

/// A table, maybe with another one under it that gives what it does not say.
pub(super) struct Section<'a, 'i> {
    pub desk: &'a Desk<'a>,
    pub top: &'a DeTable<'i>,
    pub under: Option<&'a DeTable<'i>>,
    pub at: Range<usize>,
}

impl<'a, 'i> Section<'a, 'i> {
    /// The value of a key, and whether the table itself says it.
    pub(super) fn entry(&self, key: &str) -> Option<(&'a Entry<'i>, bool)> {
        let own = self.top.get(key).map(|e| (e, true));
        own.or_else(|| self.under?.get(key).map(|e| (e, false)))
    }

    pub(super) fn text(&self, key: &str) -> Option<At<String>> {
        self.desk.text_of(key, self.entry(key)?.0)
    }

    pub(super) fn string(&self, key: &str) -> Option<String> {
        self.text(key).map(|t| t.value)
    }

    pub(super) fn list(&self, key: &str) -> Option<Vec<At<String>>> {
        self.desk.list_of(key, self.entry(key)?.0)
    }

    pub(super) fn strings(&self, key: &str) -> Vec<String> {
        self.list(key).unwrap_or_default().into_iter().map(|t| t.value).collect()
    }

    pub(super) fn flag(&self, key: &str) -> Option<bool> {
        let (entry, _) = self.entry(key)?;
        if let DeValue::Boolean(b) = entry.get_ref() {
            return Some(*b);
        }
        self.desk.wrong_type(key, entry, "`true` or `false`");
        None
    }

    /// A whole number of `range`.
    pub(super) fn number(&self, key: &str, range: std::ops::RangeInclusive<u64>) -> Option<u64> {
        let (entry, _) = self.entry(key)?;
        let expected = format!("a whole number from {} to {}", range.start(), range.end());
        let DeValue::Integer(n) = entry.get_ref() else {
            self.desk.wrong_type(key, entry, &expected);
            return None;
        };
        match u64::from_str_radix(n.as_str(), n.radix()) {
            Ok(n) if range.contains(&n) => Some(n),
            _ => {
                self.desk.note(Mistake::at(entry.span(), format!("`{key}` must be {expected}"), "out of range"));
                None
            }
        }
    }

    /// A length of time: `"5m"`, or whole seconds. Zero only where `zero` allows it.
    pub(super) fn span(&self, key: &str, zero: bool) -> Option<Span> {
        let (entry, _) = self.entry(key)?;
        let span = match entry.get_ref() {
            DeValue::String(_) => {
                let text = self.desk.text_of(key, entry)?;
                match text.value.parse::<Span>() {
                    Ok(span) => span,
                    Err(why) => {
                        self.desk.note(Mistake::at(text.at, format!("`{key}`: {why}"), ""));
                        return None;
                    }
                }
            }
            DeValue::Integer(n) if n.as_str().parse::<u64>().is_ok() && n.radix() == 10 => {
                Span::secs(n.as_str().parse().unwrap_or_default())
            }
            _ => {
                self.desk.wrong_type(key, entry, "a length of time like \"250ms\", \"5s\", \"2m\" or \"1h30m\"");
                return None;
            }
        };
        if span.0.is_zero() && !zero {
            self.desk.note(Mistake::at(entry.span(), format!("`{key}` must be longer than nothing"), ""));
            return None;
        }
        Some(span)
    }

    /// One of a few words; those in `later` are known, but to a later version.
    pub(super) fn word<T: Copy>(&self, key: &str, known: &[(&'static str, T)], later: &[&str]) -> Option<T> {
        let text = self.text(key)?;
        if let Some((_, value)) = known.iter().find(|(word, _)| *word == text.value) {
            return Some(*value);
        }
        let all: Vec<&str> = known.iter().map(|(word, _)| *word).collect();
        if later.contains(&text.value.as_str()) {
            let message = format!("`{key} = {:?}` is not supported by this version of crewmux", text.value);
            self.desk
                .note(Mistake::at(text.at, message, "not supported yet").help(format!("it supports {}", words(&all))));
            return None;
        }
        let message = format!("{} is not a word for `{key}`", quote(&text.value));
        let mut help = format!("expected one of {}", words(&all));
        if let Some(near) = super::suggest::nearest(&text.value, all.iter().copied()) {
            help = format!("did you mean `{near}`? {help}");
        }
        self.desk.note(Mistake::at(text.at, message, "").help(help));
        None
    }

    /// A table below this one.
    pub(super) fn table(&self, key: &str) -> Option<Section<'a, 'i>> {
        let (entry, _) = self.entry(key)?;
        if let DeValue::Table(table) = entry.get_ref() {
            return Some(Section { desk: self.desk, top: table, under: None, at: entry.span() });
        }
        self.desk.wrong_type(key, entry, &format!("a table, written under `[{key}]`"));
        None
    }

    /// The tables of `[[key]]`.
    pub(super) fn tables(&self, key: &str) -> Vec<Section<'a, 'i>> {
        let Some((entry, _)) = self.entry(key) else { return Vec::new() };
        let expected = format!("an array of tables, each written under `[[{key}]]`");
        let DeValue::Array(items) = entry.get_ref() else {
            self.desk.wrong_type(key, entry, &expected);
            return Vec::new();
        };
        let mut out = Vec::new();
        for item in items.iter() {
            match item.get_ref() {
                DeValue::Table(table) => {
                    out.push(Section { desk: self.desk, top: table, under: None, at: item.span() });
                }
                _ => self.desk.wrong_type(key, item, &expected),
            }
        }
        out
    }

    /// Notes every key that this table does not know.
    pub(super) fn check_keys(&self, place: &str, known: &[&str]) {
        for (key, _) in in_order(self.top) {
            let name: &str = key.get_ref();
            if known.contains(&name) {
                continue;
            }
            let mut help = did_you_mean(name, &format!("keys of {place}"), known);
            if super::suggest::nearest(name, known.iter().copied()).is_none_or(|near| near != name)
                && let Some(home) = super::team::home_of(name, place)
            {
                help = format!("`{name}` belongs in {home}");
            }
            let message = format!("unknown key {} in {place}", quote(name));
            self.desk.note(Mistake::at(key.span(), message, "").help(help));
        }
    }
}
