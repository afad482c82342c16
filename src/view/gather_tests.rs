//! A team's state from folders made by hand.

use super::*;
use crate::act::testing::{Made, held, member, name, task};
use crate::model::id::{MessageId, TaskId};
use crate::model::message::{Body, Message};
use crate::model::name::AgentId;
use crate::model::spec::EngineKind::{Command, Worker};
use crate::model::task::TaskStatus;
use crate::store::document::{Sync, replace_json};
use crate::store::{Durability, Journal, mailbox};

fn state_of(made: &mut Made, who: &str) -> String {
    let status = status(&mut made.desk).unwrap();
    status.members.into_iter().find(|m| m.name == name(who)).unwrap().state
}

fn exit(life: Option<crate::model::id::Life>, code: Option<i32>, why: &str) -> Exit {
    Exit { life, code, signal: None, reason: why.to_owned(), at: clock::now() }
}

#[test]
fn a_living_member_is_what_its_own_life_says() {
    let a = member("a", Worker);
    let life = a.life.unwrap();
    let mut made = Made::team(std::slice::from_ref(&a));
    made.status("a", life, State::Busy);
    assert_eq!(state_of(&mut made, "a"), "unknown", "nobody holds the lease, and no record says how it ended");

    let _lease = made.lease("a", life);
    made.tasks(&[held(1, &a), task(2, TaskStatus::Pending)]);
    let look = status(&mut made.desk).unwrap();
    let view = &look.members[0];
    assert_eq!((view.state.as_str(), view.alive, view.task), ("busy", Alive::Yes, Some(TaskId(1))));
    assert_eq!(view.pid, Some(std::process::id()));
    assert_eq!(look.tasks, TaskCounts { pending: 1, in_progress: 1, completed: 0, failed: 0 });

    made.status("a", life, State::Failed);
    assert_eq!(state_of(&mut made, "a"), "stopping", "it holds its lease and has left no record");

    made.status("a", clock::new_life(), State::Idle);
    assert_eq!(state_of(&mut made, "a"), "starting", "what another life said does not count");
}

#[test]
fn a_member_is_not_gone_before_its_lease_is_nor_between_planning_and_execution() {
    let a = member("a", Command);
    let life = a.life.unwrap();
    let mut made = Made::team(std::slice::from_ref(&a));
    made.status("a", life, State::Exited);
    let lease = made.lease("a", life);
    assert_eq!(state_of(&mut made, "a"), "stopping");
    drop(lease);
    let file = made.desk.dir.member(&name("a")).exit();
    replace_json(&file, &exit(a.life, Some(0), reason::PLAN_APPROVED), Sync::Fast).unwrap();
    assert_eq!(state_of(&mut made, "a"), "starting", "its execution follows");
}

#[test]
fn an_ended_member_is_shown_by_how_it_ended() {
    let ended = |text: &str, code, why: &str| {
        let mut out = member(text, Command);
        out.is_active = false;
        out.exit = Some(exit(out.life, code, why));
        out
    };
    let members = [
        ended("well", Some(0), "exited"),
        ended("badly", Some(3), "exited"),
        ended("asked", Some(143), reason::SHUTDOWN),
        ended("shot", None, reason::KILLED),
    ];
    let mut made = Made::team(&members);
    for (who, state) in [("well", "exited"), ("badly", "failed"), ("asked", "exited"), ("shot", "failed")] {
        assert_eq!(state_of(&mut made, who), state, "{who}");
    }
}

#[test]
fn a_life_that_has_just_ended_is_shown_before_the_lead_has_seen_it() {
    let a = member("a", Command);
    let mut made = Made::team(std::slice::from_ref(&a));
    let file = made.desk.dir.member(&a.name).exit();
    replace_json(&file, &exit(Some(clock::new_life()), Some(1), "exited"), Sync::Fast).unwrap();
    assert_eq!(state_of(&mut made, "a"), "unknown", "that was an earlier life");
    replace_json(&file, &exit(a.life, Some(1), "exited"), Sync::Fast).unwrap();
    assert_eq!(state_of(&mut made, "a"), "failed");
}

#[test]
fn control_mail_that_lies_makes_a_member_unresponsive() {
    let a = member("a", Worker);
    let life = a.life.unwrap();
    let mut made = Made::team(std::slice::from_ref(&a));
    let _lease = made.lease("a", life);
    made.status("a", life, State::Idle);
    let dir = made.desk.dir.member(&a.name);
    let from = AgentId::new(Name::lead(), made.desk.name.clone());
    let body = Body::Ping { nonce: "x".to_owned() };
    let message = Message::new(clock::new_message_id(), from, a.name.clone(), &body);
    mailbox::deliver(&dir, &message, Lane::Control, Durability::Fast, false).unwrap();
    assert_eq!(state_of(&mut made, "a"), "idle");
    // The same line, written six seconds ago.
    let line = std::fs::read_to_string(dir.control()).unwrap();
    let ts = serde_json::from_str::<serde_json::Value>(&line).unwrap()["ts"].as_str().unwrap().to_owned();
    let earlier = Timestamp(ts.parse::<Timestamp>().unwrap().0 - 6_000_000);
    std::fs::write(dir.control(), line.replace(&ts, &earlier.to_string())).unwrap();
    assert_eq!(state_of(&mut made, "a"), "unresponsive");

    let mut control = crate::store::intake::Intake::open(&dir, Lane::Control).unwrap();
    control.poll().unwrap();
    control.begin(&[message.id]).unwrap();
    control.finish().unwrap();
    assert_eq!(state_of(&mut made, "a"), "idle");
}

#[test]
fn unread_mail_counts_what_was_not_read_also_ahead() {
    let mut made = Made::team(&[member("a", Command)]);
    let unread = |made: &mut Made| {
        let look = status(&mut made.desk).unwrap();
        (look.members[0].unread, look.lead.unread)
    };
    assert_eq!(unread(&mut made), (0, 0));
    let ids: Vec<MessageId> = (0..3).map(|n| made.mail("operator", "a", &n.to_string())).collect();
    made.mail("a", "team-lead", "hello");
    assert_eq!(unread(&mut made), (3, 1));
    let dir = made.desk.dir.member(&name("a"));
    crate::act::inbox::ack(&dir, &ids[1..2], None).unwrap();
    assert_eq!(unread(&mut made), (2, 1));
    crate::act::inbox::ack(&dir, &[], Some(3)).unwrap();
    mailbox::close(&dir, "ended").unwrap();
    assert_eq!(unread(&mut made), (0, 1));
}

#[test]
fn a_place_that_is_kept_shows_as_starting_and_open_requests_are_counted() {
    let mut made = Made::team(&[]);
    made.roster(|team| team.reserved.push(member("new", Worker)));
    let request = serde_json::json!({
        "type": "request", "event": "opened",
        "request": {
            "id": clock::new_request_id(), "kind": "plan", "from": "new@t", "member": "new", "state": "open",
            "created_at": clock::now(),
        },
    });
    Journal::open(made.desk.dir.requests()).append(&request, Durability::Fast).unwrap();
    let look = status(&mut made.desk).unwrap();
    assert_eq!(look.members[0].state, "starting");
    assert_eq!((look.requests, look.open_requests.len()), (1, 1));
    assert!(!look.lead.alive);

    let _lease = made.lease("team-lead", clock::new_life());
    assert_eq!(status(&mut made.desk).unwrap().lead.pid, Some(std::process::id()));
}
