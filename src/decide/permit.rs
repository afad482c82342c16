//! Whether the rules of a spec answer a tool call by themselves.
//!
//! `deny` wins over `ask`, `ask` over `allow`, however exact a rule is; without one that fits, the mode decides, or somebody
//! is asked.

use globset::GlobBuilder;

use crate::model::agent::Rules;

/// A tool call, as the rules see it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Call {
    /// All names that the tool goes by: its kind, its own name.
    pub names: Vec<String>,
    /// What it acts on: a command line, paths, an address.
    pub subjects: Vec<String>,
    pub acts_on: ActsOn,
}

/// What the subjects of a call are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ActsOn {
    /// A shell's command line.
    Command,
    /// Paths; those in the member's folder are relative to it.
    Paths,
    #[default]
    Other,
}

/// What the rules say, and which of them said it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ruling {
    Allow(String),
    Ask(String),
    Deny(String),
    /// No rule fits.
    None,
}

/// What begins another command, runs one inside, or sends output elsewhere.
const SHELL: [char; 11] = [';', '|', '&', '\n', '\r', '`', '$', '<', '>', '(', ')'];

#[must_use]
pub fn ruling(rules: &Rules, call: &Call) -> Ruling {
    if let Some(rule) = rules.deny.iter().find(|rule| denies(rule, call)) {
        return Ruling::Deny(rule.clone());
    }
    if let Some(rule) = rules.ask.iter().find(|rule| denies(rule, call)) {
        return Ruling::Ask(rule.clone());
    }
    rules.allow.iter().find(|rule| allows(rule, call)).cloned().map_or(Ruling::None, Ruling::Allow)
}

/// What is wrong with a rule as it is written.
///
/// # Errors
/// A text that reads after the rule.
pub fn check(rule: &str) -> Result<(), String> {
    let (tool, pattern) = parts(rule).ok_or("is not `Tool` or `Tool(pattern)`")?;
    for glob in [Some(tool), pattern].into_iter().flatten() {
        GlobBuilder::new(glob).build().map_err(|e| format!("has a pattern that cannot be read: {}", e.kind()))?;
    }
    Ok(())
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

/// One subject is enough, and of a command line one command in it.
fn denies(rule: &str, call: &Call) -> bool {
    let Some((tool, pattern)) = parts(rule) else { return false };
    if !names(tool, call) {
        return false;
    }
    let Some(pattern) = pattern else { return true };
    call.subjects.iter().any(|subject| {
        let commands = subject.split(SHELL).map(str::trim);
        fits(pattern, subject, call.acts_on)
            || (call.acts_on == ActsOn::Command && commands.into_iter().any(|c| fits(pattern, c, call.acts_on)))
    })
}

/// Every subject must fit, and a command line must be one command: `git *` does not allow `git x; rm y`.
fn allows(rule: &str, call: &Call) -> bool {
    let Some((tool, pattern)) = parts(rule) else { return false };
    if !names(tool, call) {
        return false;
    }
    let Some(pattern) = pattern else { return true };
    let plain = |subject: &String| call.acts_on != ActsOn::Command || !subject.contains(SHELL);
    let fit = |s: &String| pattern == escaped(s) || (plain(s) && fits(pattern, s, call.acts_on));
    pattern == "*" || (!call.subjects.is_empty() && call.subjects.iter().all(fit))
}

fn names(tool: &str, call: &Call) -> bool {
    call.names.iter().any(|name| fits(&tool.to_lowercase(), &name.to_lowercase(), ActsOn::Other))
}

/// A pattern that fits this text alone.
#[must_use]
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '*' | '?' | '[' | ']' | '{' | '}' | '\\' | '!') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

fn fits(pattern: &str, text: &str, acts_on: ActsOn) -> bool {
    let mut glob = GlobBuilder::new(pattern);
    glob.literal_separator(acts_on == ActsOn::Paths).backslash_escape(true);
    glob.build().is_ok_and(|glob| glob.compile_matcher().is_match(text))
}

