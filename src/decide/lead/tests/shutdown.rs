//! F16 to F19: the shutdown handshake.

use super::*;

#[test]
fn f16_agreed_is_not_gone_and_gone_is_said_once_it_is_true() {
    let mut world = World::up(&["a"]);
    let asked = world.shutdown(Some("a"));
    assert!(matches!(world.told("a")[..], [Body::ShutdownRequest { .. }]));
    world.answers("a", true, None);
    assert_eq!(world.answer(asked), None);
    world.ends("a", "shutdown", Some(0));
    assert_eq!(world.closed(), ["%1"]);
    assert!(!world.member("a").is_active);
    let answer = world.answer(asked).unwrap();
    assert_eq!((answer.code, answer.answer), (0, json!({"stopped": ["a"], "forced": [], "refused": []})));
}

#[test]
fn f17_a_refusal_reaches_the_asker_and_the_member_goes_on() {
    let mut world = World::up(&["a"]);
    let asked = world.shutdown(Some("a"));
    world.answers("a", false, Some("the build is running"));
    let answer = world.answer(asked).unwrap();
    assert_eq!((answer.code, &*answer.error), (1, "`a` refused: the build is running"));
    assert_eq!(answer.answer["refused"], json!([{"name": "a", "reason": "the build is running"}]));
    world.later(60_000);
    assert!(world.ending().is_empty());
    assert_eq!(world.phase("a"), Some(Phase::Up));
}

#[test]
fn f19_who_says_nothing_is_stopped_at_the_deadline() {
    let mut world = World::up_with(vec![restarting("a", Restart::Always)]);
    let asked = world.shutdown_within(Some("a"), 10_000);
    world.later(9_999);
    assert!(world.ending().is_empty());
    world.later(1);
    assert_eq!(world.ending().len(), 1);
    world.ends("a", "killed", None);
    assert_eq!(world.answer(asked).unwrap().answer, json!({"stopped": ["a"], "forced": ["a"], "refused": []}));
    world.later(60_000);
    assert!(world.launched().is_empty(), "an end that was asked for is no failure");
}

#[test]
fn f19_who_agrees_and_stays_is_stopped_too() {
    let mut world = World::up(&["a"]);
    let asked = world.shutdown_within(Some("a"), 10_000);
    world.answers("a", true, None);
    world.later(10_000);
    assert_eq!(world.ending().len(), 1);
    world.ends("a", "killed", None);
    assert_eq!(world.answer(asked).unwrap().answer["forced"], json!(["a"]));
}

#[test]
fn f19_all_is_answered_when_everyone_is_settled_and_names_who_refused() {
    let mut world = World::up(&["a", "b", "c", "d"]);
    world.ends("d", "exited", Some(0));
    let asked = world.shutdown_within(None, 10_000);
    world.answers("a", true, None);
    world.answers("b", false, Some("not yet"));
    world.ends("a", "shutdown", Some(0));
    assert_eq!(world.answer(asked), None, "c has not answered");
    world.later(10_000);
    world.ends("c", "killed", None);
    let answer = world.answer(asked).unwrap();
    assert_eq!((answer.code, &*answer.error), (1, "`b` refused: not yet"));
    assert_eq!(answer.answer["stopped"], json!(["a", "c"]));
    assert_eq!(answer.answer["forced"], json!(["c"]));
}

#[test]
fn all_of_nobody_is_answered_at_once() {
    let mut world = World::up(&[]);
    let asked = world.shutdown(None);
    assert_eq!(world.code(asked), Some(0));
    let nobody = world.shutdown(Some("x"));
    assert_eq!(world.code(nobody), Some(3));
}

#[test]
fn force_asks_nobody() {
    let mut world = World::up(&["a", "b"]);
    world.ends("b", "exited", Some(1));
    let asked = world.force(None);
    assert!(world.told("a").is_empty());
    assert_eq!(world.ending().len(), 1);
    assert_eq!(world.phase("b"), Some(Phase::Out), "it was between two lives");
    world.ends("a", "stopped", None);
    assert_eq!(world.code(asked), Some(0));
}

#[test]
fn two_who_ask_share_one_request_and_both_hear_of_it() {
    let mut world = World::up(&["a"]);
    let first = world.shutdown(Some("a"));
    let second = world.shutdown(None);
    assert!(world.told("a").is_empty(), "asked already");
    world.answers("a", false, Some("no"));
    assert_eq!((world.code(first), world.code(second)), (Some(1), Some(1)));
}

#[test]
fn f18_only_the_subject_answers_a_shutdown() {
    let mut world = World::up(&["a", "b"]);
    world.shutdown(Some("a"));
    let id = world.open("a").id;
    world.mail("b", &Body::ShutdownResponse { request_id: id, approve: true, reason: None });
    assert_eq!(world.state(id), RequestState::Open);
    let asked = world.decides("operator", id, true);
    assert_eq!(world.code(asked), Some(4));
    assert_eq!(world.state(id), RequestState::Open);
    assert_eq!(world.phase("b"), Some(Phase::Up));
}

#[test]
fn an_answer_after_the_deadline_counts_for_nothing() {
    let mut world = World::up(&["a"]);
    let asked = world.shutdown_within(Some("a"), 1000);
    let id = world.open("a").id;
    world.later(1000);
    world.mail("a", &Body::ShutdownResponse { request_id: id, approve: false, reason: None });
    assert_eq!(world.state(id), RequestState::Expired);
    world.ends("a", "killed", None);
    assert_eq!(world.code(asked), Some(0));
}

#[test]
fn f19_who_dies_while_it_is_asked_is_gone_and_does_not_come_back() {
    let mut world = World::up_with(vec![restarting("a", Restart::Always)]);
    let asked = world.shutdown(Some("a"));
    world.ends("a", "killed", None);
    assert_eq!(world.code(asked), Some(0));
    world.later(60_000);
    assert!(world.launched().is_empty());
}

#[test]
fn a_shutdown_of_a_member_that_is_being_restarted_ends_it_for_good() {
    let mut world = World::up(&["a"]);
    let restart = world.restart("a");
    let asked = world.shutdown(None);
    world.ends("a", "stopped", None);
    assert_eq!((world.code(restart), world.code(asked)), (Some(1), Some(0)));
    assert!(world.launched().is_empty());
}

#[test]
fn force_ends_a_member_that_is_being_restarted_for_good() {
    let mut world = World::up(&["a"]);
    world.restart("a");
    let asked = world.force(None);
    world.ends("a", "stopped", None);
    assert_eq!(world.code(asked), Some(0));
}

#[test]
fn the_shorter_grace_of_two_holds_and_is_no_failure() {
    let mut world = World::up_with(vec![restarting("a", Restart::Always)]);
    let patient = world.shutdown_within(Some("a"), 60_000);
    let hasty = world.shutdown_within(Some("a"), 2000);
    world.later(2000);
    assert_eq!(world.ending().len(), 1);
    world.ends("a", "killed", None);
    assert_eq!((world.code(patient), world.code(hasty)), (Some(0), Some(0)));
    assert_eq!(world.answer(hasty).unwrap().answer["forced"], json!(["a"]));
    world.later(60_000);
    assert!(world.launched().is_empty());
}
