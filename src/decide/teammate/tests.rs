//! A teammate's life, told as what it hears and what it then does.

use serde_json::json;

use super::*;
use crate::model::name::{AgentId, Name};

const NOW: Timestamp = Timestamp(1_000_000_000);

struct World {
    mate: Teammate,
    now: Timestamp,
}

fn life() -> Life {
    Life::derived(&["life"])
}

fn spawn_id() -> SpawnId {
    SpawnId::derived(&["spawn"])
}

fn request(text: &str) -> RequestId {
    RequestId::derived(&[text])
}

fn code(code: i32) -> Ended {
    Ended { code: Some(code), signal: None }
}

impl World {
    fn starting(on_shutdown: OnShutdown, planning: bool) -> Self {
        let spec: MemberSpec = serde_json::from_value(json!({"name": "a", "cwd": "/"})).unwrap();
        let spec = MemberSpec { on_shutdown, engine: EngineKind::Command, ..spec };
        Self { mate: Teammate::new(life(), spawn_id(), 42, 7, &spec, planning), now: NOW }
    }

    fn up(on_shutdown: OnShutdown) -> Self {
        Self::joined(Self::starting(on_shutdown, false))
    }

    fn planning() -> Self {
        Self::joined(Self::starting(OnShutdown::Finish, true))
    }

    fn joined(mut world: Self) -> Self {
        world.does(Event::EngineReady);
        world.hears(Body::Welcome { spawn_id: spawn_id(), life: life() });
        assert!(world.mate.joined());
        world
    }

    fn does(&mut self, event: Event) -> Vec<Effect> {
        self.mate.step(event, self.now)
    }

    fn hears(&mut self, body: Body) -> Vec<Effect> {
        let team = Name::parse("t").unwrap();
        let id = MessageId::derived(&[&format!("{body:?}")]);
        let from = AgentId::new(Name::lead(), team);
        let message = Message::new(id, from, Name::parse("a").unwrap(), &body);
        self.does(Event::Control(Box::new(message)))
    }

    fn asked(&mut self, text: &str) -> Vec<Effect> {
        let deadline = self.now.plus(Duration::from_secs(10));
        self.hears(Body::ShutdownRequest { request_id: request(text), reason: None, deadline })
    }

    fn decided(&mut self, text: &str, approve: bool) -> Vec<Effect> {
        let (request_id, hash) = (request(text), "h".to_owned());
        self.hears(Body::PlanApprovalResponse { request_id, approve, hash, feedback: None })
    }

    fn takes(&mut self, id: u64) {
        self.does(Event::TaskTaken { id: TaskId(id), epoch: 1 });
    }

    fn leaves(&mut self, id: u64) -> Vec<Effect> {
        self.does(Event::TaskLeft { id: TaskId(id) })
    }

    fn later(&mut self, ms: u64) -> Vec<Effect> {
        self.now = self.now.plus(Duration::from_millis(ms));
        self.does(Event::Tick)
    }
}

fn mail(effects: &[Effect]) -> Vec<Body> {
    let sent = effects.iter().filter_map(|e| match e {
        Effect::Mail { body, .. } => Some((**body).clone()),
        _ => None,
    });
    sent.collect()
}

fn answer(effects: &[Effect]) -> Option<(RequestId, bool)> {
    mail(effects).into_iter().find_map(|body| match body {
        Body::ShutdownResponse { request_id, approve, .. } => Some((request_id, approve)),
        _ => None,
    })
}

fn exit(effects: &[Effect]) -> Option<&'static str> {
    let mut exits = effects.iter().filter_map(|e| match e {
        Effect::Exit { reason, .. } => Some(*reason),
        _ => None,
    });
    let first = exits.next();
    assert_eq!(exits.next(), None, "one exit");
    first
}

fn stops(effects: &[Effect]) -> bool {
    effects.iter().any(|e| matches!(e, Effect::StopEngine { .. }))
}

fn works(effects: &[Effect]) -> Option<bool> {
    effects.iter().rev().find_map(|e| match e {
        Effect::Work(on) => Some(*on),
        _ => None,
    })
}

fn handed(effects: &[Effect]) -> bool {
    effects.iter().any(|e| matches!(e, Effect::HandOver(_)))
}

