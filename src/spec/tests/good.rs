//! Specs that are right, and what comes out.

use std::time::Duration;

use super::{Project, program};
use crate::model::name::Name;
use crate::model::sandbox::{Fallback, Mode, Network, UnixSockets};
use crate::model::spec::{Deliver, EngineKind, LimitsSpec, OnShutdown, Policy, Restart};
use crate::model::time::Span;
use crate::spec::load;

const FULL: &str = r##"
v = 1
name = "audit"
description = "finds ${what}"
report = "${out}"

[vars]
what = "things"
out = "${repo_parent}/${team}-${what}.md"

[lead]
plans = "approve"
permissions = "reject"
agent_type = "boss"

[limits]
max_members = 4
claims_per_member = 2
queue_depth = 10
sender_depth = 5
queue_mib = 7
blobs_mib = 8
hello = "5s"

[layout]
panes_per_window = 2

[defaults]
restart = "never"
env = { A = "1", B = "2" }
capabilities = ["any"]

[[member]]
name = "scan"
engine = "command"
command = ["./bin/run", "./bin/run", "${what}", "$$HOME", "$HOME"]
deliver = "stdin"
cwd = "sub"
restart = "always"
plan_mode_required = true
execute = ["run", "--go"]
on_shutdown = "ask"
settle = "250ms"
clean_env = true
capabilities = ["rust"]
prompt = "look for ${what}"
env = { B = "3", DIR = "${cwd}" }
pass_env = ["TOKEN"]
color = "#ff8800"
model = "m"
durable = true
isolation = "none"
sandbox = "read-only"
state_dirs = ["~", "~/bin", "sub"]
unix_sockets = "allow"
network = "off"
sandbox_fallback = "off"

[[member]]
name = "work"

[[task]]
key = "merge"
subject = "Merge ${what}"
blocked_by = ["count", "list", "count"]
owner = "work"

[[task]]
key = "count"
subject = "Count"
description = "d"
run = ["bin/run", "src"]
requires = ["rust"]
timeout = "5m"
retries = 2
active_form = "Counting"
metadata = { z = 1, a = ["${what}", true, 1.5], t = 2024-01-01 }

[[task]]
key = "list"
subject = "List"
"##;

