//! The documents against the code: what PROTOCOL.md must name, the layers that ARCHITECTURE.md draws, and the
//! README's own team.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::Crew;

/// From the ground up; a room imports only what stands before it.
const ROOMS: [&str; 17] = [
    "model", "decide", "os", "sandbox", "store", "spec", "hook", "act", "tmux", "worktree", "view", "mcp", "agent",
    "teammate", "lead", "launch", "cli",
];
/// Longest file under `src/`, in lines.
const MOST_LINES: usize = 500;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    let path = root().join(path);
    fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Every Rust file below a folder of the project, as a path from its root.
fn sources(folder: &str) -> Vec<String> {
    fn walk(dir: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(dir).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                walk(&path, found);
            } else if path.extension().is_some_and(|e| e == "rs") {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    walk(&root().join(folder), &mut found);
    let mut names: Vec<String> =
        found.iter().filter_map(|p| p.strip_prefix(root()).ok()).map(|p| p.display().to_string()).collect();
    names.sort();
    assert!(!names.is_empty(), "{folder} has no sources");
    names
}

fn is_test(path: &str) -> bool {
    path.split('/').any(|part| part.trim_end_matches(".rs").starts_with("tests")) || path.ends_with("_tests.rs")
}

/// The variants of an enum, in snake case.
fn variants(path: &str, name: &str) -> Vec<String> {
    let text = read(path);
    let begin = text.find(&format!("pub enum {name} {{")).unwrap_or_else(|| panic!("{path} has no enum {name}"));
    let body = &text[begin..][..text[begin..].find("\n}").expect("an end")];
    let found: Vec<String> = body
        .lines()
        .skip(1)
        // A variant stands four spaces in and begins with a capital.
        .filter_map(|line| line.strip_prefix("    ").filter(|l| l.starts_with(|c: char| c.is_ascii_uppercase())))
        .map(|line| snake(line.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default()))
        .collect();
    assert!(found.len() > 2, "{path}: {name} has only {found:?}");
    found
}

fn snake(name: &str) -> String {
    let mut out = String::new();
    for (at, c) in name.char_indices() {
        if c.is_ascii_uppercase() && at > 0 {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}

/// The words that the code makes events of.
fn event_types() -> Vec<String> {
    let mut found = Vec::new();
    for path in sources("src/lead").into_iter().chain(sources("src/decide")).filter(|p| !is_test(p)) {
        let text = read(&path);
        for start in ["EventRecord::team(\"", "EventRecord::of(\"", "=> \"task_", "{ \"task_"] {
            let prefix = start.split('"').nth(1).unwrap_or_default();
            for (at, _) in text.match_indices(start) {
                let rest = &text[at + start.len()..];
                found.push(format!("{prefix}{}", &rest[..rest.find('"').expect("an end")]));
            }
        }
    }
    found.sort();
    found.dedup();
    assert!(found.len() > 30, "too few events were found: {found:?}");
    found
}

#[test]
fn the_protocol_names_every_type_there_is() {
    let page = read("docs/PROTOCOL.md");
    let mut missing = Vec::new();
    let mut must_name = |what: &str, words: Vec<String>| {
        missing
            .extend(words.into_iter().filter(|w| !page.contains(&format!("`{w}`"))).map(|w| format!("{what} `{w}`")));
    };
    must_name("event", event_types());
    must_name("mail", variants("src/model/message.rs", "Body"));
    must_name("verb", variants("src/act/verb.rs", "Verb"));
    must_name("state", variants("src/model/team.rs", "State"));
    must_name("task status", variants("src/model/task.rs", "TaskStatus"));
    must_name("request state", variants("src/model/request.rs", "RequestState"));
    must_name("request kind", variants("src/model/request.rs", "RequestKind"));
    must_name("board event", variants("src/decide/board/record.rs", "TaskEvent"));
    must_name("ledger event", variants("src/decide/ledger.rs", "RequestEvent"));
    assert!(missing.is_empty(), "docs/PROTOCOL.md does not name: {}", missing.join(", "));
}

#[test]
fn a_room_imports_only_what_stands_before_it() {
    let order = ROOMS.map(|room| format!("`{room}`")).join(" < ");
    for page in ["docs/ARCHITECTURE.md", "src/lib.rs"] {
        assert!(read(page).contains(&order), "{page} has another order than {order}");
    }
    let place = |room: &str| ROOMS.iter().position(|r| *r == room);
    let mut wrong = Vec::new();
    for path in sources("src") {
        let Some(room) = path.split('/').nth(1).and_then(place) else { continue };
        for (n, line) in read(&path).lines().enumerate() {
            let code = line.split("//").next().unwrap_or_default();
            for (at, start) in code.match_indices("crate::") {
                let word: String =
                    code[at + start.len()..].chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                if place(&word).is_some_and(|other| other > room) {
                    wrong.push(format!("{path}:{}: `{}` imports `{word}`", n + 1, ROOMS[room]));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "a room imports what stands after it:\n{}", wrong.join("\n"));
}

#[test]
fn no_source_file_is_long() {
    let long: Vec<String> = sources("src")
        .into_iter()
        .filter_map(|path| Some((read(&path).lines().count(), path)).filter(|(lines, _)| *lines > MOST_LINES))
        .map(|(lines, path)| format!("{path}: {lines} lines"))
        .collect();
    assert!(long.is_empty(), "longer than {MOST_LINES} lines: {}", long.join(", "));
}

#[test]
fn every_file_and_verb_that_the_readme_names_is_there() {
    let page = read("README.md");
    for link in page.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
        if !link.contains("://") && !link.starts_with('#') {
            let path = link.split('#').next().unwrap_or_default();
            assert!(root().join(path).exists(), "README.md links to {path}, which is not there");
        }
    }
    let help = read("docs/cli.md");
    for verb in page.split("`crewmux ").skip(1).filter_map(|rest| rest.split([' ', '`']).next()) {
        if verb.starts_with(|c: char| c.is_ascii_lowercase()) {
            assert!(
                help.contains(&format!("## crewmux {verb}\n")),
                "README.md names a verb `{verb}` that is not there"
            );
        }
    }
}

#[test]
fn the_readme_s_own_team_runs() {
    let page = read("README.md");
    let after = page.split("```toml\n").nth(1).expect("README.md shows a team");
    let spec = after.split("```").next().expect("the team ends");
    let crew = Crew::new();
    crew.write("teams/mine.toml", spec);
    let ran = crew.run(&["run", "mine", "--json"]);
    assert_eq!(ran.code, 0, "{ran:#?}\n{}", crew.trouble());
    let view: serde_json::Value = serde_json::from_str(&ran.out).expect("json");
    assert_eq!(view["ok"], true, "{view}");
    assert!(view["tasks"]["completed"].as_u64() > Some(1), "{view}");
}
