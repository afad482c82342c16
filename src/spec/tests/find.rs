//! Where specs are looked for.

use super::Project;
use crate::spec::find::{find_in, list_in};

fn with_specs(files: &[&str]) -> Project {
    let project = Project::new();
    for file in files {
        let path = project.root().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "name = \"t\"\n").unwrap();
    }
    project
}

#[test]
fn a_name_is_looked_for_upwards_then_in_the_configuration() {
    let project =
        with_specs(&["teams/audit.toml", "sub/teams/near.toml", "cfg/teams/audit.toml", "cfg/teams/far.toml"]);
    let (root, sub) = (project.root().to_path_buf(), project.root().join("sub"));
    let config = root.join("cfg");
    let found = |arg| find_in(Some(arg), &sub, Some(&config)).unwrap();
    assert_eq!(found("audit"), root.join("teams/audit.toml"));
    assert_eq!(found("near"), sub.join("teams/near.toml"));
    assert_eq!(found("far"), config.join("teams/far.toml"));
    assert_eq!(found("../teams/audit.toml").canonicalize().unwrap(), root.join("teams/audit.toml"));
    let names: Vec<String> = list_in(&sub, Some(&config)).into_iter().map(|f| f.name).collect();
    assert_eq!(names, ["near", "audit", "far"]);
}

#[test]
fn the_only_spec_needs_no_name() {
    let project = with_specs(&["teams/audit.toml"]);
    assert_eq!(find_in(None, &project.root().join("sub"), None).unwrap(), project.root().join("teams/audit.toml"));
    let project = with_specs(&["teams/audit.toml", "teams/other.toml"]);
    let error = find_in(None, project.root(), None).unwrap_err();
    assert!(error.to_string().contains("say which spec"), "{error}");
}

#[test]
fn what_is_not_found_says_where_it_was_looked_for() {
    let project = with_specs(&["teams/audit.toml", "teams/notes.txt", "cfg/teams/far.toml"]);
    let config = project.root().join("cfg");
    let error = find_in(Some("audti"), project.root(), Some(&config)).unwrap_err();
    assert_eq!(error.exit_code(), 2);
    let shown = project.shown(&error);
    for part in [
        "there is no spec `audti`",
        "did you mean `audit`?",
        "/project/teams/audti.toml",
        "/project/cfg/teams/audti.toml",
        "audit  /project/teams/audit.toml",
        "far  /project/cfg/teams/far.toml",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(!shown.contains("notes"));
    let shown = project.shown(&find_in(Some("./audit.toml"), project.root(), None).unwrap_err());
    assert!(shown.contains("did you mean `audit`?") && shown.contains("/project/audit.toml"), "{shown}");
}