#[test]
fn every_key_arrives() {
    let project = Project::new();
    let spec = project.good(FULL);
    let root = project.root();
    assert_eq!(spec.name.as_str(), "audit");
    assert_eq!(spec.cwd, root.to_str().unwrap());
    assert_eq!(spec.description, "finds things");
    assert_eq!(spec.report.as_deref(), root.parent().unwrap().join("audit-things.md").to_str());
    assert_eq!((spec.lead.plans, spec.lead.permissions), (Policy::Approve, Policy::Reject));
    assert_eq!(spec.lead.agent_type.as_deref(), Some("boss"));
    let limits = LimitsSpec {
        max_members: 4,
        claims_per_member: 2,
        queue_depth: 10,
        sender_depth: 5,
        queue_mib: 7,
        blobs_mib: 8,
        hello: Span::secs(5),
        worktree: Span::secs(600),
    };
    assert_eq!(spec.limits, limits);
    assert_eq!(spec.layout.panes_per_window, 2);

    let [scan, work] = spec.members.as_slice() else { panic!("{:?}", spec.members) };
    assert_eq!(scan.engine, EngineKind::Command);
    assert_eq!(scan.command, [&project.path("bin/run"), "./bin/run", "things", "$HOME", "$HOME"]);
    assert_eq!(scan.execute.as_deref(), Some(&["run".to_owned(), "--go".to_owned()][..]));
    assert_eq!((scan.deliver, scan.restart, scan.on_shutdown), (Deliver::Stdin, Restart::Always, OnShutdown::Ask));
    assert_eq!(scan.cwd, project.path("sub"));
    assert_eq!(scan.settle, Span(Duration::from_millis(250)));
    assert!(scan.plan_mode_required && scan.clean_env && scan.durable);
    assert_eq!(scan.capabilities, ["rust"]);
    assert_eq!(scan.prompt.as_deref(), Some("look for things"));
    let env: Vec<_> = scan.env.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
    assert_eq!(env, [("A", "1"), ("B", "3"), ("DIR", root.to_str().unwrap())]);
    assert_eq!(scan.pass_env, ["TOKEN"]);
    assert_eq!((scan.color.as_deref(), scan.model.as_deref()), (Some("#ff8800"), Some("m")));
    assert!(scan.extra.is_empty());
    assert_eq!((scan.sandbox, work.sandbox), (Mode::ReadOnly, Mode::WorkspaceWrite));
    assert_eq!(scan.state_dirs, [root.to_str().unwrap(), &project.path("bin"), &project.path("sub")]);
    assert_eq!((scan.unix_sockets, work.unix_sockets), (UnixSockets::Allow, UnixSockets::Deny));
    assert_eq!((scan.network, work.network), (Network::Off, Network::On));
    assert_eq!((scan.sandbox_fallback, work.sandbox_fallback), (Fallback::Off, Fallback::Refuse));

    assert_eq!((work.engine, work.restart), (EngineKind::Worker, Restart::Never));
    assert_eq!(work.capabilities, ["any"]);
    assert_eq!(work.cwd, spec.cwd);
    assert_eq!(work.color.as_deref(), Some("cyan"));

    let keys: Vec<&str> = spec.tasks.iter().map(|t| t.key.as_str()).collect();
    assert_eq!(keys, ["count", "list", "merge"]);
    let merge = &spec.tasks[2];
    assert_eq!(merge.blocked_by, ["count", "list"]);
    assert_eq!(merge.task.subject, "Merge things");
    assert_eq!(merge.task.owner.as_ref().map(Name::as_str), Some("work"));
    let count = &spec.tasks[0].task;
    assert_eq!(count.run.as_deref(), Some(&[project.path("bin/run"), "src".to_owned()][..]));
    assert_eq!((count.timeout, count.retries), (Some(Span::secs(300)), 2));
    assert_eq!((count.description.as_str(), count.active_form.as_deref()), ("d", Some("Counting")));
    assert_eq!(count.requires, ["rust"]);
    let metadata = serde_json::to_string(&count.metadata).unwrap();
    assert_eq!(metadata, r#"{"z":1,"a":["things",true,1.5],"t":"2024-01-01"}"#);
}

#[test]
fn a_name_is_enough() {
    let spec = Project::new().good("name = \"t\"\n");
    assert!(spec.members.is_empty() && spec.tasks.is_empty() && spec.report.is_none());
    assert_eq!(spec.limits, LimitsSpec::default());
}

#[test]
fn a_byte_order_mark_and_crlf_do_no_harm() {
    let project = Project::new();
    assert_eq!(project.good("\u{feff}name = \"t\"\r\n[[member]]\r\nname = \"a\"\r\n").members.len(), 1);
    let error = project.parse("\u{feff}nmae = \"t\"\r\n").unwrap_err();
    assert!(error.lines().iter().any(|l| l.starts_with("team.toml:1:1: unknown key `nmae`")), "{:?}", error.lines());
}

#[test]
fn the_command_line_has_the_last_word() {
    let mut project = Project::new();
    project.options.name = Some(Name::parse("other").unwrap());
    project.options.cwd = Some("sub".into());
    project.options.set = vec![("out".to_owned(), "a".to_owned()), ("out".to_owned(), "$${x}".to_owned())];
    let spec = project.good(
        "name = \"t\"\nreport = \"${out}\"\ndescription = \"${team} ${cwd}\"\n[vars]\nout = \"x\"\n\
         [[task]]\nsubject = \"s\"\nrun = [\"./bin/run\"]\n",
    );
    let sub = project.path("sub");
    assert_eq!(spec.name.as_str(), "other");
    assert_eq!(spec.description, format!("other {sub}"));
    // A value from the command line is taken as it is.
    assert_eq!(spec.report, Some(format!("{sub}/$${{x}}")));
    // Programs start from the spec's root, wherever the team works.
    assert_eq!(spec.tasks[0].task.run.as_ref().unwrap()[0], project.path("bin/run"));
}

#[test]
fn the_root_of_a_spec_in_teams_is_the_folder_above() {
    let project = Project::new();
    std::fs::create_dir(project.path("teams")).unwrap();
    let text =
        "name = \"t\"\ndescription = \"${root} ${spec_dir}\"\n[[task]]\nsubject = \"s\"\nrun = [\"./bin/run\"]\n";
    std::fs::write(project.path("teams/t.toml"), text).unwrap();
    let spec = load("teams/t.toml".as_ref(), &project.options).unwrap();
    assert_eq!(spec.tasks[0].task.run.as_ref().unwrap()[0], project.path("bin/run"));
    assert_eq!(spec.description, format!("{} {}", project.path("").trim_end_matches('/'), project.path("teams")));

    let mut inside = project.options.clone();
    inside.started_in = project.path("teams").into();
    assert_eq!(load("t.toml".as_ref(), &inside).unwrap().tasks, spec.tasks);
    assert_eq!(load("../teams/t.toml".as_ref(), &inside).unwrap().tasks, spec.tasks);

    std::fs::write(project.path("t.toml"), text).unwrap();
    let spec = load("t.toml".as_ref(), &project.options).unwrap();
    assert_eq!(spec.description, format!("{0} {0}", project.path("").trim_end_matches('/')));
}

#[test]
fn a_word_is_looked_for_where_it_will_run() {
    let mut project = Project::new();
    std::fs::create_dir(project.path("more")).unwrap();
    program(project.path("more/tool").as_ref(), true);
    let tasks = "[[task]]\nsubject = \"s\"\nrun = [\"tool\"]\n";
    assert!(project.parse(&format!("name = \"t\"\n{tasks}")).is_err());
    // By a member's own PATH, whose relative entries start from its directory.
    project.good(&format!("name = \"t\"\n[[member]]\nname = \"a\"\nenv = {{ PATH = \"${{cwd}}/more\" }}\n{tasks}"));
    project
        .good(&format!("name = \"t\"\n[[member]]\nname = \"a\"\nenv = {{ PATH = \"more\" }}\n{tasks}owner = \"a\"\n"));
    // By the folder of the running binary.
    project.options.bin_dir = Some(project.path("more").into());
    project.good(&format!("name = \"t\"\n{tasks}"));
}

#[test]
fn defaults_that_do_not_concern_a_worker_do_no_harm() {
    let spec = Project::new().good(
        "name = \"t\"\n[defaults]\ncommand = [\"run\"]\ndeliver = \"paste\"\nengine = \"command\"\n\
         [[member]]\nname = \"a\"\n[[member]]\nname = \"b\"\nengine = \"worker\"\n",
    );
    assert_eq!((spec.members[0].command[0].as_str(), spec.members[0].deliver), ("run", Deliver::Paste));
    assert!(spec.members[1].command.is_empty());
    assert_eq!(spec.members[1].deliver, Deliver::Mailbox);
}

#[test]
fn colours_come_in_turn() {
    let members: String = (0..10).map(|i| format!("[[member]]\nname = \"m{i}\"\n")).collect();
    let spec = Project::new().good(&format!("name = \"t\"\n{members}"));
    let colors: Vec<&str> = spec.members.iter().filter_map(|m| m.color.as_deref()).collect();
    assert_eq!(colors.len(), 10);
    assert!((0..9).all(|i| colors[i] != colors[i + 1]));
    assert_eq!(colors[0], colors[8]);
}

#[test]
fn tasks_without_a_key_can_be_many() {
    let spec =
        Project::new().good("name = \"t\"\n[[task]]\nsubject = \"a\"\n[[task]]\nsubject = \"b\"\ntimeout = 90\n");
    assert_eq!(spec.tasks.iter().map(|t| t.key.as_str()).collect::<Vec<_>>(), ["#1", "#2"]);
    assert_eq!(spec.tasks[1].task.timeout, Some(Span::secs(90)));
}

/// The reference's example is real: it parses once its programs are there.
#[test]
fn the_example_of_the_reference_is_right() {
    let project = Project::new();
    let doc = include_str!("../../../docs/SPEC.md");
    let text = doc.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    for name in ["scan.sh", "count.sh", "merge.sh"] {
        std::fs::create_dir_all(project.path("examples/audit")).unwrap();
        program(project.path(&format!("examples/audit/{name}")).as_ref(), true);
    }
    let spec = project.good(text);
    assert!(spec.members.len() >= 2 && spec.tasks.len() >= 2);
    for key in crate::spec::team::every_key() {
        assert!(doc.contains(&format!("`{key}`")), "docs/SPEC.md does not tell of `{key}`");
    }
}
