//! One snapshot a mistake: exactly what a person sees.

use super::Project;
use crate::spec::load;

fn snapshot(name: &str, text: &str) {
    let project = Project::new();
    let error = project.parse(text).expect_err(name);
    assert_eq!(error.exit_code(), 2);
    assert!(!error.to_string().contains('\n'), "{error}");
    insta::assert_snapshot!(name, project.shown(&error));
}

macro_rules! mistakes {
    ($($name:ident: $text:expr;)*) => {
        $(#[test] fn $name() { snapshot(stringify!($name), $text); })*
    };
}

mistakes! {
    unknown_key_at_the_top: "name = \"t\"\ndescripton = \"x\"\n";
    unknown_key_of_a_member: "name = \"t\"\n[[member]]\nname = \"a\"\nengin = \"worker\"\n";
    unknown_key_of_a_task: "name = \"t\"\n[[task]]\nsubject = \"s\"\nblockedby = []\n";
    unknown_key_of_the_lead: "name = \"t\"\n[lead]\nplan = \"ask\"\n";
    unknown_key_of_the_defaults: "name = \"t\"\n[defaults]\nrestrat = \"never\"\n";
    unknown_key_unlike_any: "name = \"t\"\n[layout]\nxyzzy = 1\n";
    key_in_the_wrong_table: "name = \"t\"\nmax_members = 3\n";
    wrong_type_of_a_string: "name = \"t\"\ndescription = 3\n";
    wrong_type_of_a_flag: "name = \"t\"\n[[member]]\nname = \"a\"\nclean_env = \"yes\"\n";
    wrong_type_of_a_number: "name = \"t\"\n[limits]\nmax_members = \"16\"\n";
    wrong_type_of_a_list: "name = \"t\"\n[[member]]\nname = \"a\"\nengine = \"command\"\ncommand = \"./bin/run --now\"\n";
    wrong_type_in_a_list: "name = \"t\"\n[[member]]\nname = \"a\"\ncapabilities = [\"rust\", 2]\n";
    wrong_type_of_the_members: "name = \"t\"\n[member]\nname = \"a\"\n";
    wrong_type_of_env: "name = \"t\"\n[[member]]\nname = \"a\"\nenv = { LEVEL = 3 }\n";
    number_out_of_range: "name = \"t\"\n[limits]\nmax_members = 0\nclaims_per_member = -1\n";
    bad_length_of_time: "name = \"t\"\n[[task]]\nsubject = \"s\"\ntimeout = \"5 parsecs\"\n";
    bad_word: "name = \"t\"\n[[member]]\nname = \"a\"\nrestart = \"on-failur\"\n";
    bad_word_unlike_any: "name = \"t\"\n[lead]\nplans = \"maybe\"\n";
    bad_name_of_the_team: "name = \"../x\"\n";
    bad_name_of_a_member: "name = \"t\"\n[[member]]\nname = \"a b\"\n";
    reserved_name: "name = \"t\"\n[[member]]\nname = \"operator\"\n";
    invisible_character_in_a_name: "name = \"t\"\n[[member]]\nname = \"a\u{202e}b\"\n";
    no_name_of_the_team: "description = \"x\"\n";
    no_name_of_a_member: "name = \"t\"\n[[member]]\nengine = \"worker\"\n";
    no_subject: "name = \"t\"\n[[task]]\nkey = \"k\"\n";
    default_of_a_name: "name = \"t\"\n[defaults]\nname = \"a\"\n";
    two_members_of_one_name: "name = \"t\"\n[[member]]\nname = \"a\"\n[[member]]\nname = \"b\"\n[[member]]\nname = \"a\"\n";
    two_tasks_of_one_key: "name = \"t\"\n[[task]]\nkey = \"k\"\nsubject = \"1\"\n[[task]]\nkey = \"k\"\nsubject = \"2\"\n";
    unknown_blocker: "name = \"t\"\n[[task]]\nkey = \"count\"\nsubject = \"1\"\n[[task]]\nkey = \"k\"\nsubject = \"2\"\nblocked_by = [\"cuont\"]\n";
    cycle: "name = \"t\"\n[[task]]\nkey = \"a\"\nsubject = \"1\"\nblocked_by = [\"c\"]\n[[task]]\nkey = \"b\"\nsubject = \"2\"\nblocked_by = [\"a\", \"free\"]\n[[task]]\nkey = \"c\"\nsubject = \"3\"\nblocked_by = [\"b\"]\n[[task]]\nkey = \"free\"\nsubject = \"4\"\n";
    cycle_of_one: "name = \"t\"\n[[task]]\nkey = \"a\"\nsubject = \"1\"\nblocked_by = [\"a\"]\n";
    owner_that_is_no_member: "name = \"t\"\n[[member]]\nname = \"scan\"\n[[task]]\nsubject = \"s\"\nowner = \"scna\"\n";
    command_engine_without_a_command: "name = \"t\"\n[[member]]\nname = \"a\"\nengine = \"command\"\n";
    empty_command: "name = \"t\"\n[[member]]\nname = \"a\"\nengine = \"command\"\ncommand = []\n";
    empty_program: "name = \"t\"\n[[task]]\nsubject = \"s\"\nrun = [\"\", \"x\"]\n";
    missing_program: "name = \"t\"\n[[member]]\nname = \"a\"\nengine = \"command\"\ncommand = [\"./bin/rnu\", \"x\"]\n";
    program_that_is_not_executable: "name = \"t\"\n[[member]]\nname = \"a\"\nengine = \"command\"\ncommand = [\"bin/data\"]\n";
    program_that_is_a_folder: "name = \"t\"\n[[task]]\nsubject = \"s\"\nrun = [\"./bin\"]\n";
    program_not_on_path: "name = \"t\"\n[[task]]\nsubject = \"s\"\nrun = [\"no-such-program\"]\n";
    program_with_its_arguments_in_one: "name = \"t\"\n[[task]]\nsubject = \"s\"\nrun = [\"run --fast\"]\n";
    missing_execute: "name = \"t\"\n[[member]]\nname = \"a\"\nengine = \"command\"\ncommand = [\"run\"]\nexecute = [\"./go\"]\n";
    missing_cwd: "name = \"t\"\n[[member]]\nname = \"a\"\ncwd = \"src\"\n";
    cwd_that_is_a_file: "name = \"t\"\n[[member]]\nname = \"a\"\ncwd = \"bin/run\"\n";
    worker_in_plan_mode: "name = \"t\"\n[defaults]\nplan_mode_required = true\n[[member]]\nname = \"a\"\n";
    worker_with_a_program: "name = \"t\"\n[[member]]\nname = \"a\"\nengine = \"worker\"\ncommand = [\"run\"]\ndeliver = \"stdin\"\n";
    newer_version: "v = 2\nname = \"t\"\nfuture = true\n";
    version_of_another_type: "v = \"1\"\nname = \"t\"\n";
    too_many_members: "name = \"t\"\n[limits]\nmax_members = 1\n[[member]]\nname = \"a\"\n[[member]]\nname = \"b\"\n[[member]]\nname = \"c\"\n";
    bad_color: "name = \"t\"\n[[member]]\nname = \"a\"\ncolor = \"mauve\"\n";
    an_agent_that_is_not_named: "name = \"t\"\n[[member]]\nname = \"a\"\nengine = \"acp\"\n";
    bad_leader: "name = \"t\"\n[lead]\nengine = \"acp\"\nreserved = [\"plans\", \"all\"]\nisolation = \"none\"\n[[member]]\nname = \"chief\"\n";
    reserved_without_a_leader: "name = \"t\"\n[lead]\nengine = \"lead\"\nreserved = [\"plans\"]\n";
    bad_agents: "name = \"t\"\n[permissions]\nallow = [\"Bash(x\"]\n[[member]]\nname = \"a\"\nengine = \"acp\"\ncommand = [\"run\"]\ndeliver = \"stdin\"\n[[member.mcp]]\nname = \"crewmux\"\ncommand = [\"run\"]\n[[member]]\nname = \"b\"\nengine = \"command\"\ncommand = [\"run\"]\nmode = \"plan\"\nload = \"now\"\n";
    bad_confinement: "name = \"t\"\n[defaults]\nnetwork = \"off\"\n[[member]]\nname = \"a\"\nengine = \"command\"\ncommand = [\"run\"]\n[[member]]\nname = \"b\"\nsandbox = \"readonly\"\nunix_sockets = true\nsandbox_fallback = \"refuse\"\nstate_dirs = [\"nowhere\", \"~else/x\"]\n";
    unknown_variable: "name = \"t\"\n[vars]\nout = \"x\"\n[[task]]\nsubject = \"write ${oout} now\"\n";
    open_variable: "name = \"t\"\ndescription = \"${cwd\"\n";
    variable_of_a_builtin_name: "name = \"t\"\n[vars]\ncwd = \"x\"\n";
    variable_of_another_type: "name = \"t\"\n[vars]\nn = 3\n[[task]]\nsubject = \"${n}\"\n";
    variable_used_before_it_is_declared: "name = \"t\"\n[vars]\na = \"${b}\"\nb = \"x\"\n";
    metadata_that_json_cannot_hold: "name = \"t\"\n[[task]]\nsubject = \"s\"\nmetadata = { x = nan }\n";
    nul_in_an_argument: "name = \"t\"\n[[task]]\nsubject = \"s\"\nrun = [\"run\", \"a\\u0000b\"]\n";
    bad_env_name: "name = \"t\"\n[[member]]\nname = \"a\"\nenv = { \"A=B\" = \"x\" }\npass_env = [\"\"]\n";
    syntax: "name = \"t\"\n[[member]\nname = \"a\"\n";
    syntax_of_a_value: "name = \"t\"\ndescription = maybe\n";
    key_twice: "name = \"t\"\nname = \"u\"\n";
    several_at_once: "nmae = \"t\"\n[[member]]\nname = \"a\"\nrestart = 3\ncolour = \"red\"\n";
}

#[test]
fn set_of_an_unknown_variable() {
    let mut project = Project::new();
    project.options.set = vec![("outt".to_owned(), "x".to_owned()), ("cwd".to_owned(), "x".to_owned())];
    let error = project.parse("name = \"t\"\n[vars]\nout = \"a\"\nmode = \"b\"\n").unwrap_err();
    insta::assert_snapshot!(project.shown(&error));
}

#[test]
fn team_cwd_that_does_not_exist() {
    let mut project = Project::new();
    project.options.cwd = Some("nowhere".into());
    let error = project.parse("name = \"t\"\n").unwrap_err();
    insta::assert_snapshot!(project.shown(&error));
}

#[test]
fn not_utf8() {
    let project = Project::new();
    std::fs::write(project.path("latin.toml"), b"name = \"t\"\ndescription = \"caf\xe9\"\n").unwrap();
    let error = load("latin.toml".as_ref(), &project.options).unwrap_err();
    insta::assert_snapshot!(project.shown(&error));
}

#[test]
fn too_big() {
    let project = Project::new();
    std::fs::write(project.path("big.toml"), vec![b'#'; 2 << 20]).unwrap();
    let error = load("big.toml".as_ref(), &project.options).unwrap_err();
    insta::assert_snapshot!(project.shown(&error));
}

#[test]
fn a_folder_is_no_spec() {
    let project = Project::new();
    let error = load("sub".as_ref(), &project.options).unwrap_err();
    insta::assert_snapshot!(project.shown(&error));
}

#[test]
fn colour_only_when_asked() {
    let error = Project::new().parse("nmae = 1\n").unwrap_err();
    assert!(error.render(true, 80).contains('\u{1b}'));
    assert!(!error.render(false, 80).contains('\u{1b}'));
}

#[test]
fn lines_name_the_place() {
    let error = Project::new().parse("name = \"t\"\n[[member]]\nname = \"é\"\nengin = \"x\"\n").unwrap_err();
    assert_eq!(error.lines(), ["team.toml:4:1: unknown key `engin` in `[[member]]`"]);
    assert_eq!(error.hints(), ["did you mean `engine`?"]);
}

#[test]
fn a_mistake_of_the_defaults_is_told_once() {
    let error = Project::new()
        .parse("name = \"t\"\n[defaults]\nrestart = \"x\"\n[[member]]\nname = \"a\"\n[[member]]\nname = \"b\"\n")
        .unwrap_err();
    assert_eq!(error.mistakes().len(), 1);
}

#[test]
fn a_long_line_does_not_bury_the_message() {
    let text = format!("name = \"t\"\ndescripton = \"{}\"\n", "x".repeat(100_000));
    let shown = Project::new().parse(&text).unwrap_err().render(false, 80);
    assert!(shown.contains("team.toml:2:1") && shown.len() < 500, "{shown}");
}

#[test]
fn hundreds_of_mistakes_are_cut() {
    let text = (0..300).map(|i| format!("key{i} = 1\n")).collect::<String>();
    let error = Project::new().parse(&text).unwrap_err();
    assert!(error.render(false, 80).ends_with("301 mistakes in team.toml; the first 20 are shown\n"));
}
