//! What waits for what: new edges, changed edges, circles.

use super::tests::{T0, act, board, member, operator, task};
use super::*;
use crate::model::spec::TaskSpec;
use crate::model::task::NewTask;
use crate::model::time::Timestamp;

#[test]
fn circles_and_unknown_blockers_are_refused() {
    let b = board(vec![task("a", &[]), task("b", &[1]), task("c", &[2])]);
    assert_eq!(b.add(&operator(), task("d", &[9]), T0).unwrap_err().exit_code(), 3);
    let own = b.add(&operator(), task("d", &[4]), T0).unwrap_err();
    assert_eq!((own.exit_code(), own), (2, BoardError::Cycle(vec![TaskId(4), TaskId(4)])));
    let between = NewTask { blocks: vec![TaskId(1)], ..task("d", &[3]) };
    let circle = b.add(&operator(), between, T0).unwrap_err();
    assert!(circle.to_string().starts_with("tasks would wait for each other: 1 waits for 4 waits for 3"), "{circle}");
    let many = vec![task("d", &[5]), task("e", &[4])];
    assert_eq!(b.add_many(&operator(), many, T0).unwrap_err().exit_code(), 2);
    let update = Update { add_blocked_by: vec![TaskId(3)], ..Update::default() };
    assert_eq!(b.update(&operator(), TaskId(1), update, T0).unwrap_err().exit_code(), 2);
    assert_eq!(b.add(&operator(), task(" \n", &[]), T0).unwrap_err().exit_code(), 2);
    assert_eq!(b.add_many(&operator(), vec![], T0).unwrap_err().exit_code(), 2);
}

#[test]
fn a_new_task_can_hold_others_up() {
    let mut b = board(vec![task("a", &[]), task("b", &[])]);
    let claim = b.claim(&member("x", 1), None, T0);
    act(&mut b, claim);
    let before = |id| NewTask { blocks: vec![TaskId(id)], ..task("before", &[]) };
    assert_eq!(b.add(&operator(), before(1), T0).unwrap_err().exit_code(), 7, "1 runs already");
    let add = b.add(&operator(), before(2), T0);
    act(&mut b, add);
    assert_eq!(b.get(TaskId(2)).unwrap().blocked_by, [TaskId(3)]);
    assert_eq!(b.claimable_by(&member("y", 2)), [TaskId(3)]);
}

#[test]
fn update_changes_fields_and_edges() {
    let mut b = board(vec![task("a", &[]), task("b", &[1])]);
    let mut metadata = serde_json::Map::new();
    metadata.insert("k".into(), 1.into());
    let change =
        Update { subject: Some("B".into()), remove_blocked_by: vec![TaskId(1)], metadata, ..Update::default() };
    assert_eq!(b.update(&member("x", 1), TaskId(2), change.clone(), T0).unwrap_err().exit_code(), 4);
    let updated = b.update(&operator(), TaskId(2), change, Timestamp(5));
    act(&mut b, updated);
    let t = b.get(TaskId(2)).unwrap();
    assert_eq!((t.subject.as_str(), &t.metadata["k"], t.updated_at), ("B", &1.into(), Timestamp(5)));
    assert!(t.blocked_by.is_empty() && b.get(TaskId(1)).unwrap().blocks.is_empty());
    let mut metadata = serde_json::Map::new();
    metadata.insert("k".into(), serde_json::Value::Null);
    let updated = b.update(&operator(), TaskId(2), Update { metadata, ..Update::default() }, T0);
    act(&mut b, updated);
    assert!(b.get(TaskId(2)).unwrap().metadata.is_empty());
    assert_eq!(b.update(&operator(), TaskId(2), Update::default(), T0).unwrap_err(), BoardError::Nothing);
    let claim = b.claim(&member("x", 1), Some(TaskId(2)), T0);
    act(&mut b, claim);
    let wait = Update { add_blocked_by: vec![TaskId(1)], ..Update::default() };
    assert_eq!(b.update(&operator(), TaskId(2), wait, T0).unwrap_err().exit_code(), 7);
    let words = Update { active_form: Some("Doing B".into()), ..Update::default() };
    let updated = b.update(&member("x", 1), TaskId(2), words, T0);
    assert_eq!(act(&mut b, updated), 0, "its holder may");
}

#[test]
fn the_tasks_of_a_spec_find_each_other_by_key() {
    let mut b = board(vec![task("already here", &[])]);
    let spec = |key: &str, blocked_by: &[&str]| TaskSpec {
        key: key.into(),
        blocked_by: blocked_by.iter().map(ToString::to_string).collect(),
        task: task(key, &[]),
    };
    let tasks = b.resolve(&[spec("count", &[]), spec("merge", &["count"])]).unwrap();
    let add = b.add_many(&operator(), tasks, T0);
    act(&mut b, add);
    assert_eq!(b.get(TaskId(3)).unwrap().blocked_by, [TaskId(2)]);
    assert_eq!(b.resolve(&[spec("a", &["zz"])]).unwrap_err().exit_code(), 2);
    assert_eq!(b.resolve(&[spec("a", &[]), spec("a", &[])]).unwrap_err().exit_code(), 2);
}
