//! Which team is meant where none is named.

use super::*;
use crate::act::testing::{hold, make};
use crate::os::clock;

#[test]
fn the_only_running_team_is_meant() {
    let root = tempfile::tempdir().unwrap();
    let home = Home::at(root.path().to_owned());
    let error = only_running(&home).unwrap_err();
    assert_eq!((error.kind.code(), error.hints.len()), (3, 1));

    let [a, b] = ["a", "b"].map(|name| make(&home, name, &[]));
    let error = only_running(&home).unwrap_err();
    assert_eq!((error.kind.code(), error.causes.as_slice()), (3, ["without a lead: a, b".to_owned()].as_slice()));

    let _b = hold(&b.dir, "team-lead", clock::new_life());
    assert_eq!(only_running(&home).unwrap(), b.name);

    let _a = hold(&a.dir, "team-lead", clock::new_life());
    let error = only_running(&home).unwrap_err();
    assert_eq!((error.kind.code(), error.message.as_str()), (3, "2 teams are running: a, b"));
}

#[test]
fn a_named_team_is_taken_as_it_is_named() {
    let root = tempfile::tempdir().unwrap();
    let home = Home::at(root.path().to_owned());
    let globals = Globals { team: Some(Name::parse("elsewhere").unwrap()), ..Globals::default() };
    assert_eq!(resolve(&globals, &home).unwrap().as_str(), "elsewhere");
}
