use std::path::Path;

use super::*;
use crate::agent::filter::tools_for;

fn read(text: &str, foreign: bool) -> Result<Definition, Vec<String>> {
    parse(text, Path::new("a.md"), foreign).map_err(|e| e.lines())
}

/// A file with these keys in its front matter.
fn with(keys: &str) -> String {
    format!("---\nname: looker\ndescription: looks\n{keys}---\nLook.\n")
}

fn fails(text: &str, expected: &[&str]) {
    assert_eq!(read(text, false).unwrap_err(), expected, "{text}");
}

#[test]
fn the_table_of_what_is_built_in() {
    let rows: Vec<String> = built_in()
        .iter()
        .chain([&fork_definition()])
        .map(|d| {
            let mode = d.permission_mode.map_or("-", Mode::as_str);
            format!("{} | {} | {} | {} | {mode}", d.name, d.tools_text(), d.max_turns, d.model.as_str())
        })
        .collect();
    insta::assert_snapshot!(rows.join("\n"), @"
    general-purpose | all | 50 | inherit | bubble
    Explore | Glob, Grep, Read, Bash | 25 | small | read-only
    Plan | Glob, Grep, Read, Bash | 50 | inherit | read-only
    verification | all but Edit, Write, NotebookEdit, Agent, ExitPlanMode | 50 | inherit | read-only
    worker | Read, Write, Edit, NotebookEdit, Glob, Grep, Bash, WebFetch, WebSearch, TodoWrite, Skill, ToolSearch, StructuredOutput, EnterWorktree, ExitWorktree | 50 | inherit | accept_edits
    fork | all | 200 | inherit | bubble
    ");
}

#[test]
fn what_is_built_in_has_the_tools_it_says() {
    let all = ["Bash", "Read", "Write", "Edit", "Glob", "Grep", "Agent", "AskUser", "SendMessage", "ExitPlanMode"];
    let library = Library::built_in();
    let got = |name: &str| tools_for(&library.get(name).unwrap().role(true), &all).join(" ");
    assert_eq!(got("Explore"), "Bash Read Glob Grep");
    assert_eq!(got("worker"), "Bash Read Write Edit Glob Grep");
    assert_eq!(got("verification"), "Bash Read Glob Grep");
    assert_eq!(library.get("verification").unwrap().writes, Writes::OwnTmp);
    assert!(library.get(FORK).is_none(), "a fork is not named");
}

#[test]
fn the_verifier_s_prompt_names_its_excuses_and_the_forms_that_are_parsed() {
    let prompt = Library::built_in().get(VERIFICATION).unwrap().prompt.clone();
    for part in ["Reading is not running", "first 80 %", "only what should work", "run the check", "VERDICT: PARTIAL"] {
        assert!(prompt.contains(part), "{part}");
    }
    for kind in crate::agent::spawn::verdict::PROBES {
        assert!(prompt.contains(kind), "{kind}");
    }
}

#[test]
fn a_whole_file_is_read() {
    let text = "---\nname: looker\ndescription: \"looks: hard\"\ntools: Read, Grep , Task\ndisallowed_tools: [Bash, mcp__x]\n\
                model: opus\npermission_mode: read-only\nmax_turns: 7\nisolation: worktree\nbackground: true\n\
                required_mcp_servers:\n  - github\ncolor: blue\n---\n\nLook.\nLonger.\n";
    let read = read(text, false).unwrap();
    assert_eq!((read.name.as_str(), read.description.as_str()), ("looker", "looks: hard"));
    assert_eq!(read.tools.as_deref(), Some(&["Read".to_owned(), "Grep".to_owned(), "Agent".to_owned()][..]));
    assert_eq!(read.disallowed_tools, ["Bash", "mcp__x"]);
    assert_eq!((read.model, read.permission_mode), (Model::Large, Some(Mode::ReadOnly)));
    assert_eq!((read.max_turns, read.isolation, read.background), (7, Isolation::Worktree, true));
    assert_eq!(read.required_mcp_servers, ["github"]);
    assert_eq!((read.color.as_deref(), read.prompt.as_str()), (Some("blue"), "Look.\nLonger."));
    assert_eq!(read.source, Source::File("a.md".into()));
}

#[test]
fn what_is_not_said_has_its_default() {
    let plain = read(&with(""), false).unwrap();
    assert_eq!((plain.tools, plain.max_turns, plain.background), (None, TURNS, false));
    assert_eq!((plain.model, plain.permission_mode), (Model::Inherit, None));
    assert_eq!(read(&with("tools: '*'\n"), false).unwrap().tools, None);
}

#[test]
fn files_of_other_agents_are_read_as_they_are() {
    let text = "---\nname: looker\ndescription: Use it when: a) it rains # b) <example>x: y</example>\\nMore\n\
                permissionMode: acceptEdits\nmaxTurns: 3\ndisallowedTools: Bash\nhooks:\n  x: [1]\nmodel: claude-x-1\n---\nLook.\n";
    let read = read(text, true).unwrap();
    assert_eq!(read.description, "Use it when: a) it rains # b) <example>x: y</example>\nMore");
    assert_eq!((read.max_turns, read.permission_mode), (3, Some(Mode::AcceptEdits)));
    assert_eq!(read.model, Model::Exact("claude-x-1".into()));
    assert_eq!(read.ignored, ["hooks"]);
}

#[test]
fn every_mistake_is_told_at_its_place() {
    fails("Look.\n", &["a.md:1:1: a definition begins with front matter"]);
    fails("", &["a.md:1:1: a definition begins with front matter"]);
    fails("---\nname: x\n", &["a.md:1:1: the front matter has no end"]);
    fails(
        "---\n---\nLook.\n",
        &["a.md:1:1: the front matter has no `name`", "a.md:1:1: the front matter has no `description`"],
    );
    fails(&with("tool: Read\n"), &["a.md:4:1: there is no key `tool`"]);
    fails(&with("max_turns: many\n"), &["a.md:4:12: `max_turns` is a number from 1 to 10000"]);
    fails(
        &with("max_turns: 0\nisolation: jail\n"),
        &["a.md:4:12: `max_turns` is a number from 1 to 10000", "a.md:5:12: `isolation` is `none` or `worktree`"],
    );
    fails(&with("permission_mode: yolo\n"), &["a.md:4:18: there is no permission mode `yolo`"]);
    fails(&with("background: maybe\n"), &["a.md:4:13: `background` is `true` or `false`"]);
    fails(&with("tools: Bash(git *), Read\n"), &["a.md:4:8: `Bash(git *)` is not the name of a tool"]);
    fails(&with("model:\n"), &["a.md:4:1: `model` has no value"]);
    fails(
        "---\nname: ../x\ndescription: d\n---\nLook.\n",
        &["a.md:2:7: `../x` is not a name: it contains '/'; letters, digits, `-`, `_` and `.` are allowed"],
    );
    fails("---\nname: fork\ndescription: d\n---\nLook.\n", &["a.md:2:7: the name `fork` is taken"]);
    fails("---\nname: x\ndescription: d\n---\n", &["a.md:1:1: the definition has no prompt"]);
}

#[test]
fn places_are_right_behind_letters_of_several_bytes_and_broken_yaml_is_underlined() {
    let text = "---\nname: x\ndescription: größer\ncolor: [blau\n---\nLook.\n";
    let error = parse(text, Path::new("a.md"), false).unwrap_err();
    assert!(error.lines()[0].contains("this is no YAML"), "{:?}", error.lines());
    let text = "---\nname: x\ndescription: größer über\nisolation: x\n---\nLook.\n";
    let error = parse(text, Path::new("a.md"), false).unwrap_err();
    assert_eq!(error.lines(), ["a.md:4:12: `isolation` is `none` or `worktree`"]);
    let shown = error.render(false, 80);
    assert!(shown.contains("isolation: x") && shown.contains("is wanted here"), "{shown}");
}

#[test]
fn the_nearest_of_a_name_wins_and_a_broken_file_hides_none() {
    let dir = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = dir.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    let named = |name: &str, from: &str| format!("---\nname: {name}\ndescription: {from}\n---\nLook.\n");
    write("repo/.git/HEAD", "");
    write("repo/sub/.crewmux/agents/a.md", &named("one", "near"));
    write("repo/.claude/agents/b.md", &named("one", "far"));
    write("repo/.claude/agents/c.md", &named("Explore", "mine"));
    write("repo/.claude/agents/broken.md", "no front matter");
    write("repo/.claude/agents/notes.txt", "");
    write(".crewmux/agents/outside.md", &named("outside", "above the repository"));
    write("config/crewmux/agents/d.md", &named("two", "config"));
    let folders = folders(&dir.path().join("repo/sub"), Some(&dir.path().join("config")));
    let library = Library::load(&folders);
    let seen: Vec<(&str, &str)> = library.usable().map(|d| (d.name.as_str(), d.description.as_str())).take(3).collect();
    assert_eq!(seen, [("one", "near"), ("Explore", "mine"), ("two", "config")]);
    assert!(library.get("outside").is_none());
    assert!(library.get("Explore").unwrap().is_custom());
    assert_eq!(library.broken().len(), 1);
    assert_eq!(library.all().iter().filter(|f| f.hidden).count(), 2, "the far `one` and the built-in Explore");
}

#[test]
fn a_child_is_never_freer_than_its_parent() {
    let of = |mode: Option<Mode>| Definition { permission_mode: mode, ..built_in().remove(0) };
    for (parent, own, expected) in [
        (Mode::Default, None, Mode::AcceptEdits),
        (Mode::Default, Some(Mode::Bubble), Mode::Bubble),
        (Mode::Default, Some(Mode::Bypass), Mode::Bubble),
        (Mode::Default, Some(Mode::Plan), Mode::ReadOnly),
        (Mode::AcceptEdits, Some(Mode::ReadOnly), Mode::ReadOnly),
        (Mode::Bypass, Some(Mode::Bubble), Mode::Bypass),
        (Mode::Bypass, Some(Mode::ReadOnly), Mode::ReadOnly),
        (Mode::ReadOnly, Some(Mode::Bypass), Mode::ReadOnly),
        (Mode::Plan, None, Mode::ReadOnly),
    ] {
        assert_eq!(of(own).mode_under(parent), expected, "{parent:?} {own:?}");
    }
}

proptest::proptest! {
    #[test]
    fn no_text_breaks_the_reader(keys in "\\PC{0,60}|[a-z_:\\n \\[\\]{}&*!|>'\"-]{0,80}", foreign: bool) {
        let _ = read(&with(&format!("{keys}\n")), foreign);
        let _ = read(&keys, foreign);
    }
}
