//! F24, F27, F28, F29: joining in two phases, whole or not at all.

use super::*;

#[test]
fn f24_nobody_is_a_member_before_everyone_said_hello() {
    let mut world = World::launching(&["a", "b"]);
    assert_eq!(world.launched(), ["a", "b"], "all in one go");
    world.starts("a");
    assert!(!world.is_member("a") && !world.lead.team.launched);
    assert!(world.told("a").is_empty(), "no welcome yet");
    world.pane("b");
    world.hello("b");
    assert!(world.is_member("a") && world.is_member("b") && world.lead.team.launched);
    for who in ["a", "b"] {
        let welcome = Body::Welcome { spawn_id: spawn_id(who), life: world.life(who) };
        assert_eq!(world.told(who), [welcome]);
    }
    let saves = world.last.iter().filter(|e| matches!(e, Effect::SaveTeam)).count();
    assert_eq!(saves, 1, "one roster write for the batch");
    assert!(world.lead.team.reserved.is_empty());
}

#[test]
fn a_hello_that_comes_again_is_welcomed_again_and_changes_nothing() {
    let mut world = World::up(&["a"]);
    world.hello("a");
    assert_eq!(world.told("a").len(), 1);
    assert_eq!(world.lead.team.teammates().count(), 1);
}

#[test]
fn a_hello_may_come_before_tmux_tells_of_the_pane() {
    let mut world = World::launching(&["a"]);
    world.hello("a");
    assert!(!world.is_member("a"), "who finds a member in the roster finds its pane there");
    world.pane("a");
    assert_eq!(world.phase("a"), Some(Phase::Up));
    assert_eq!(world.member("a").pane_id.as_deref(), Some("%1"));
    assert!(world.ending().is_empty());
}

#[test]
fn f24_one_that_dies_undoes_the_launch_and_is_named_with_its_last_lines() {
    let mut world = World::launching(&["a", "b", "c"]);
    world.starts("a");
    world.pane("b");
    world.ends("b", "exited", Some(3));
    let mut ending: Vec<String> = world.ending().into_iter().map(|e| e.0).collect();
    ending.sort();
    assert_eq!(ending, ["a", "c"], "the others are undone");
    assert_eq!(world.finished(), None, "not before they are gone");
    world.ends("a", "stopped", None);
    world.pane("c");
    world.hello("c");
    assert!(world.told("c").is_empty(), "too late to be welcomed");
    world.ends("c", "killed", None);
    let Some(Finish::LaunchFailed(reason)) = world.finished() else { panic!() };
    assert!(reason.starts_with("`b` did not start: its program ended with code 3"), "{reason}");
    assert!(reason.ends_with("  | good bye"), "{reason}");
    assert!(world.lead.team.reserved.is_empty() && world.lead.team.teammates().count() == 0);
}

#[test]
fn f29_no_hello_in_time_undoes_a_spawn_and_says_so() {
    let mut world = World::up(&["a"]);
    let asked = world.spawn("b", "b");
    world.pane("b");
    assert_eq!(world.lead.next_deadline(), Some(world.now.plus(Duration::from_secs(30))));
    world.later(29_999);
    assert!(world.ending().is_empty());
    world.later(1);
    assert_eq!(world.ending(), [("b".to_owned(), world.life("b"))]);
    assert_eq!(world.answer(asked), None);
    world.ends("b", "stopped", None);
    assert_eq!(world.closed(), ["%2"]);
    let answer = world.answer(asked).unwrap();
    assert_eq!(answer.code, 1);
    assert!(answer.error.starts_with("`b` did not start: it did not say hello in time"), "{answer:?}");
    assert!(!world.is_member("b") && world.lead.team.reserved.is_empty());
}

#[test]
fn f29_a_pane_that_tmux_cannot_make_undoes_a_spawn() {
    let mut world = World::up(&["a"]);
    let asked = world.spawn("b", "b");
    let life = world.life("b");
    world.step(Event::PaneFailed { name: name("b"), life, error: "no space for a new pane".to_owned() });
    let answer = world.answer(asked).unwrap();
    assert_eq!(answer.code, 1);
    assert!(answer.error.contains("no space for a new pane"), "{answer:?}");
    assert_eq!(world.phase("b"), None);
}

#[test]
fn a_spawn_is_answered_when_its_hello_came() {
    let mut world = World::up(&["a"]);
    let asked = world.spawn("b", "b");
    assert_eq!(world.answer(asked), None);
    world.starts("b");
    let answer = world.answer(asked).unwrap();
    assert_eq!((answer.code, answer.answer["pane_id"].as_str()), (0, Some("%2")));
}

