//! Faults that the simulation (`src/sim`) found, each as the shortest story that shows it.

use super::*;

fn effects(world: &World, is: impl Fn(&Effect) -> bool) -> usize {
    world.last.iter().filter(|e| is(e)).count()
}

#[test]
fn what_a_life_asked_is_not_opened_once_its_end_was_taken_in() {
    let mut world = World::up_with(vec![with("a", |s| (s.plan_mode_required, s.restart) = (true, Restart::Never))]);
    world.ends("a", "pane closed", None);
    let plan = world.submits("a", "written before, read after");
    assert!(world.lead.ledger.get(plan).is_none(), "nobody would ever take it back");
    assert!(world.last.is_empty());
}

#[test]
fn a_spawn_with_the_id_of_one_that_still_joins_waits_for_it() {
    let mut world = World::launching(&["a", "b"]);
    let asked = world.spawn("a", "a");
    world.starts("a");
    assert_eq!(world.code(asked), None, "it is in no roster yet");
    world.starts("b");
    assert_eq!(world.code(asked), Some(0));
}

#[test]
fn nobody_is_spawned_into_a_launch_that_may_still_be_undone() {
    let mut world = World::launching(&["a"]);
    let asked = world.spawn("b", "b");
    let answer = world.answer(asked).unwrap();
    assert_eq!((answer.code, answer.error.as_str()), (7, "the team is still being launched"));
    assert!(world.launched().is_empty());
    world.starts("a");
    let again = world.spawn("b", "b");
    world.starts("b");
    assert_eq!(world.code(again), Some(0));
}

#[test]
fn a_launch_that_is_undone_ends_although_one_of_it_was_to_start_again() {
    let mut world = World::launching(&["a", "b"]);
    world.pane("a");
    world.pane("b");
    world.ends("a", "exited", Some(1));
    let asked = world.restart("a");
    assert_eq!(world.code(asked), Some(7));
    assert!(world.launched().is_empty());
    world.ends("b", "stopped", None);
    assert!(matches!(world.finished(), Some(Finish::LaunchFailed(_))));
}

/// The roster may be written with a later step's state before an earlier step was carried out to its end.
#[test]
fn a_new_lead_does_what_belongs_to_ends_that_the_roster_already_knows() {
    let mut world = World::up_with(vec![planner("a"), spec("b")]);
    let plan = world.submits("a", "p");
    let ledger = world.lead.ledger.clone();
    world.stop("a");
    world.ends("a", "stopped", None);
    // All of that came into the roster, and nothing of it into the ledger, the board or the mailbox.
    let mut lead = Lead::new(world.lead.team.clone(), ledger);
    world.last = lead.begin(&[name("b")], Life::derived(&["lead", "2"]), world.now);
    world.lead = lead;
    assert_eq!(world.state(plan), RequestState::Withdrawn);
    let closes = |e: &Effect| matches!(e, Effect::CloseMail { name, .. } if name.as_str() == "a");
    assert_eq!(effects(&world, closes), 1);
    let all = |e: &Effect| matches!(e, Effect::ReturnStale { name, current: None } if name.as_str() == "a");
    assert_eq!(effects(&world, all), 1, "no life of it has a task any more");
    let life = world.life("b");
    let others = |e: &Effect| matches!(e, Effect::ReturnStale { name, current } if name.as_str() == "b" && *current == Some(life));
    assert_eq!(effects(&world, others), 1, "a task of the life that goes on stays");
}

#[test]
fn a_request_of_a_life_that_another_has_followed_is_taken_back_by_the_next_lead() {
    let mut world = World::up_with(vec![planner("a")]);
    let plan = world.submits("a", "p");
    let ledger = world.lead.ledger.clone();
    world.restart("a");
    world.ends("a", "stopped", None);
    let mut lead = Lead::new(world.lead.team.clone(), ledger);
    lead.begin(&[], Life::derived(&["lead", "2"]), world.now);
    world.lead = lead;
    assert_eq!(world.state(plan), RequestState::Withdrawn);
}

#[test]
fn who_was_asked_to_go_and_died_before_it_answered_is_not_started_again_by_the_next_lead() {
    let mut world = World::up_with(vec![restarting("a", Restart::Always)]);
    world.shutdown(Some("a"));
    let team = world.lead.team.clone();
    // The ledger has the end of the request, the roster does not have that of the member.
    world.ends("a", "killed", None);
    let mut lead = Lead::new(team, world.replayed());
    lead.begin(&[], Life::derived(&["lead", "2"]), world.now);
    world.lead = lead;
    world.ends("a", "killed", None);
    assert_eq!(world.phase("a"), Some(Phase::Out));
    assert!(world.launched().is_empty());
}
