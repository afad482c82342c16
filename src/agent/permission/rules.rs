//! Rules: `Tool` or `Tool(pattern)`, in three lists.

use globset::GlobBuilder;
use serde::{Deserialize, Serialize};

use super::Call;
use crate::agent::tools::Kind;

/// What may be done without asking, what must be asked, what may not be done.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Rules {
    pub allow: Vec<String>,
    pub ask: Vec<String>,
    pub deny: Vec<String>,
}

/// What the rules say of a call, and the rule that says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ruling {
    Allow(String),
    Ask(String),
    Deny(String),
    None,
}

/// What begins another command, runs one inside, or sends output elsewhere.
const SHELL: [char; 11] = [';', '|', '&', '\n', '\r', '`', '$', '<', '>', '(', ')'];

impl Rules {
    /// `deny` before `ask` before `allow`, however exact a rule is.
    #[must_use]
    pub fn ruling(&self, call: &Call<'_>) -> Ruling {
        let find = |rules: &[String], fits: fn(&str, &Call<'_>) -> bool| rules.iter().find(|r| fits(r, call)).cloned();
        if let Some(rule) = find(&self.deny, touches) {
            return Ruling::Deny(rule);
        }
        if let Some(rule) = find(&self.ask, touches) {
            return Ruling::Ask(rule);
        }
        find(&self.allow, covers).map_or(Ruling::None, Ruling::Allow)
    }

    /// Somebody said yes for good: to this tool, on exactly this.
    pub fn allow_always(&mut self, tool: &str, subject: &str) {
        let rule = if subject.is_empty() { tool.to_owned() } else { format!("{tool}({})", escaped(subject)) };
        if !self.allow.contains(&rule) {
            self.allow.push(rule);
        }
    }

    /// Adds another set; what is forbidden in one stays forbidden.
    pub fn extend(&mut self, other: Self) {
        self.allow.extend(other.allow);
        self.ask.extend(other.ask);
        self.deny.extend(other.deny);
    }

    /// Checks how a rule is written.
    ///
    /// # Errors
    /// What is wrong with it; reads after the rule.
    pub fn check(rule: &str) -> Result<(), String> {
        let (tool, pattern) = parts(rule).ok_or("is not `Tool` or `Tool(pattern)`")?;
        for glob in [Some(tool), pattern].into_iter().flatten() {
            GlobBuilder::new(glob).build().map_err(|e| format!("has a pattern that cannot be read: {}", e.kind()))?;
        }
        Ok(())
    }
}

/// The tool and the pattern of a rule.
fn parts(rule: &str) -> Option<(&str, Option<&str>)> {
    let rule = rule.trim();
    match rule.split_once('(') {
        None if rule.is_empty() => None,
        None => Some((rule, None)),
        Some((tool, rest)) => Some((tool.trim(), Some(rest.strip_suffix(')')?))).filter(|(tool, _)| !tool.is_empty()),
    }
}

/// For what forbids: of a command line one command in it is enough.
fn touches(rule: &str, call: &Call<'_>) -> bool {
    let Some((tool, pattern)) = parts(rule).filter(|(tool, _)| fits(tool, call.tool, false)) else { return false };
    let Some(pattern) = pattern else { return !tool.is_empty() };
    let paths = are_paths(call.kind);
    fits(pattern, call.subject, paths)
        || (call.kind == Kind::Execute && call.subject.split(SHELL).any(|part| fits(pattern, part.trim(), paths)))
}

/// For what allows: a command line must be one plain command, since `git *` does not mean `git x; rm y`.
fn covers(rule: &str, call: &Call<'_>) -> bool {
    let Some((tool, pattern)) = parts(rule).filter(|(tool, _)| fits(tool, call.tool, false)) else { return false };
    let Some(pattern) = pattern else { return !tool.is_empty() };
    let plain = call.kind != Kind::Execute || !call.subject.contains(SHELL);
    pattern == "*"
        || pattern == escaped(call.subject)
        || (plain && !call.subject.is_empty() && fits(pattern, call.subject, are_paths(call.kind)))
}

fn are_paths(kind: Kind) -> bool {
    matches!(kind, Kind::Read | Kind::Edit | Kind::Search)
}

fn fits(pattern: &str, text: &str, paths: bool) -> bool {
    let mut glob = GlobBuilder::new(pattern);
    glob.literal_separator(paths).backslash_escape(true);
    glob.build().is_ok_and(|glob| glob.compile_matcher().is_match(text))
}

/// A pattern that fits this text alone.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '*' | '?' | '[' | ']' | '{' | '}' | '\\' | '!') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}