#[test]
fn f28_the_same_spawn_id_is_one_member_however_often() {
    let mut world = World::up(&["a"]);
    let asked: Vec<MessageId> = (0..5).map(|_| world.spawn("b", "b")).collect();
    world.starts("b");
    let late = world.spawn("b", "b");
    for id in asked.into_iter().chain([late]) {
        assert_eq!(world.code(id), Some(0));
    }
    let launches = world.all.iter().filter(|e| matches!(e, Effect::Launch(_))).count();
    assert_eq!((launches, world.lead.team.teammates().count()), (2, 2));
}

#[test]
fn f27_a_taken_name_is_refused_whether_it_lives_starts_or_has_ended() {
    let mut world = World::up_with(vec![restarting("a", Restart::Never)]);
    let lives = world.spawn("a", "other");
    assert_eq!(world.code(lives), Some(7));
    world.spawn("b", "b");
    let starts = world.spawn("b", "other");
    assert_eq!(world.code(starts), Some(7));
    world.ends("a", "exited", Some(1));
    let ended = world.answer(lives).and(Some(world.spawn("a", "third"))).unwrap();
    let answer = world.answer(ended).unwrap();
    assert_eq!(answer.code, 7);
    assert!(answer.hint.contains("crewmux restart a"), "{answer:?}");
}

#[test]
fn a_team_has_a_limit() {
    let mut team = team(vec![spec("a")]);
    team.settings.limits.max_members = 2;
    let mut world = World::of(team);
    world.starts("a");
    world.spawn("b", "b");
    let third = world.spawn("c", "c");
    let answer = world.answer(third).unwrap();
    assert_eq!(answer.code, 7);
    assert!(answer.error.contains("its limit is 2"), "{answer:?}");
}

#[test]
fn a_hello_of_another_life_or_spawn_is_refused() {
    let mut world = World::launching(&["a"]);
    let stranger = Life::derived(&["stranger"]);
    world.hello_of("a", stranger);
    assert!(world.logged().contains(&"hello_refused"));
    let life = world.life("a");
    world.mail("a", &Body::Hello { spawn_id: spawn_id("x"), life, pid: 1, start_time: 1 });
    assert!(world.logged().contains(&"hello_refused"));
    assert!(!world.is_member("a"));
    world.starts("a");
    assert!(world.is_member("a"));
}

#[test]
fn f24_a_maker_that_goes_during_the_launch_undoes_it() {
    let mut world = World::launching(&["a", "b"]);
    world.starts("a");
    world.step(Event::MakerGone);
    assert_eq!(world.ending().len(), 2);
    world.pane("b");
    world.hello("b");
    assert!(!world.lead.team.launched);
    world.ends("a", "stopped", None);
    world.ends("b", "killed", None);
    let Some(Finish::LaunchFailed(reason)) = world.finished() else { panic!() };
    assert_eq!(reason, "the command that launched the team is gone");
}

#[test]
fn an_empty_team_is_launched_at_once() {
    let world = World::launching(&[]);
    assert!(world.lead.team.launched);
    assert!(world.logged().contains(&"team_launched"));
}

#[test]
fn f28_a_spawn_id_is_not_for_two_names() {
    let mut world = World::up(&["a"]);
    let first = world.spawn("b", "b");
    let other = world.spawn("c", "b");
    assert_eq!(world.code(other), Some(7));
    world.starts("b");
    assert_eq!(world.code(first), Some(0));
}

#[test]
fn a_spawn_tried_again_is_a_life_of_its_own() {
    let mut world = World::up(&["a"]);
    world.spawn("b", "b");
    let failed = world.life("b");
    world.pane("b");
    world.ends("b", "exited", Some(1));
    let again = world.spawn("b", "b");
    assert_ne!(world.life("b"), failed);
    // The first life's end is seen twice: by its pane, and by whoever ended it.
    world.ends_of("b", failed, "exited", Some(1));
    world.starts("b");
    assert_eq!(world.code(again), Some(0));
}

#[test]
fn a_stop_or_shutdown_of_one_that_is_joining_undoes_the_spawn_and_is_answered() {
    for all in [true, false] {
        let mut world = World::up(&["a"]);
        world.ends("a", "exited", Some(0));
        let spawn = world.spawn("b", "b");
        world.pane("b");
        let asked = if all { world.shutdown(None) } else { world.stop("b") };
        world.ends("b", "stopped", None);
        assert_eq!((world.code(spawn), world.code(asked)), (Some(1), Some(0)));
        assert!(!world.is_member("b"));
    }
}

