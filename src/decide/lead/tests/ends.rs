//! Ends of lives and what follows them.

use super::*;

#[test]
fn a_program_that_fails_starts_again_after_longer_and_longer_pauses_and_is_given_up() {
    let mut world = World::up(&["a"]);
    for pause in [500, 1000, 2000, 4000, 8000] {
        let before = world.life("a");
        world.ends("a", "exited", Some(1));
        assert!(world.launched().is_empty());
        world.later(pause - 1);
        assert!(world.launched().is_empty(), "{pause} ms are not over");
        world.later(1);
        assert_eq!(world.launched(), ["a"]);
        assert_ne!(world.life("a"), before);
        world.starts("a");
        assert_eq!(world.phase("a"), Some(Phase::Up));
    }
    assert_eq!(world.member("a").restarts, 5);
    world.ends("a", "exited", Some(1));
    assert_eq!(world.phase("a"), Some(Phase::Out));
    assert!(!world.member("a").is_active);
    assert!(world.last.iter().any(|e| matches!(e, Effect::CloseMail { .. })));
    assert!(world.closed().is_empty(), "the pane stays, with its last words");
}

#[test]
fn a_member_whose_program_ended_well_is_out() {
    let mut world = World::up(&["a"]);
    world.ends("a", "exited", Some(0));
    assert_eq!(world.phase("a"), Some(Phase::Out));
    assert!(world.last.iter().any(|e| matches!(e, Effect::ReturnTasks { .. })));
}

#[test]
fn a_stopped_member_is_out_and_its_pane_closed_and_only_then_it_is_said() {
    let mut world = World::up_with(vec![restarting("a", Restart::Always)]);
    let asked = world.stop("a");
    assert_eq!(world.ending(), [("a".to_owned(), world.life("a"))]);
    assert_eq!(world.answer(asked), None);
    world.ends("a", "stopped", None);
    assert_eq!(world.closed(), ["%1"]);
    assert_eq!(world.answer(asked).unwrap().answer, json!({"stopped": ["a"]}));
    let again = world.stop("a");
    assert_eq!(world.answer(again).unwrap().answer["already_ended"], json!(["a"]));
    let nobody = world.stop("x");
    assert_eq!(world.code(nobody), Some(3));
}

#[test]
fn a_member_between_two_lives_is_stopped_at_once() {
    let mut world = World::up(&["a"]);
    world.ends("a", "exited", Some(1));
    let asked = world.stop("a");
    assert_eq!(world.code(asked), Some(0));
    world.later(60_000);
    assert!(world.launched().is_empty());
}

#[test]
fn a_closed_pane_is_a_stop() {
    let mut world = World::up_with(vec![restarting("a", Restart::Always)]);
    world.ends("a", "pane closed", None);
    assert_eq!(world.phase("a"), Some(Phase::Out));
    world.later(60_000);
    assert!(world.launched().is_empty());
}

#[test]
fn an_ended_member_is_started_again_on_demand() {
    let mut world = World::up(&["a"]);
    world.ends("a", "exited", Some(0));
    let asked = world.restart("a");
    assert_eq!(world.launched(), ["a"]);
    let opened = world.last.iter().position(|e| matches!(e, Effect::OpenMail { .. })).unwrap();
    let launched = world.last.iter().position(|e| matches!(e, Effect::Launch(_))).unwrap();
    assert!(opened < launched, "its mailbox is open when it comes");
    assert_eq!(world.answer(asked), None);
    world.starts("a");
    assert_eq!(world.code(asked), Some(0));
    assert!(world.member("a").is_active && world.member("a").exit.is_none());
}

#[test]
fn a_living_member_is_ended_and_started_again_on_demand() {
    let mut world = World::up_with(vec![restarting("a", Restart::Never)]);
    let before = world.life("a");
    let asked = world.restart("a");
    assert_eq!(world.ending(), [("a".to_owned(), before)]);
    assert!(world.launched().is_empty(), "never two lives at once");
    world.ends("a", "stopped", None);
    assert_eq!(world.launched(), ["a"]);
    world.starts("a");
    assert_eq!(world.code(asked), Some(0));
}

#[test]
fn a_restart_that_does_not_come_up_says_why() {
    let mut world = World::up_with(vec![restarting("a", Restart::Never)]);
    world.ends("a", "exited", Some(1));
    let asked = world.restart("a");
    world.pane("a");
    world.ends("a", "exited", Some(127));
    let answer = world.answer(asked).unwrap();
    assert_eq!(answer.code, 1);
    assert!(answer.error.contains("code 127") && answer.error.contains("good bye"), "{answer:?}");
    assert_eq!(world.phase("a"), Some(Phase::Out));
}

#[test]
fn the_end_of_an_earlier_life_changes_nothing() {
    let mut world = World::up(&["a"]);
    let old = world.life("a");
    world.ends("a", "exited", Some(1));
    world.later(500);
    world.starts("a");
    world.ends_of("a", old, "killed", None);
    assert_eq!(world.phase("a"), Some(Phase::Up));
}

#[test]
fn a_life_that_ends_takes_its_open_requests_with_it() {
    let mut world = World::up_with(vec![planner("a")]);
    let plan = world.submits("a", "# Tidy up");
    world.ends("a", "killed", None);
    assert_eq!(world.state(plan), RequestState::Withdrawn);
    let late = world.decides("operator", plan, true);
    assert_eq!(world.code(late), Some(7));
    world.later(500);
    assert_eq!(world.launched(), ["a"]);
    assert!(world.member("a").plan_id.is_none(), "it plans again");
}

#[test]
fn what_cannot_be_ended_is_told() {
    let mut world = World::up(&["a"]);
    let life = world.life("a");
    let exit = exit_of(life, "killed", world.now);
    world.step(Event::LifeEnded { name: name("a"), life, exit, last_words: String::new(), left: vec![42] });
    assert!(world.logged().contains(&"processes_left"));
}