/// A path without `.` and `..`, relative to `cwd` where it lies in it. By its words alone: where a link leads is the
/// sandbox's business.
#[must_use]
pub fn path_subject(path: &str, cwd: &str) -> String {
    let full = if path.starts_with('/') { path.to_owned() } else { format!("{cwd}/{path}") };
    let clean = clean(&full);
    let cwd = self::clean(cwd);
    match clean.strip_prefix(&cwd).and_then(|rest| rest.strip_prefix('/')) {
        Some(inside) => inside.to_owned(),
        None if clean == cwd => ".".to_owned(),
        None => clean,
    }
}

fn clean(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(allow: &[&str], ask: &[&str], deny: &[&str]) -> Rules {
        let list = |rules: &[&str]| rules.iter().map(|r| (*r).to_owned()).collect();
        Rules { allow: list(allow), ask: list(ask), deny: list(deny), expires: None }
    }

    fn command(line: &str) -> Call {
        Call {
            names: vec!["execute".to_owned(), "Bash".to_owned()],
            subjects: vec![line.to_owned()],
            acts_on: ActsOn::Command,
        }
    }

    fn edit(paths: &[&str]) -> Call {
        let subjects = paths.iter().map(|p| path_subject(p, "/home/me/repo")).collect();
        Call { names: vec!["edit".to_owned()], subjects, acts_on: ActsOn::Paths }
    }

    #[test]
    fn one_allowed_command_allows_no_other_behind_it() {
        let rules = rules(&["Bash(git *)", "execute(ls)"], &[], &[]);
        assert!(matches!(ruling(&rules, &command("git status")), Ruling::Allow(_)));
        assert!(matches!(ruling(&rules, &command("ls")), Ruling::Allow(_)));
        for line in [
            "git status; rm -rf /",
            "git log | sh",
            "git x && y",
            "git $(rm x)",
            "git x\nrm y",
            "git x > /etc/y",
            "rm x",
        ] {
            assert_eq!(ruling(&rules, &command(line)), Ruling::None, "{line}");
        }
    }

    #[test]
    fn deny_finds_a_command_anywhere_and_wins() {
        let rules = rules(&["*"], &["execute(git push*)"], &["bash(rm *)", "fetch"]);
        assert!(matches!(ruling(&rules, &command("ls; rm x")), Ruling::Deny(_)));
        assert!(matches!(ruling(&rules, &command("$(rm x)")), Ruling::Deny(_)));
        assert_eq!(ruling(&rules, &command("git push origin")), Ruling::Ask("execute(git push*)".to_owned()));
        assert!(matches!(ruling(&rules, &command("cargo test")), Ruling::Allow(_)));
        let fetch = Call { names: vec!["fetch".to_owned()], ..Call::default() };
        assert_eq!(ruling(&rules, &fetch), Ruling::Deny("fetch".to_owned()));
    }

    #[test]
    fn paths_are_taken_by_where_they_lead() {
        let rules = rules(&["edit(src/**)"], &[], &["edit(**/secret*)"]);
        assert!(matches!(ruling(&rules, &edit(&["/home/me/repo/src/a/b.rs"])), Ruling::Allow(_)));
        assert_eq!(ruling(&rules, &edit(&["/home/me/repo/src/../../etc/passwd"])), Ruling::None);
        assert_eq!(ruling(&rules, &edit(&["src/a.rs", "/etc/passwd"])), Ruling::None);
        assert!(matches!(ruling(&rules, &edit(&["src/a.rs", "src/secret.rs"])), Ruling::Deny(_)));
        assert_eq!(ruling(&rules, &edit(&[])), Ruling::None);
        assert_eq!(path_subject("/home/me/repo", "/home/me/repo/"), ".");
    }

    #[test]
    fn a_rule_that_cannot_be_read_is_refused_and_fits_nothing() {
        for bad in ["", "Bash(x", "(x)", "Bash([)"] {
            assert!(check(bad).is_err(), "{bad}");
        }
        for good in ["Bash", "Bash(git *)", "mcp__*", "edit(a(b))"] {
            assert_eq!(check(good), Ok(()), "{good}");
        }
        assert_eq!(ruling(&rules(&["Bash(x"], &[], &[]), &command("x")), Ruling::None);
    }
}