#[test]
fn a_hello_of_a_life_that_nobody_wants_ends_it() {
    let mut world = World::up(&["a", "b"]);
    let stranger = Life::derived(&["stranger"]);
    world.hello_of("a", stranger);
    assert_eq!(world.ending(), [("a".to_owned(), stranger)]);
    world.stop("a");
    world.ends("a", "stopped", None);
    let (own, other) = (world.life("a"), world.life("b"));
    world.hello_of("a", own);
    assert_eq!(world.ending(), [("a".to_owned(), own)], "its own, which is over");
    world.hello_of("a", other);
    assert!(world.ending().is_empty(), "another member's life is not a's to end");
}

#[test]
fn f30_f18_members_have_no_word_in_who_starts_and_ends() {
    let mut world = World::up_with(vec![spec("a"), spec("b")]);
    let b = Some(name("b"));
    for body in [
        Body::SpawnRequest { spawn_id: spawn_id("c"), spec: Box::new(spec("c")) },
        Body::StopRequest { name: name("b") },
        Body::RestartRequest { name: name("b") },
        Body::ShutdownAsk { name: b, reason: None, grace_ms: None, force: false },
        Body::ShutdownAsk { name: None, reason: None, grace_ms: None, force: true },
    ] {
        let asked = world.mail("a", &body);
        assert_eq!(world.code(asked), Some(4), "{body:?}");
        assert_eq!(world.last.len(), 1);
    }
}

#[test]
fn f24_a_launch_is_undone_only_when_panes_that_were_under_way_are_gone_too() {
    let mut world = World::of(team(vec![with("a", |s| s.isolation = Isolation::Worktree), spec("b")]));
    let (a, b) = (world.life("a"), world.life("b"));
    world.step(Event::TreeFailed { name: name("a"), life: a, error: "no repository".to_owned() });
    assert_eq!(world.ending(), [("b".to_owned(), b)]);
    world.ends_of("b", b, "killed", None);
    assert_eq!(world.finished(), None, "its pane is still being made");
    world.pane_of("b", b);
    assert_eq!(world.ending(), [("b".to_owned(), b)], "now it can be found");
    world.ends_of("b", b, "killed", None);
    assert!(matches!(world.finished(), Some(Finish::LaunchFailed(why)) if why.contains("no repository")));
}

#[test]
fn f24_a_launch_is_undone_only_when_trees_that_were_under_way_are_done_too() {
    for made in [true, false] {
        let mut world = World::of(team(vec![with("a", |s| s.isolation = Isolation::Worktree), spec("b")]));
        let (a, b) = (world.life("a"), world.life("b"));
        world.step(Event::PaneFailed { name: name("b"), life: b, error: "no space".to_owned() });
        assert_eq!(world.ending(), [("a".to_owned(), a)]);
        world.ends_of("a", a, "killed", None);
        assert_eq!(world.finished(), None, "git is still at work");
        if made {
            let tree = Box::new(tree_of("a"));
            world.step(Event::TreeReady { name: name("a"), life: a, tree, reused: false });
            assert_eq!(world.ending(), [("a".to_owned(), a)], "its setup may have begun since");
            assert!(world.launched().is_empty());
            world.ends_of("a", a, "killed", None);
        } else {
            world.step(Event::TreeFailed { name: name("a"), life: a, error: "ended".to_owned() });
        }
        let settled = world.last.iter().filter(|e| matches!(e, Effect::SettleTree { .. })).count();
        assert_eq!(settled, 1);
        assert!(matches!(world.finished(), Some(Finish::LaunchFailed(why)) if why.contains("no space")));
    }
}

#[test]
fn a_stop_of_one_whose_pane_is_under_way_is_answered_when_it_is_gone() {
    let mut world = World::up(&["a"]);
    let spawn = world.spawn("b", "b");
    let stop = world.stop("b");
    let life = world.life("b");
    world.ends_of("b", life, "killed", None);
    assert_eq!((world.code(spawn), world.code(stop)), (None, None));
    world.hello_of("b", life);
    world.ends_of("b", life, "stopped", None);
    assert_eq!(world.code(stop), None, "tmux has not told yet, and may be slow to");
    world.pane_of("b", life);
    world.ends_of("b", life, "stopped", None);
    assert_eq!((world.code(spawn), world.code(stop)), (Some(1), Some(0)));
    assert_eq!(world.closed(), ["%2"]);
    assert_eq!(world.phase("b"), None);
}
