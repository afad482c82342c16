//! `${name}` in the strings of a spec: what crewmux sets, what `[vars]` declares, what `--set` says.

use std::collections::BTreeMap;

/// What crewmux sets itself.
pub(super) const BUILTINS: [&str; 5] = ["cwd", "repo_parent", "root", "spec_dir", "team"];

/// The variables known so far; one without a value has been complained about already.
#[derive(Clone, Debug, Default)]
pub(super) struct Vars(BTreeMap<String, Option<String>>);

/// Why a string could not be filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum BadVar {
    /// `${name}` of a name that nobody set.
    Unknown(String),
    /// A `${` without its `}`.
    Open,
    /// `${name}` of one whose own value is a mistake.
    Broken,
}

impl Vars {
    pub(super) fn set(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.0.insert(name.into(), Some(value.into()));
    }

    /// Makes a name known whose value is a mistake, so that its uses are not mistakes too.
    pub(super) fn set_broken(&mut self, name: impl Into<String>) {
        self.0.insert(name.into(), None);
    }

    pub(super) fn names(&self) -> Vec<&str> {
        self.0.keys().map(String::as_str).collect()
    }

    /// `text` with every `${name}` replaced and every `$$` made `$`. Values are not looked at again, and a `$`
    /// before anything else stays, so that `sh -c 'echo $HOME'` can be written as it is.
    pub(super) fn fill(&self, text: &str) -> Result<String, BadVar> {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(i) = rest.find('$') {
            out.push_str(&rest[..i]);
            rest = &rest[i + 1..];
            if let Some(tail) = rest.strip_prefix('$') {
                out.push('$');
                rest = tail;
            } else if let Some(tail) = rest.strip_prefix('{') {
                let (name, tail) = tail.split_once('}').ok_or(BadVar::Open)?;
                let value = self.0.get(name).ok_or_else(|| BadVar::Unknown(name.to_owned()))?;
                out.push_str(value.as_ref().ok_or(BadVar::Broken)?);
                rest = tail;
            } else {
                out.push('$');
            }
        }
        out.push_str(rest);
        Ok(out)
    }
}
