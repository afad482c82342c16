//! F21: a new lead takes up what the last one had written.

use super::*;

#[test]
fn who_lives_goes_on_and_who_died_is_started_again() {
    let mut world = World::up(&["a", "b"]);
    let lives = world.life("a");
    world.new_lead(&["a"]);
    assert_eq!(world.phase("a"), Some(Phase::Up));
    assert_eq!(world.life("a"), lives);
    assert_eq!(world.ending(), [("b".to_owned(), world.life("b"))], "its rest is ended first");
    assert!(world.launched().is_empty());
    world.ends("b", "killed", None);
    assert_eq!(world.launched(), ["b"], "at once: what happened before this lead is nothing to pause for");
    // From here on it is as with everyone else: the next failure is the second in a row.
    world.starts("b");
    world.ends("b", "killed", None);
    world.later(500);
    assert!(world.launched().is_empty());
    world.later(500);
    assert_eq!(world.launched(), ["b"]);
}

#[test]
fn who_was_out_stays_out() {
    let mut world = World::up(&["a"]);
    world.stop("a");
    world.ends("a", "stopped", None);
    world.new_lead(&[]);
    assert_eq!(world.phase("a"), Some(Phase::Out));
    assert_eq!(world.ending(), [("a".to_owned(), world.life("a"))], "and so does whatever is left of it");
    world.ends("a", "killed", None);
    assert!(world.last.is_empty());
}

#[test]
fn a_half_done_spawn_is_undone() {
    let mut world = World::up(&["a"]);
    world.spawn("b", "b");
    world.pane("b");
    let life = world.life("b");
    world.new_lead(&["a"]);
    assert_eq!(world.ending(), [("b".to_owned(), life)]);
    assert_eq!(world.closed(), ["%2"]);
    assert!(world.lead.team.reserved.is_empty());
    let asked = world.spawn("b", "again");
    world.starts("b");
    assert_eq!(world.code(asked), Some(0));
}

#[test]
fn open_requests_stay_open_and_are_decided_by_the_new_lead() {
    let mut world = World::up_with(vec![planner("a"), spec("b")]);
    let plan = world.submits("a", "p");
    let asked = world.shutdown_within(Some("b"), 10_000);
    world.new_lead(&["a", "b"]);
    assert_eq!(world.state(plan), RequestState::Open);
    let decided = world.decides("operator", plan, true);
    assert_eq!(world.code(decided), Some(0));
    world.later(10_000);
    world.ends("b", "killed", None);
    assert_eq!(world.answer(asked).unwrap().answer["forced"], json!(["b"]));
}

#[test]
fn a_decision_that_may_not_have_arrived_is_sent_again_as_the_same_message() {
    let mut world = World::up_with(vec![planner("a")]);
    let plan = world.submits("a", "p");
    world.decides("operator", plan, false);
    let first = sent(&world.last);
    // The lead died before it noted that it had answered.
    world.all.retain(|e| !matches!(e, Effect::Ledger(r) if r.request().is_some_and(|r| r.answered)));
    world.new_lead(&["a"]);
    assert_eq!(sent(&world.last), first);
    world.new_lead(&["a"]);
    assert_eq!(sent(&world.last), [], "noted now");
}

fn sent(effects: &[Effect]) -> Vec<(Name, MessageId)> {
    let mail = effects.iter().filter_map(|e| match e {
        Effect::Mail { to, id, body } if matches!(**body, Body::PlanApprovalResponse { .. }) => Some((to.clone(), *id)),
        _ => None,
    });
    mail.collect()
}

#[test]
fn f42_an_approval_before_the_crash_leads_to_the_execution_after_it() {
    for lives in [true, false] {
        let mut world = World::up_with(vec![planner("a")]);
        let plan = world.submits("a", "p");
        world.decides("operator", plan, true);
        world.new_lead(if lives { &["a"] } else { &[] });
        world.later(9_000);
        world.ends("a", "killed", None);
        assert_eq!(world.launched(), ["a"], "{lives}");
        assert_eq!(world.member("a").plan_id, Some(plan));
    }
}

#[test]
fn a_lost_tmux_server_is_no_stop() {
    let mut world = World::up(&["a", "b"]);
    world.stop("b");
    world.ends("b", "stopped", None);
    world.lead.tmux_lost = true;
    world.new_lead(&[]);
    world.ends("a", "pane closed", None);
    assert_eq!(world.launched(), ["a"]);
    assert_eq!(world.phase("b"), Some(Phase::Out));
}

