//! F40 to F43: plans, their decisions, and the execution that follows.

use super::*;
use crate::model::spec::Policy;

fn response(bodies: &[Body]) -> Option<(bool, Option<String>)> {
    bodies.iter().find_map(|b| match b {
        Body::PlanApprovalResponse { approve, feedback, .. } => Some((*approve, feedback.clone())),
        _ => None,
    })
}

#[test]
fn f40_a_plan_waits_for_its_decision() {
    let mut world = World::up_with(vec![planner("a")]);
    let plan = world.submits("a", "\n## Tidy up\n\nall of it");
    assert!(world.last.iter().any(|e| matches!(e, Effect::WritePlan { id, .. } if *id == plan)));
    assert_eq!(world.open("a").summary, "Tidy up");
    world.later(3_600_000);
    assert_eq!(world.state(plan), RequestState::Open);
    assert!(world.ever_told("a").iter().all(|b| matches!(b, Body::Welcome { .. })));
}

#[test]
fn f42_an_approval_is_answered_and_then_the_execution_follows() {
    let mut world = World::up_with(vec![planner("a")]);
    let plan = world.submits("a", "p");
    let asked = world.decides("operator", plan, true);
    assert_eq!(world.code(asked), Some(0));
    assert_eq!(response(&world.told("a")), Some((true, Some("says the decider".to_owned()))));
    assert_eq!(world.member("a").plan_id, Some(plan));
    let saved = world.last.iter().position(|e| matches!(e, Effect::SaveTeam)).unwrap();
    let told = world.last.iter().position(|e| matches!(e, Effect::Mail { .. })).unwrap();
    assert!(saved < told, "what is told is in the roster first");
    world.ends("a", "plan approved", Some(0));
    assert_eq!(world.launched(), ["a"]);
    assert_eq!(world.member("a").restarts, 0, "an execution is no restart");
    world.starts("a");
    world.later(60_000);
    assert!(world.ending().is_empty(), "the execution stays");
    world.ends("a", "exited", Some(0));
    assert_eq!(world.phase("a"), Some(Phase::Out));
}

#[test]
fn f42_a_planner_that_does_not_go_is_ended_and_executes() {
    let mut world = World::up_with(vec![with("a", |s| {
        s.plan_mode_required = true;
        s.restart = Restart::Never;
    })]);
    let plan = world.submits("a", "p");
    world.decides("operator", plan, true);
    world.later(7_999);
    assert!(world.ending().is_empty());
    world.later(1);
    assert_eq!(world.ending().len(), 1);
    world.ends("a", "killed", None);
    assert_eq!(world.launched(), ["a"]);
}

#[test]
fn f42_a_planner_that_dies_after_its_approval_executes_all_the_same() {
    let mut world = World::up_with(vec![planner("a")]);
    let plan = world.submits("a", "p");
    world.decides("operator", plan, true);
    world.ends("a", "killed", None);
    assert_eq!(world.launched(), ["a"]);
}

#[test]
fn a_rejection_carries_its_reason_and_the_planner_submits_again() {
    let mut world = World::up_with(vec![planner("a")]);
    let first = world.submits("a", "p");
    world.decides("operator", first, false);
    assert_eq!(response(&world.told("a")), Some((false, Some("says the decider".to_owned()))));
    assert_eq!(world.member("a").plan_id, None);
    world.later(60_000);
    assert!(world.ending().is_empty());
    let second = world.submits("a", "p2");
    assert_ne!(first, second);
    assert_eq!(world.state(second), RequestState::Open);
}

#[test]
fn policies_decide_by_themselves() {
    for (policy, state) in [(Policy::Approve, RequestState::Approved), (Policy::Reject, RequestState::Rejected)] {
        let mut team = team(vec![planner("a")]);
        team.settings.lead.plans = policy;
        let mut world = World::of(team);
        world.starts("a");
        let plan = world.submits("a", "p");
        assert_eq!(world.state(plan), state);
        assert_eq!(response(&world.told("a")).map(|r| r.0), Some(policy == Policy::Approve));
    }
}

