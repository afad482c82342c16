//! Conditions of `wait` on teams made by hand.

use super::*;
use crate::act::testing::{Made, held, member, name, task};
use crate::model::spec::EngineKind::{Command, Worker};
use crate::model::team::State;

fn holds(made: &mut Made, condition: &str) -> bool {
    look(made, condition).unwrap().is_some()
}

fn look(made: &mut Made, condition: &str) -> Result<Option<Vec<Found>>, CommandError> {
    let mut client = Client::open(&made.home, &made.desk.name, None)?;
    Asked::new(condition.parse().unwrap(), &mut client, None)?.look(&mut made.desk)
}

#[test]
fn idle_is_when_nobody_works_and_nothing_waits_to_be_taken_up() {
    let w = member("w", Worker);
    let life = w.life.unwrap();
    let mut made = Made::team(std::slice::from_ref(&w));
    let _lease = made.lease("w", life);
    for state in [State::Starting, State::Busy, State::Planning, State::Stopping] {
        made.status("w", life, state);
        assert!(!holds(&mut made, "idle"), "{state:?}");
    }
    made.status("w", life, State::Idle);
    assert!(holds(&mut made, "idle"));

    let run = crate::model::task::Task { run: Some(vec!["true".to_owned()]), ..task(1, TaskStatus::Pending) };
    made.tasks(&[run]);
    assert!(!holds(&mut made, "idle"), "a worker is about to claim it");
    made.tasks(&[held(1, &w)]);
    assert!(!holds(&mut made, "idle"));
    made.tasks(&[task(1, TaskStatus::Completed)]);
    assert!(holds(&mut made, "idle"));

    made.mail("operator", "w", "hello");
    assert!(!holds(&mut made, "idle"), "mail is handed to a worker at once");
}

#[test]
fn a_program_that_reads_by_itself_may_leave_its_mail() {
    let c = member("c", Command);
    let mut made = Made::team(std::slice::from_ref(&c));
    let _lease = made.lease("c", c.life.unwrap());
    made.status("c", c.life.unwrap(), State::Idle);
    made.mail("operator", "c", "hello");
    assert!(holds(&mut made, "idle"));
}

#[test]
fn members_and_tasks_are_waited_for_in_a_state_they_can_come_to() {
    let c = member("c", Command);
    let mut made = Made::team(std::slice::from_ref(&c));
    let _lease = made.lease("c", c.life.unwrap());
    made.status("c", c.life.unwrap(), State::Idle);
    made.tasks(&[task(1, TaskStatus::Pending), task(2, TaskStatus::Failed)]);
    assert!(holds(&mut made, "member:c=idle"));
    assert!(!holds(&mut made, "member:c=exited"));
    assert!(!holds(&mut made, "task:1=completed"));
    assert!(holds(&mut made, "task:1=pending"));
    assert!(holds(&mut made, "task:2=failed"));
    assert_eq!(look(&mut made, "task:2=completed").unwrap_err().kind.code(), 1, "it never will");
    assert_eq!(look(&mut made, "task:9=completed").unwrap_err().kind.code(), 3);
    assert_eq!(look(&mut made, "member:d=idle").unwrap_err().kind.code(), 3);
}

#[test]
fn mail_is_waited_for_by_its_sender_and_until_it_is_read() {
    let mut made = Made::team(&[member("a", Command), member("b", Command)]);
    assert!(!holds(&mut made, "message:a"));
    let id = made.mail("a", "team-lead", "for the operator");
    assert!(!holds(&mut made, "message:b"));
    let found = look(&mut made, "message:a").unwrap().unwrap();
    assert!(matches!(found.as_slice(), [Found::Mail(view)] if view.message.id == id && view.verified && !view.read));
    crate::act::inbox::ack(&made.desk.dir.member(&name("team-lead")), &[id], None).unwrap();
    assert!(!holds(&mut made, "message:a"));
}

#[test]
fn a_team_that_is_gone_ends_the_wait() {
    let mut made = Made::team(&[]);
    let mut client = Client::open(&made.home, &made.desk.name, None).unwrap();
    let mut asked = Asked::new(Condition::Request, &mut client, None).unwrap();
    assert_eq!(asked.look(&mut made.desk).unwrap(), None);
    made.home.bury(&made.desk.name).unwrap();
    assert_eq!(asked.look(&mut made.desk).unwrap_err().kind.code(), 3);
}