#[test]
fn it_says_hello_once_when_its_engine_is_ready() {
    let mut world = World::starting(OnShutdown::Finish, false);
    assert_eq!(world.mate.state(), State::Starting);
    let hello = Body::Hello { spawn_id: spawn_id(), life: life(), pid: 42, start_time: 7 };
    let first = world.does(Event::EngineReady);
    assert_eq!(mail(&first), [hello]);
    assert!(world.does(Event::EngineReady).is_empty());
    assert!(!world.mate.joined());
}

#[test]
fn only_the_welcome_of_its_own_life_makes_it_a_member() {
    let mut world = World::starting(OnShutdown::Finish, false);
    let own = Body::Welcome { spawn_id: spawn_id(), life: life() };
    assert!(world.hears(own.clone()).is_empty(), "before its hello there is nothing to welcome");
    world.does(Event::EngineReady);
    world.hears(Body::Welcome { spawn_id: spawn_id(), life: Life::derived(&["other"]) });
    assert!(!world.mate.joined());
    let welcomed = world.hears(own.clone());
    assert_eq!((works(&welcomed), world.mate.state()), (Some(true), State::Idle));
    assert!(world.hears(own).is_empty(), "once");
}

#[test]
fn a_program_that_dies_before_its_welcome_did_not_start_unless_it_did_its_work() {
    let mut world = World::starting(OnShutdown::Finish, false);
    assert_eq!(exit(&world.does(Event::EngineEnded(code(1)))), Some("exited"));

    let mut world = World::starting(OnShutdown::Finish, false);
    world.does(Event::EngineReady);
    assert_eq!(exit(&world.does(Event::EngineEnded(code(1)))), Some("exited"));
    assert_eq!(world.mate.state(), State::Failed);

    let mut world = World::starting(OnShutdown::Finish, false);
    world.does(Event::EngineReady);
    assert_eq!(exit(&world.does(Event::EngineEnded(code(0)))), None);
    let welcomed = world.hears(Body::Welcome { spawn_id: spawn_id(), life: life() });
    assert_eq!(exit(&welcomed), Some("exited"));
    assert_eq!(world.mate.state(), State::Exited);
}

#[test]
fn finish_agrees_at_once_when_it_has_nothing_to_do() {
    let mut world = World::up(OnShutdown::Finish);
    let effects = world.asked("s");
    assert_eq!((answer(&effects), works(&effects), stops(&effects)), (Some((request("s"), true)), Some(false), true));
    assert_eq!(world.mate.state(), State::Stopping);
    let ended = world.does(Event::EngineEnded(Ended { code: None, signal: Some(15) }));
    assert_eq!(exit(&ended), Some("shutdown"));
    assert!(matches!(mail(&ended)[..], [Body::Leave { .. }]));
}

#[test]
fn finish_agrees_when_the_last_task_has_ended_and_takes_no_more() {
    let mut world = World::up(OnShutdown::Finish);
    world.takes(1);
    world.takes(2);
    let effects = world.asked("s");
    assert_eq!((answer(&effects), works(&effects), stops(&effects)), (None, Some(false), false));
    assert_eq!(world.mate.state(), State::Busy);
    assert_eq!(answer(&world.leaves(1)), None);
    let last = world.leaves(2);
    assert_eq!((answer(&last), stops(&last)), (Some((request("s"), true)), true));
}

#[test]
fn now_agrees_whatever_it_is_at() {
    let mut world = World::up(OnShutdown::Now);
    world.takes(1);
    let effects = world.asked("s");
    assert_eq!((answer(&effects), stops(&effects)), (Some((request("s"), true)), true));
}

#[test]
fn ask_hands_the_question_to_the_program_and_its_word_decides() {
    let mut world = World::up(OnShutdown::Ask);
    let effects = world.asked("s");
    assert!(handed(&effects) && answer(&effects).is_none() && !stops(&effects));
    assert_eq!(world.mate.asked().map(|a| a.0), Some(request("s")));
    assert_eq!(world.mate.own_decision(request("other"), true, None).unwrap_err().0, 7);
    let refused = world.mate.own_decision(request("s"), false, Some("busy".to_owned())).unwrap();
    assert_eq!(answer(&refused), Some((request("s"), false)));
    assert!(!stops(&refused));
    assert_eq!(world.mate.own_decision(request("s"), true, None).unwrap_err().0, 7, "said already");
    world.takes(1);
    assert_eq!(world.mate.state(), State::Busy, "it goes on");

    world.asked("again");
    let agreed = world.mate.own_decision(request("again"), true, None).unwrap();
    assert_eq!((answer(&agreed), stops(&agreed)), (Some((request("again"), true)), true));
}

