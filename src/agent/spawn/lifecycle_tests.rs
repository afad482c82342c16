use proptest::prelude::*;

use super::*;

const GRACE: Duration = Duration::from_secs(30);

fn at(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

/// A child that runs.
fn running(background: bool) -> Life {
    let mut life = Life::new(background, GRACE);
    assert_eq!(life.step(Event::Started, at(0)), []);
    life
}

#[test]
fn a_background_child_s_end_is_told_by_a_notification() {
    let mut life = running(true);
    assert_eq!(life.step(Event::Ended(End::Completed), at(1)), [Effect::Notify]);
    assert_eq!(life.step(Event::Ended(End::Failed("x".into())), at(2)), []);
    assert_eq!(life.state, State::Ended(End::Completed));
}

#[test]
fn a_foreground_child_s_end_is_its_call_s_result() {
    let mut life = running(false);
    assert_eq!(life.step(Event::Ended(End::Completed), at(1)), []);
    assert_eq!(life.step(Event::Told, at(1)), []);
    assert!(life.told());
}

#[test]
fn moved_to_the_background_it_is_told_by_a_notification() {
    let mut life = running(false);
    assert_eq!(life.step(Event::ToBackground, at(1)), []);
    assert_eq!(life.step(Event::Ended(End::Completed), at(2)), [Effect::Notify]);
    // An end that came before the move stays with the call.
    let mut life = running(false);
    life.step(Event::Ended(End::Completed), at(1));
    assert_eq!(life.step(Event::ToBackground, at(2)), []);
    assert!(!life.background);
}

#[test]
fn what_was_killed_is_killed_and_aborted_once() {
    let mut life = running(true);
    assert_eq!(life.step(Event::Kill, at(1)), [Effect::Abort]);
    assert_eq!(life.step(Event::Kill, at(1)), []);
    assert_eq!(life.step(Event::Ended(End::Completed), at(2)), [Effect::Notify]);
    assert_eq!(life.state, State::Ended(End::Killed));
    assert_eq!(life.step(Event::Kill, at(3)), []);
}

#[test]
fn who_has_read_the_end_is_not_notified_of_it() {
    let mut life = running(true);
    life.step(Event::Ended(End::Completed), at(1));
    assert_eq!(life.step(Event::Told, at(2)), [Effect::Unqueue]);
    assert_eq!(life.step(Event::Told, at(3)), []);
}

#[test]
fn the_record_stays_for_a_grace_and_while_it_is_held() {
    let mut life = running(true);
    life.step(Event::Ended(End::Completed), at(1));
    assert_eq!(life.step(Event::Tick, at(100)), [], "nobody was told yet");
    life.step(Event::Told, at(100));
    life.step(Event::Hold, at(100));
    assert_eq!(life.step(Event::Tick, at(100)), []);
    life.step(Event::Release, at(100));
    assert_eq!(life.step(Event::Tick, at(100)), [Effect::Forget]);
    let mut life = running(false);
    life.step(Event::Ended(End::Completed), at(1));
    life.step(Event::Told, at(1));
    assert_eq!(life.step(Event::Tick, at(30)), []);
    assert_eq!(life.step(Event::Tick, at(31)), [Effect::Forget]);
}

#[test]
fn a_resumed_child_works_in_the_background_and_is_told_anew() {
    let mut life = running(false);
    assert_eq!(life.step(Event::Resume, at(1)), []);
    assert_eq!(life.state, State::Running, "a running one is not resumed");
    life.step(Event::Ended(End::Completed), at(1));
    life.step(Event::Told, at(1));
    life.step(Event::Resume, at(2));
    assert_eq!((&life.state, life.background, life.told()), (&State::Registered, true, false));
    life.step(Event::Started, at(3));
    assert_eq!(life.step(Event::Ended(End::Completed), at(4)), [Effect::Notify]);
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        Just(Event::Started),
        Just(Event::ToBackground),
        Just(Event::Kill),
        Just(Event::Ended(End::Completed)),
        Just(Event::Ended(End::Failed("x".into()))),
        Just(Event::Told),
        Just(Event::Hold),
        Just(Event::Release),
        Just(Event::Tick),
    ]
}

proptest! {
    #[test]
    fn in_any_order_it_ends_once_and_is_told_once(events in proptest::collection::vec(event(), 0..40), background: bool) {
        let mut life = Life::new(background, GRACE);
        let (mut notified, mut unqueued, mut aborted, mut ended) = (0, 0, 0, None);
        for (now, event) in events.into_iter().enumerate() {
            let before = life.clone();
            for effect in life.step(event, at(now as u64 * 20)) {
                match effect {
                    Effect::Notify => notified += 1,
                    Effect::Unqueue => unqueued += 1,
                    Effect::Abort => aborted += 1,
                    Effect::Forget => prop_assert!(life.told() && life.state.ended() && life.holds == 0),
                }
            }
            if before.state.ended() {
                prop_assert_eq!(&before.state, &life.state, "an end is final");
                prop_assert!(!before.told() || life.told(), "nobody can be untold");
            }
            if let State::Ended(end) = &life.state {
                ended = Some(end.clone());
            }
        }
        prop_assert!(notified <= 1 && unqueued <= notified && aborted <= 1);
        prop_assert_eq!(notified == 1, ended.is_some() && life.background);
        if aborted == 1 && ended.is_some() {
            prop_assert_eq!(ended, Some(End::Killed));
        }
    }
}
