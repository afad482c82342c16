//! The generated reference: `docs/cli.md`, manual pages, completions. All from the one command tree.

use std::fmt::Write as _;

use clap::{Args as _, Command, CommandFactory};

use super::args::{Cli, Globals};
use super::error::{CommandError, ErrorKind, ResultExt};

/// What `--json` prints, by verb.
const SHAPES: &str = include_str!("shapes.txt");

/// The command tree, built through.
#[must_use]
pub fn command() -> Command {
    let mut command = Cli::command();
    command.build();
    command
}

/// Completions for one shell.
#[must_use]
pub fn completions(shell: clap_complete::Shell) -> String {
    // The generators offer hidden verbs too: they get a tree without them.
    let mut tree = Globals::augment_args(Command::new("crewmux").version(env!("CARGO_PKG_VERSION")))
        .disable_help_subcommand(true)
        .subcommands(verbs(&Cli::command()).cloned());
    let mut out = Vec::new();
    clap_complete::generate(shell, &mut tree, "crewmux", &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

/// File names and texts of the manual pages; the main one first.
pub fn man_pages() -> Result<Vec<(String, String)>, CommandError> {
    let mut pages = Vec::new();
    collect_pages(&command(), "crewmux", &mut pages)?;
    Ok(pages)
}

fn collect_pages(command: &Command, name: &str, pages: &mut Vec<(String, String)>) -> Result<(), CommandError> {
    // A built tree carries the whole path as `display_name`, which is what the page's heading shows.
    let page =
        clap_mangen::Man::new(command.clone()).source(concat!("crewmux ", env!("CARGO_PKG_VERSION"))).manual("crewmux");
    let mut out = Vec::new();
    page.render(&mut out).or_fail(ErrorKind::Failed, || format!("cannot write the page of {name}"))?;
    pages.push((format!("{name}.1"), String::from_utf8_lossy(&out).into_owned()));
    for verb in verbs(command) {
        collect_pages(verb, &format!("{name}-{}", verb.get_name()), pages)?;
    }
    Ok(())
}

fn verbs(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|verb| !verb.is_hide_set() && verb.get_name() != "help")
}

/// The text of `docs/cli.md`.
#[must_use]
pub fn markdown() -> String {
    let command = command();
    let mut out = String::from("# The command line\n\n");
    out += "<!-- Generated from the program's own help. Refresh: UPDATE_DOCS=1 cargo test docs_are_fresh -->\n\n";
    let _ = writeln!(out, "{}\n", about(&command));
    out += "| verb | does |\n| --- | --- |\n";
    for verb in verbs(&command) {
        let does = verb.get_about().map(ToString::to_string).unwrap_or_default();
        let _ = writeln!(out, "| [`{0}`](#crewmux-{0}) | {1} |", verb.get_name(), cell(&does));
    }
    out += "\n## Every verb takes\n\n";
    out += &options(&command, Some("Global options"));
    out += "\n## Exit codes\n\n| code | means |\n| --- | --- |\n";
    let codes = command.get_after_long_help().map(ToString::to_string).unwrap_or_default();
    for line in codes.lines().skip(1) {
        if let Some((code, means)) = line.trim().split_once(' ') {
            let _ = writeln!(out, "| {code} | {} |", cell(means.trim()));
        }
    }
    out += "\n## Machine-readable output\n\n";
    out += "With `--json`: one object, except where said; fields may be added, never renamed. ";
    out += "Times are RFC 3339 UTC.\n\n| verb | shape |\n| --- | --- |\n";
    for (verb, shape) in SHAPES.lines().filter_map(|line| line.split_once(": ")) {
        let _ = writeln!(out, "| {verb} | {} |", cell(shape));
    }
    out.push('\n');
    for verb in verbs(&command) {
        verb_section(verb, "crewmux", 2, &mut out);
    }
    out.truncate(out.trim_end().len());
    out + "\n"
}

fn verb_section(command: &Command, parent: &str, depth: usize, out: &mut String) {
    let path = format!("{parent} {}", command.get_name());
    let _ = writeln!(out, "{} {path}\n\n{}\n", "#".repeat(depth), about(command));
    let usage = command.clone().render_usage().to_string();
    let usage = usage.strip_prefix("Usage: ").unwrap_or(&usage);
    let _ = writeln!(out, "```text\n{usage}\n```\n");
    let options = options(command, None);
    if !options.is_empty() {
        let _ = writeln!(out, "{options}");
    }
    if let Some(help) = command.get_after_help() {
        let help = help.to_string();
        let examples: Vec<&str> = help.lines().skip(1).map(str::trim_start).collect();
        let _ = writeln!(out, "```sh\n{}\n```\n", examples.join("\n"));
    }
    for verb in verbs(command) {
        verb_section(verb, &path, depth + 1, out);
    }
}

/// The long text where there is one. Indented lines are lists that Markdown would run together.
fn about(command: &Command) -> String {
    let text = command.get_long_about().or_else(|| command.get_about()).map(ToString::to_string).unwrap_or_default();
    let (mut out, mut listing) = (String::new(), false);
    for line in text.lines() {
        if line.starts_with("  ") != listing {
            listing = !listing;
            out += if listing { "\n```text\n" } else { "```\n" };
        }
        let _ = writeln!(out, "{}", if listing { line.trim_start() } else { line });
    }
    if listing {
        out += "```\n";
    }
    out.trim_end().to_owned()
}

/// A table of arguments and options; those of one heading, or those without one.
fn options(command: &Command, heading: Option<&str>) -> String {
    let mut rows = String::new();
    for arg in command.get_arguments().filter(|arg| !arg.is_hide_set()) {
        let id = arg.get_id().as_str();
        if arg.get_help_heading() != heading || matches!(id, "help" | "version") {
            continue;
        }
        let mut help = arg.get_help().map(ToString::to_string).unwrap_or_default();
        let words: Vec<String> = arg.get_possible_values().iter().map(|v| format!("`{}`", v.get_name())).collect();
        if arg.get_action().takes_values() && !words.is_empty() {
            let _ = write!(help, " ({})", words.join(", "));
        }
        let default: Vec<String> = arg.get_default_values().iter().map(|v| v.to_string_lossy().into_owned()).collect();
        if arg.get_action().takes_values() && !default.is_empty() {
            let _ = write!(help, "; else {}", default.join(" "));
        }
        let _ = writeln!(rows, "| `{}` | {} |", cell(&arg.to_string()), cell(&help));
    }
    if rows.is_empty() { rows } else { format!("| argument | means |\n| --- | --- |\n{rows}") }
}

/// Text inside a table cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn docs_are_fresh() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/cli.md");
        let fresh = markdown();
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(path, &fresh).unwrap();
        }
        let kept = std::fs::read_to_string(path).unwrap_or_default();
        assert!(kept == fresh, "docs/cli.md is stale; refresh it with `UPDATE_DOCS=1 cargo test docs_are_fresh`");
    }

    #[test]
    fn every_verb_has_a_page_of_its_own() {
        let pages = man_pages().unwrap();
        let names: Vec<&str> = pages.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names[0], "crewmux.1");
        for name in ["crewmux-up.1", "crewmux-task-add.1", "crewmux-plan-submit.1"] {
            assert!(names.contains(&name), "{name} is missing of {names:?}");
        }
        assert!(!names.iter().any(|name| name.contains("teammate") || name.contains("help")), "{names:?}");
        let (_, page) = pages.iter().find(|(name, _)| name == "crewmux-task-add.1").unwrap();
        assert!(page.contains("crewmux task add") || page.contains("crewmux\\-task\\-add"), "{page}");
        assert!(page.contains("Count lines"), "the example is missing: {page}");
    }

    #[test]
    fn completions_know_the_verbs() {
        for shell in [clap_complete::Shell::Bash, clap_complete::Shell::Zsh, clap_complete::Shell::Fish] {
            let text = completions(shell);
            assert!(text.contains("shutdown") && text.contains("plan-mode"), "{shell}");
            assert!(!text.contains("spawn-id"), "{shell} offers what is hidden");
        }
    }

    #[test]
    fn shapes_are_of_verbs_that_exist() {
        let command = command();
        let mut seen = 0;
        for (verbs, _) in SHAPES.lines().filter_map(|line| line.split_once(": ")) {
            for verb in verbs.split('`').skip(1).step_by(2).filter_map(|words| words.split(' ').next()) {
                assert!(command.find_subcommand(verb).is_some(), "{verb}");
                seen += 1;
            }
        }
        assert!(seen > 10);
    }
}