#[test]
fn a_task_that_ends_does_not_answer_for_the_program() {
    let mut world = World::up(OnShutdown::Ask);
    world.takes(1);
    world.asked("s");
    assert_eq!(answer(&world.leaves(1)), None);
}

#[test]
fn a_program_that_ends_while_it_is_asked_has_agreed() {
    for on_shutdown in [OnShutdown::Ask, OnShutdown::Finish] {
        let mut world = World::up(on_shutdown);
        world.takes(1);
        world.asked("s");
        let ended = world.does(Event::EngineEnded(code(1)));
        assert_eq!((answer(&ended), exit(&ended)), (Some((request("s"), true)), Some("shutdown")));
    }
}

#[test]
fn a_request_that_an_earlier_life_left_unread_is_not_its_own() {
    let mut world = World::starting(OnShutdown::Finish, false);
    assert!(world.asked("s").is_empty());
    world.does(Event::EngineReady);
    assert!(world.asked("s").is_empty());
    world.hears(Body::Welcome { spawn_id: spawn_id(), life: life() });
    assert_eq!(world.mate.state(), State::Idle);
}

#[test]
fn asked_again_while_it_goes_it_agrees_again() {
    let mut world = World::up(OnShutdown::Finish);
    world.asked("s");
    let again = world.asked("s2");
    assert_eq!((answer(&again), stops(&again)), (Some((request("s2"), true)), false));
}

#[test]
fn the_same_answer_is_the_same_message() {
    let id = |effects: &[Effect]| {
        effects.iter().find_map(|e| match e {
            Effect::Mail { id, .. } => Some(*id),
            _ => None,
        })
    };
    let mut world = World::up(OnShutdown::Ask);
    world.asked("s");
    let mut twin = World { mate: world.mate.clone(), now: world.now };
    let (yes, again) = (world.mate.own_decision(request("s"), true, None), twin.mate.clone());
    let yes = id(&yes.unwrap());
    assert_eq!(yes, id(&{ again }.own_decision(request("s"), true, None).unwrap()));
    assert_ne!(yes, id(&twin.mate.own_decision(request("s"), false, None).unwrap()));
}

#[test]
fn f40_a_plan_waits_for_its_decision() {
    let mut world = World::planning();
    assert_eq!(world.mate.state(), State::Planning);
    world.does(Event::PlanSubmitted(request("p")));
    assert_eq!(world.mate.state(), State::Waiting);
    world.later(3_600_000);
    assert_eq!(world.mate.state(), State::Waiting);
    let other = world.decided("another", true);
    assert!(handed(&other) && !stops(&other));
    assert_eq!(world.mate.state(), State::Waiting, "that was not its plan");
}

#[test]
fn f42_an_approval_is_handed_over_and_ends_the_planner_five_seconds_later() {
    let mut world = World::planning();
    world.does(Event::PlanSubmitted(request("p")));
    assert!(handed(&world.decided("p", true)));
    assert_eq!(world.mate.next_deadline(), Some(NOW.plus(Duration::from_secs(5))));
    assert!(!stops(&world.later(4999)));
    assert!(stops(&world.later(1)));
    let ended = world.does(Event::EngineEnded(Ended { code: None, signal: Some(15) }));
    assert_eq!(exit(&ended), Some("plan approved"));
}

#[test]
fn f42_a_planner_that_goes_by_itself_after_its_approval_makes_room_for_the_execution() {
    let mut world = World::planning();
    world.does(Event::PlanSubmitted(request("p")));
    world.decided("p", true);
    assert_eq!(exit(&world.does(Event::EngineEnded(code(0)))), Some("plan approved"));
}

