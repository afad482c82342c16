use proptest::prelude::*;

use super::*;

/// Every tool there is, a plain MCP server's and the team's.
const ALL: [&str; 32] = [
    "Bash",
    "Read",
    "Write",
    "Edit",
    "Glob",
    "Grep",
    "NotebookEdit",
    "TodoWrite",
    "WebFetch",
    "WebSearch",
    "AskUser",
    "Skill",
    "ToolSearch",
    "StructuredOutput",
    "EnterWorktree",
    "ExitWorktree",
    "ExitPlanMode",
    "Agent",
    "Task",
    "TaskStop",
    "TaskOutput",
    "SendMessage",
    "TaskCreate",
    "TaskGet",
    "TaskList",
    "TaskUpdate",
    "TeamCreate",
    "TeamDelete",
    "mcp__github__search",
    "mcp__github__delete",
    "mcp__crewmux__send_message",
    "mcp__",
];

fn sub<'a>(custom: bool, background: bool, only: Option<&'a [String]>, without: &'a [String]) -> Role<'a> {
    Role::Subagent { custom, background, list: List { only, without } }
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

/// `role` gets exactly these of all tools.
fn check(role: &Role<'_>, expected: &str) {
    assert_eq!(tools_for(role, &ALL).join(" "), expected, "{role:?}");
}

#[test]
fn a_coordinator_has_four_tools_and_no_server_s() {
    check(&Role::Coordinator, "StructuredOutput Agent Task TaskStop SendMessage");
}

#[test]
fn a_teammate_has_all_but_making_teams() {
    check(
        &Role::Teammate,
        "Bash Read Write Edit Glob Grep NotebookEdit TodoWrite WebFetch WebSearch AskUser Skill ToolSearch \
         StructuredOutput EnterWorktree ExitWorktree ExitPlanMode Agent Task TaskStop TaskOutput SendMessage TaskCreate \
         TaskGet TaskList TaskUpdate mcp__github__search mcp__github__delete mcp__",
    );
}

#[test]
fn an_agent_of_its_own_has_all_but_the_team_s_server() {
    let expected: Vec<&str> = ALL.into_iter().filter(|name| !name.contains("crewmux")).collect();
    check(&Role::Alone, &expected.join(" "));
}

#[test]
fn a_fork_has_its_parent_s_list_untouched() {
    check(&Role::Fork, &ALL.join(" "));
    assert_eq!(tools_for(&Role::Fork, &["b", "a", "a"]), ["b", "a", "a"]);
}

#[test]
fn a_worker_in_the_foreground() {
    check(
        &sub(false, false, None, &[]),
        "Bash Read Write Edit Glob Grep NotebookEdit TodoWrite WebFetch WebSearch Skill ToolSearch StructuredOutput \
         EnterWorktree ExitWorktree mcp__github__search mcp__github__delete mcp__",
    );
}

#[test]
fn in_the_background_the_allow_list_alone() {
    check(
        &sub(false, true, None, &[]),
        "Bash Read Write Edit Glob Grep NotebookEdit TodoWrite WebFetch WebSearch Skill ToolSearch StructuredOutput \
         EnterWorktree ExitWorktree mcp__github__search mcp__github__delete",
    );
    assert!(!gets(&sub(false, true, None, &[]), "SomethingNew"));
    assert!(gets(&sub(false, false, None, &[]), "SomethingNew"));
}

#[test]
fn a_definition_narrows_and_never_widens() {
    let only = words("Glob Grep Read Bash Agent Task SendMessage TaskCreate TeamCreate AskUser ExitPlanMode");
    for (custom, background) in [(false, false), (true, false), (false, true), (true, true)] {
        check(
            &sub(custom, background, Some(&only), &[]),
            "Bash Read Glob Grep mcp__github__search mcp__github__delete",
        );
    }
    let without = words("Bash mcp__github__delete Task");
    check(&sub(true, true, Some(&only), &without), "Read Glob Grep mcp__github__search");
    check(&sub(true, true, Some(&only), &words("mcp__github")), "Bash Read Glob Grep");
    check(&sub(true, true, Some(&[]), &[]), "mcp__github__search mcp__github__delete");
}

#[test]
fn the_alias_is_the_tool() {
    assert_eq!(canonical("Task"), "Agent");
    assert_eq!(canonical("TaskStop"), "TaskStop");
    assert!(!gets(&sub(false, false, None, &[]), "Task"));
}

#[test]
fn names_of_servers() {
    for (name, server) in [
        ("mcp__a__b", Some("a")),
        ("mcp__a_b__c__d", Some("a_b")),
        ("mcp____b", None),
        ("mcp__a", None),
        ("Bash", None),
        ("xmcp__a__b", None),
    ] {
        assert_eq!(mcp_server(name), server, "{name}");
    }
}

fn any_name() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => proptest::sample::select(ALL.to_vec()).prop_map(str::to_owned),
        1 => "[A-Za-z_]{1,12}",
        1 => "mcp__[a-z]{1,6}__[a-z]{1,6}",
    ]
}

proptest! {
    #[test]
    fn whatever_a_definition_says_a_child_has_no_forbidden_tool(
        all in proptest::collection::vec(any_name(), 0..40),
        only in proptest::option::of(proptest::collection::vec(any_name(), 0..10)),
        without in proptest::collection::vec(any_name(), 0..6),
        custom: bool,
        background: bool,
    ) {
        let names: Vec<&str> = all.iter().map(String::as_str).collect();
        let got = tools_for(&sub(custom, background, only.as_deref(), &without), &names);
        for name in &got {
            prop_assert!(names.contains(name));
            prop_assert!(mcp_server(name) != Some(TEAM_SERVER));
            for bad in NO_SUBAGENT.iter().chain(&MAIN_LOOPS).chain(&TEAMS) {
                prop_assert_ne!(&canonical(name), bad);
            }
            if mcp_server(name).is_none() {
                prop_assert!(!background || BACKGROUND.contains(name));
                prop_assert!(only.as_ref().is_none_or(|only| only.iter().any(|o| canonical(o) == *name)));
            }
            prop_assert!(!without.iter().any(|w| w == name));
        }
        // The order of the list is kept, and nothing comes twice.
        let places: Vec<usize> = got.iter().filter_map(|g| names.iter().position(|n| n == g)).collect();
        prop_assert!(places.windows(2).all(|w| w[0] < w[1]));
        // A child never has what its foreground twin lacks.
        let front = tools_for(&sub(custom, false, only.as_deref(), &without), &names);
        prop_assert!(got.iter().all(|name| front.contains(name)));
    }

    #[test]
    fn every_other_server_s_tools_reach_a_child(server in "[a-z]{1,8}", tool in "[a-z_]{1,8}", custom: bool, background: bool) {
        let name = format!("mcp__{server}__{tool}");
        let role = sub(custom, background, Some(&[]), &[]);
        prop_assert_eq!(gets(&role, &name), server != TEAM_SERVER);
    }
}