#[test]
fn who_was_written_into_the_roster_and_not_told_is_welcomed_by_the_new_lead() {
    let mut world = World::up(&["a"]);
    world.new_lead(&["a"]);
    let welcome = Body::Welcome { spawn_id: spawn_id("a"), life: world.life("a") };
    assert_eq!(world.told("a"), [welcome]);
}

#[test]
fn a_restart_that_was_under_way_still_needs_its_hello() {
    let mut world = World::up(&["a"]);
    world.ends("a", "exited", Some(1));
    world.later(500);
    world.pane("a");
    world.new_lead(&["a"]);
    assert!(world.told("a").is_empty());
    let mut other = world.lead.clone();
    world.hello("a");
    assert_eq!((world.phase("a"), world.told("a").len()), (Some(Phase::Up), 1));
    assert!(world.member("a").exit.is_none());

    let late = other.step(Event::Tick, world.now.plus(Duration::from_secs(30)));
    assert!(late.iter().any(|e| matches!(e, Effect::EndLife { .. })));
}

#[test]
fn f42_an_approval_that_reached_the_ledger_alone_leads_to_the_execution() {
    for lives in [true, false] {
        let mut world = World::up_with(vec![planner("a")]);
        let plan = world.submits("a", "p");
        let before = world.lead.team.clone();
        world.decides("operator", plan, true);
        // The lead died before it wrote the roster.
        world.lead.team = before;
        world.new_lead(if lives { &["a"] } else { &[] });
        assert_eq!(world.member("a").plan_id, Some(plan));
        world.ends("a", "plan approved", Some(0));
        assert_eq!(world.launched(), ["a"], "{lives}");
    }
}

#[test]
fn f19_an_all_that_the_last_lead_was_asked_for_is_answered_once_and_whole() {
    let mut world = World::up(&["a", "b", "c", "d"]);
    let asked = world.shutdown_within(None, 10_000);
    world.answers("a", false, Some("not yet"));
    world.answers("b", true, None);
    world.ends("b", "shutdown", Some(0));
    world.answers("c", true, None);
    world.new_lead(&["a", "c", "d"]);
    world.ends("c", "shutdown", Some(0));
    assert_eq!(world.answer(asked), None, "d has not answered");
    world.later(10_000);
    world.ends("d", "killed", None);
    let answer = world.answer(asked).unwrap();
    assert_eq!((answer.code, &*answer.error), (1, "`a` refused: not yet"));
    assert_eq!(answer.answer["stopped"], json!(["b", "c", "d"]));
    world.new_lead(&["a"]);
    world.later(1);
    assert!(world.answer(asked).is_some(), "and not again");
}

#[test]
fn a_shutdown_that_may_not_have_been_asked_is_asked_again_as_the_same_message() {
    let mut world = World::up(&["a"]);
    world.shutdown(Some("a"));
    let asked = |effects: &[Effect]| {
        effects.iter().find_map(|e| match e {
            Effect::Mail { id, body, .. } if matches!(**body, Body::ShutdownRequest { .. }) => {
                Some((*id, (**body).clone()))
            }
            _ => None,
        })
    };
    let first = asked(&world.last);
    world.new_lead(&["a"]);
    assert!(first.is_some());
    assert_eq!(asked(&world.last), first);
}

#[test]
fn a_mailbox_that_was_closed_too_early_is_open_again_before_anything_is_told() {
    let mut world = World::up(&["a"]);
    world.new_lead(&["a"]);
    let opened = world.last.iter().position(|e| matches!(e, Effect::OpenMail { .. })).unwrap();
    let told = world.last.iter().position(|e| matches!(e, Effect::Mail { .. })).unwrap();
    assert!(opened < told);
}

#[test]
fn a_start_whose_pane_comes_after_its_lead_died_is_ended_when_it_shows_itself() {
    let mut world = World::up(&["a"]);
    world.restart("a");
    world.ends("a", "stopped", None);
    let coming = world.life("a");
    world.new_lead(&[]);
    assert_eq!(world.phase("a"), Some(Phase::Ending));
    world.hello_of("a", coming);
    assert_eq!(world.ending(), [("a".to_owned(), coming)]);
    assert!(world.told("a").is_empty());
}

#[test]
fn a_restart_whose_pane_the_last_lead_alone_had_heard_of_joins_with_its_hello() {
    let mut world = World::up(&["a"]);
    world.stop("a");
    world.ends("a", "stopped", None);
    world.restart("a");
    assert!(world.member("a").pane_id.is_none());
    world.new_lead(&["a"]);
    world.hello("a");
    assert_eq!((world.phase("a"), world.told("a").len()), (Some(Phase::Up), 1));
}