#[test]
fn a_planner_that_is_gone_keeps_its_place_until_its_plan_is_decided() {
    for (approve, reason) in [(true, "plan approved"), (false, "exited")] {
        let mut world = World::planning();
        world.does(Event::PlanSubmitted(request("p")));
        assert_eq!(exit(&world.does(Event::EngineEnded(code(0)))), None);
        let decided = world.decided("p", approve);
        assert_eq!(exit(&decided), Some(reason));
        let ended = decided.iter().find_map(|e| match e {
            Effect::Exit { ended, .. } => Some(*ended),
            _ => None,
        });
        assert_eq!(ended, Some(code(i32::from(!approve))), "a rejected one is to plan again");
    }
}

#[test]
fn a_rejection_leaves_the_planner_at_work() {
    let mut world = World::planning();
    world.does(Event::PlanSubmitted(request("p")));
    assert!(handed(&world.decided("p", false)));
    assert_eq!(world.mate.state(), State::Planning);
    assert!(!stops(&world.later(60_000)));
}

#[test]
fn a_member_that_need_not_plan_goes_on_after_an_approval() {
    let mut world = World::up(OnShutdown::Finish);
    world.does(Event::PlanSubmitted(request("p")));
    assert!(handed(&world.decided("p", true)));
    assert_eq!((world.mate.next_deadline(), world.mate.state()), (None, State::Idle));
}

#[test]
fn f43_a_planner_that_waits_answers_a_shutdown_at_once() {
    let mut world = World::planning();
    world.does(Event::PlanSubmitted(request("p")));
    assert!(answer(&world.asked("s")).is_some());

    let mut world = World::planning();
    world.does(Event::PlanSubmitted(request("p")));
    world.does(Event::EngineEnded(code(0)));
    let effects = world.asked("s");
    assert_eq!((answer(&effects), exit(&effects)), (Some((request("s"), true)), Some("shutdown")));
}

#[test]
fn a_shutdown_after_an_approval_wins_over_the_execution() {
    let mut world = World::planning();
    world.does(Event::PlanSubmitted(request("p")));
    world.decided("p", true);
    world.asked("s");
    assert!(!stops(&world.later(5000)), "once is enough");
    assert_eq!(exit(&world.does(Event::EngineEnded(code(0)))), Some("shutdown"));
}

#[test]
fn term_is_a_stop_and_a_lost_terminal_a_closed_pane() {
    for (event, reason) in [(Event::Terminated, "stopped"), (Event::HungUp, "pane closed")] {
        let mut world = World::up(OnShutdown::Ask);
        let effects = world.does(event.clone());
        assert!(stops(&effects) && works(&effects) == Some(false));
        assert!(world.does(Event::Terminated).is_empty(), "the first reason stays");
        assert_eq!(exit(&world.does(Event::EngineEnded(code(0)))), Some(reason));

        let mut world = World::starting(OnShutdown::Finish, false);
        assert!(stops(&world.does(event)), "also before it is ready");
    }
}

#[test]
fn what_comes_after_its_end_changes_nothing() {
    let mut world = World::planning();
    world.does(Event::PlanSubmitted(request("p")));
    world.does(Event::EngineEnded(code(0)));
    assert_eq!(exit(&world.does(Event::Terminated)), Some("stopped"));
    assert_eq!(exit(&world.decided("p", true)), None);
    assert_eq!(exit(&world.does(Event::EngineEnded(code(0)))), None);
    assert_eq!(exit(&world.does(Event::HungUp)), None);
}

#[test]
fn a_ping_is_answered_in_any_state() {
    let mut world = World::starting(OnShutdown::Finish, false);
    for _ in 0..2 {
        let pong = world.hears(Body::Ping { nonce: "n".to_owned() });
        assert_eq!(mail(&pong), [Body::Pong { nonce: "n".to_owned() }]);
        world.does(Event::EngineReady);
    }
}

#[test]
fn one_that_is_ended_before_its_welcome_was_never_a_member() {
    let mut world = World::starting(OnShutdown::Finish, false);
    world.does(Event::EngineReady);
    world.does(Event::HungUp);
    assert_eq!(world.mate.state(), State::Stopping);
    assert!(!world.mate.joined(), "its program's verbs are not carried out");
    let mut world = World::up(OnShutdown::Finish);
    world.does(Event::HungUp);
    assert!(world.mate.joined(), "a member that stops still has a word");
}