#[test]
fn f41_a_stranger_a_second_one_another_hash_and_a_late_one_count_for_nothing() {
    let mut world = World::up_with(vec![planner("a"), spec("b")]);
    let plan = world.submits("a", "p");
    for member in ["a", "b"] {
        let asked = world.decides(member, plan, true);
        assert_eq!(world.code(asked), Some(4), "{member}");
    }
    let hash = Some("of something else".to_owned());
    let other = Body::Decide { request_id: plan, approve: true, hash, feedback: None, always: false };
    let other = world.verb(&other);
    assert_eq!(world.code(other), Some(7));
    assert_eq!(world.state(plan), RequestState::Open);
    let unknown = world.decides("operator", RequestId::derived(&["?"]), true);
    assert_eq!(world.code(unknown), Some(3));
    let first = world.decides("operator", plan, false);
    assert_eq!(world.code(first), Some(0));
    let second = world.decides("operator", plan, true);
    assert_eq!(world.code(second), Some(7));
    assert_eq!(world.state(plan), RequestState::Rejected);
}

#[test]
fn a_plan_of_another_life_or_one_that_comes_again_is_not_entered() {
    let mut world = World::up_with(vec![planner("a")]);
    let plan = world.submits("a", "p");
    world.submits("a", "p");
    assert!(world.last.is_empty());
    let body = Body::PlanApprovalRequest {
        request_id: RequestId::derived(&["other"]),
        life: Life::derived(&["other"]),
        plan: "p".to_owned(),
        hash: "h".to_owned(),
        summary: None,
    };
    world.mail("a", &body);
    assert_eq!(world.lead.ledger.requests().len(), 1);
    assert_eq!(world.open("a").id, plan);
}

#[test]
fn a_member_without_plan_mode_goes_on_when_its_plan_is_approved() {
    let mut world = World::up(&["a"]);
    let plan = world.submits("a", "p");
    world.decides("operator", plan, true);
    assert_eq!(world.member("a").plan_id, None);
    world.later(60_000);
    assert!(world.ending().is_empty());
}

#[test]
fn f43_a_planner_that_waits_can_be_shut_down() {
    let mut world = World::up_with(vec![planner("a")]);
    let plan = world.submits("a", "p");
    let asked = world.shutdown(Some("a"));
    let open = world.lead.ledger.open_for(&name("a"), crate::model::request::RequestKind::Shutdown).unwrap().id;
    world.mail("a", &Body::ShutdownResponse { request_id: open, approve: true, reason: None });
    world.ends("a", "shutdown", Some(0));
    assert_eq!(world.code(asked), Some(0));
    assert_eq!(world.state(plan), RequestState::Withdrawn);
}

#[test]
fn a_permission_expires_to_no_and_its_asker_hears_it() {
    use crate::model::request::{RequestKind, RequestState};
    let mut world = World::up(&["a"]);
    let request = Request {
        id: RequestId::derived(&["permission"]),
        kind: RequestKind::Permission,
        from: AgentId::new(name("a"), name("t")),
        member: name("a"),
        life: Some(world.life("a")),
        state: RequestState::Open,
        created_at: world.now,
        expires: Some(world.now.plus(Duration::from_secs(5))),
        summary: String::new(),
        hash: None,
        body: Value::Null,
        decision: None,
        answered: false,
        asked_by: None,
    };
    let record = world.lead.ledger.open(request).unwrap();
    world.lead.ledger.apply(record);
    assert_eq!(world.lead.next_deadline(), Some(world.now.plus(Duration::from_secs(5))));
    world.later(5000);
    assert!(matches!(world.told("a")[..], [Body::PermissionResponse { .. }]));
    let late = world.decides("operator", RequestId::derived(&["permission"]), true);
    assert_eq!(world.code(late), Some(7));
}