#[test]
fn a_tied_team_ends_with_its_maker_and_an_untied_one_goes_on() {
    let mut world = World::up(&["a"]);
    world.step(Event::MakerGone);
    assert!(world.last.is_empty());

    let mut tied = team(vec![spec("a"), spec("b")]);
    tied.tied_to_maker = true;
    let mut world = World::of(tied);
    world.starts("a");
    world.starts("b");
    world.ends("b", "exited", Some(1));
    world.step(Event::MakerGone);
    assert_eq!(world.phase("b"), Some(Phase::Out), "it does not start again");
    assert!(matches!(world.told("a")[..], [Body::ShutdownRequest { .. }]));
    let refused = world.spawn("c", "c");
    assert_eq!(world.code(refused), Some(4));
    world.answers("a", true, None);
    assert_eq!(world.finished(), None);
    world.ends("a", "shutdown", Some(0));
    assert_eq!(world.finished(), Some(Finish::TakeDown));
}

#[test]
fn a_stop_during_a_restart_wins_and_both_are_answered() {
    let mut world = World::up(&["a"]);
    let restart = world.restart("a");
    let stop = world.stop("a");
    world.ends("a", "stopped", None);
    assert!(world.launched().is_empty());
    assert_eq!((world.code(restart), world.code(stop)), (Some(1), Some(0)));
    assert_eq!(world.phase("a"), Some(Phase::Out));
}

#[test]
fn a_restart_during_a_stop_or_a_shutdown_is_refused() {
    let mut world = World::up(&["a", "b"]);
    world.stop("a");
    world.shutdown(Some("b"));
    for who in ["a", "b"] {
        let asked = world.restart(who);
        let answer = world.answer(asked).unwrap();
        assert_eq!((answer.code, answer.error), (7, format!("`{who}` is being ended")));
    }
    assert_eq!(world.phase("b"), Some(Phase::Up), "it is asked, not ended");
}

#[test]
fn a_stuck_member_that_reacts_to_its_stop_is_a_failure_all_the_same() {
    let mut world = World::up(&["a"]);
    let life = world.life("a");
    world.step(Event::Stuck { name: name("a"), life, why: "task 1 is over its limit".to_owned() });
    assert_eq!(world.ending().len(), 1);
    world.ends("a", "stopped", Some(0));
    assert_eq!(world.member("a").exit.as_ref().unwrap().reason, "stuck");
    world.later(500);
    assert_eq!(world.launched(), ["a"]);
}

#[test]
fn a_restart_without_a_hello_in_time_is_tried_again() {
    let mut world = World::up(&["a"]);
    world.ends("a", "exited", Some(1));
    world.later(500);
    world.pane("a");
    world.later(30_000);
    assert_eq!(world.ending().len(), 1);
    world.ends("a", "stopped", Some(0));
    assert!(matches!(world.phase("a"), Some(Phase::Waiting { .. })));
    world.later(1000);
    assert_eq!(world.launched(), ["a"]);
}

#[test]
fn a_pane_that_comes_after_its_life_was_stopped_is_ended_and_closed() {
    let mut world = World::up_with(vec![restarting("a", Restart::Never)]);
    world.ends("a", "exited", Some(1));
    world.restart("a");
    let stop = world.stop("a");
    let life = world.life("a");
    world.ends_of("a", life, "killed", None);
    assert_eq!(world.code(stop), None, "nobody was found, since nobody was there yet");
    world.pane_of("a", life);
    assert_eq!(world.ending(), [("a".to_owned(), life)]);
    world.ends_of("a", life, "killed", None);
    assert_eq!((world.code(stop), world.phase("a")), (Some(0), Some(Phase::Out)));
    assert_eq!(world.closed(), ["%2"]);
}

#[test]
fn a_pane_that_comes_between_two_lives_is_ended() {
    let mut world = World::up(&["a"]);
    world.ends("a", "exited", Some(1));
    world.later(500);
    let late = world.life("a");
    world.later(30_000);
    world.step(Event::PaneFailed { name: name("a"), life: late, error: "no answer".to_owned() });
    assert!(matches!(world.phase("a"), Some(Phase::Waiting { .. })));
    world.pane_of("a", late);
    assert_eq!(world.ending(), [("a".to_owned(), late)]);
    world.hello_of("a", late);
    assert!(world.told("a").is_empty());
    world.later(1000);
    assert!(world.launched().is_empty(), "never two lives at once");
    world.ends_of("a", late, "killed", None);
    assert_eq!(world.launched(), ["a"]);
}

#[test]
fn a_pane_that_fails_after_its_life_was_stopped_starts_nothing() {
    let mut world = World::up_with(vec![restarting("a", Restart::Always)]);
    world.stop("a");
    world.ends("a", "stopped", None);
    world.restart("a");
    world.stop("a");
    let life = world.life("a");
    world.ends("a", "killed", None);
    assert_eq!(world.phase("a"), Some(Phase::Ending));
    world.step(Event::PaneFailed { name: name("a"), life, error: "no server".to_owned() });
    assert_eq!(world.phase("a"), Some(Phase::Out));
    world.later(60_000);
    assert!(world.launched().is_empty());
}

#[test]
fn who_refuses_an_end_that_its_maker_left_behind_is_ended() {
    let mut tied = team(vec![spec("a")]);
    tied.tied_to_maker = true;
    let mut world = World::of(tied);
    world.starts("a");
    world.step(Event::MakerGone);
    world.answers("a", false, Some("busy"));
    assert_eq!(world.ending().len(), 1);
    world.ends("a", "stopped", None);
    assert_eq!(world.finished(), Some(Finish::TakeDown));
}
