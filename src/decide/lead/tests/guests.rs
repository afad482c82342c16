//! Members whose program somebody else starts.

use super::*;
use crate::model::spec::EngineKind;

fn guest() -> MemberSpec {
    with("g", |spec| spec.engine = EngineKind::Mcp)
}

#[test]
fn a_guest_is_a_member_at_once_and_its_program_comes_and_goes() {
    let mut world = World::up(&["a"]);
    let joined = world.verb(&Body::SpawnRequest { spawn_id: spawn_id("g"), spec: Box::new(guest()) });
    assert_eq!(world.code(joined), Some(0));
    assert!(world.is_member("g") && world.launched().is_empty());
    assert_eq!(world.phase("g"), Some(Phase::Away));
    for _ in 0..3 {
        let life = world.life("g");
        world.hello("g");
        assert_eq!(world.phase("g"), Some(Phase::Up));
        assert!(world.last.iter().any(|e| matches!(e, Effect::Watch { life: watched, .. } if *watched == life)));
        assert!(world.told("g").iter().any(|body| matches!(body, Body::Welcome { .. })));
        // However it went, the next may come.
        world.ends("g", "stopped", Some(0));
        assert_eq!(world.phase("g"), Some(Phase::Away));
        assert!(world.life("g") != life && world.member("g").pid.is_none() && world.member("g").is_active);
    }
    assert!(world.ending().is_empty());
    let again = world.restart("g");
    assert_eq!(world.code(again), Some(0), "there is a place already");
    // Late: nobody waits for that life any more.
    let late = world.life("g");
    let stopped = world.stop("g");
    assert_eq!((world.code(stopped), world.phase("g")), (Some(0), Some(Phase::Out)));
    world.hello_of("g", late);
    assert_eq!(world.ending(), [("g".to_owned(), late)]);
}

#[test]
fn a_shutdown_of_a_guest_is_for_good_and_a_new_lead_keeps_its_place() {
    let mut world = World::up(&["a"]);
    world.verb(&Body::SpawnRequest { spawn_id: spawn_id("g"), spec: Box::new(guest()) });
    let life = world.life("g");
    world.new_lead(&["a"]);
    assert_eq!((world.phase("g"), world.life("g")), (Some(Phase::Away), life));
    world.hello("g");
    world.new_lead(&["a", "g"]);
    assert_eq!((world.phase("g"), world.life("g")), (Some(Phase::Up), life));
    let asked = world.shutdown(Some("g"));
    world.answers("g", true, None);
    world.ends("g", "shutdown", Some(0));
    assert_eq!((world.phase("g"), world.code(asked)), (Some(Phase::Out), Some(0)));
    world.restart("g");
    assert_eq!(world.phase("g"), Some(Phase::Away));
    let everyone = world.shutdown(None);
    world.answers("a", true, None);
    world.ends("a", "shutdown", Some(0));
    assert_eq!((world.phase("g"), world.code(everyone)), (Some(Phase::Out), Some(0)));
}
