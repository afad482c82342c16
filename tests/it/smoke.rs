//! A team from launch to end.

use crate::support::Crew;

/// A member of each engine.
pub const DUO: &str = r#"
v = 1
name = "duo"
[[member]]
name = "hand"
engine = "worker"
[[member]]
name = "voice"
engine = "command"
command = ["sh", "-c", "echo here; exec sleep 1000"]
"#;

#[test]
fn a_run_ends_by_itself_and_leaves_nothing() {
    let crew = Crew::new();
    let spec = format!(
        "{DUO}\n[[task]]\nkey = \"a\"\nsubject = \"first\"\nrun = [\"true\"]\n\
         [[task]]\nsubject = \"second\"\nrun = [\"sh\", \"-c\", \"echo done $CREWMUX_TASK\"]\nblocked_by = [\"a\"]\n"
    );
    crew.write("duo.toml", &spec);
    let ran = crew.run(&["run", "./duo.toml", "--json"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    let view: serde_json::Value = serde_json::from_str(&ran.out).expect("json");
    assert_eq!(view["ok"], true);
    assert_eq!(view["tasks"]["completed"], 2);
    assert!(!crew.team("duo").exists(), "the team's folder was put away");
    let home = crew.home();
    assert!(crate::support::with_environment("CREWMUX_HOME", home.to_str().expect("utf-8")).is_empty());
}

#[test]
fn a_failed_task_fails_the_run_and_what_waits_for_it() {
    let crew = Crew::new();
    let spec = format!(
        "{DUO}\n[[task]]\nkey = \"a\"\nsubject = \"first\"\nrun = [\"false\"]\n\
         [[task]]\nsubject = \"second\"\nrun = [\"true\"]\nblocked_by = [\"a\"]\n"
    );
    crew.write("duo.toml", &spec);
    let ran = crew.fails(1, &["run", "./duo.toml", "--json"]);
    let view: serde_json::Value = serde_json::from_str(&ran.out).expect("json");
    assert_eq!(view["failed"].as_array().map(Vec::len), Some(2), "{view}");
    assert_eq!(view["failed"][1]["error"], "blocked by 1: failed");
}
