//! F45: permissions are seen, end by themselves as a denial, and die with whoever asked.

use super::*;
use crate::model::message::PermissionDecision;
use crate::model::request::RequestKind;
use crate::model::spec::Policy;

impl World {
    fn asks(&mut self, who: &str, text: &str, scope: Option<&str>) -> RequestId {
        let request_id = RequestId::derived(&[who, text]);
        let body = Body::PermissionRequest {
            request_id,
            life: self.life(who),
            tool: "shell".to_owned(),
            input: json!({"command": text}),
            reason: Some("for the tests".to_owned()),
            scope: scope.map(str::to_owned),
            expires: self.now.plus(Duration::from_secs(60)),
        };
        self.mail(who, &body);
        request_id
    }

    fn allows_always(&mut self, request_id: RequestId) -> Option<u8> {
        let always = Body::Decide { request_id, approve: true, hash: None, feedback: None, always: true };
        let asked = self.verb(&always);
        self.code(asked)
    }

    fn heard(&self, who: &str) -> Option<(PermissionDecision, Option<String>)> {
        self.told(who).into_iter().find_map(|body| match body {
            Body::PermissionResponse { decision, reason, .. } => Some((decision, reason)),
            _ => None,
        })
    }
}

#[test]
fn f45_a_permission_is_listed_and_expires_to_no() {
    let mut world = World::up(&["a"]);
    let id = world.asks("a", "ls", None);
    let open = world.lead.ledger.open_for(&name("a"), RequestKind::Permission).unwrap();
    assert_eq!((open.id, open.summary.as_str()), (id, "shell: for the tests"));
    assert!(world.logged().contains(&"request_opened"));
    world.later(59_999);
    assert_eq!(world.state(id), RequestState::Open);
    world.later(1);
    assert_eq!(world.state(id), RequestState::Expired);
    assert_eq!(world.heard("a"), Some((PermissionDecision::Deny, None)));
}

#[test]
fn a_word_for_always_answers_the_next_one_whoever_asks() {
    let mut world = World::up(&["a", "b"]);
    let first = world.asks("a", "git status", Some("git"));
    assert_eq!(world.allows_always(first), Some(0));
    assert_eq!(world.heard("a").map(|h| h.0), Some(PermissionDecision::AllowAlways));
    let second = world.asks("b", "git push", Some("git"));
    assert_eq!(world.state(second), RequestState::Approved);
    let (decision, why) = world.heard("b").unwrap();
    assert_eq!(decision, PermissionDecision::AllowOnce);
    assert!(why.unwrap().contains(&first.to_string()));
    let third = world.asks("b", "rm", None);
    assert_eq!(world.state(third), RequestState::Open);
    // Another lead remembers it too.
    world.lead.ledger = world.replayed();
    let fourth = world.asks("b", "git log", Some("git"));
    assert_eq!(world.state(fourth), RequestState::Approved);
}

#[test]
fn what_the_spec_says_wins_over_an_earlier_word() {
    let mut world = World::up(&["a"]);
    let first = world.asks("a", "ls", None);
    world.allows_always(first);
    world.lead.team.settings.lead.permissions = Policy::Reject;
    let input = RequestId::derived(&["a", "again"]);
    let body = Body::PermissionRequest {
        request_id: input,
        life: world.life("a"),
        tool: "shell".to_owned(),
        input: json!({"command": "ls"}),
        reason: None,
        scope: None,
        expires: world.now.plus(Duration::from_secs(60)),
    };
    world.mail("a", &body);
    assert_eq!(world.state(input), RequestState::Rejected);
}

#[test]
fn the_asker_takes_its_own_back_and_nobody_elses() {
    let mut world = World::up(&["a", "b"]);
    let id = world.asks("a", "ls", None);
    let (mine, theirs) = (world.life("a"), world.life("b"));
    world.mail("b", &Body::Withdraw { request_id: id, life: theirs });
    world.mail("b", &Body::Withdraw { request_id: id, life: mine });
    assert_eq!(world.state(id), RequestState::Open);
    world.mail("a", &Body::Withdraw { request_id: id, life: mine });
    assert_eq!(world.state(id), RequestState::Withdrawn);
    let late = world.decides("operator", id, true);
    assert_eq!(world.code(late), Some(7));
    let plan = world.submits("a", "p");
    world.mail("a", &Body::Withdraw { request_id: plan, life: mine });
    assert_eq!(world.state(plan), RequestState::Open, "a plan stays until it is decided");
}

#[test]
fn a_permission_dies_with_the_life_that_asked() {
    let mut world = World::up_with(vec![restarting("a", Restart::Always)]);
    let id = world.asks("a", "ls", None);
    world.ends("a", "killed", None);
    assert_eq!(world.state(id), RequestState::Withdrawn);
    assert!(world.logged().contains(&"request_withdrawn"));
}

#[test]
fn members_decide_no_permission_not_even_their_own() {
    let mut world = World::up(&["a", "b"]);
    let id = world.asks("a", "ls", None);
    for who in ["a", "b"] {
        let tried = world.decides(who, id, true);
        assert_eq!(world.code(tried), Some(4), "{who}");
    }
    assert_eq!(world.state(id), RequestState::Open);
}
