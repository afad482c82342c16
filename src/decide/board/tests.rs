use std::time::Duration;

use super::*;
use crate::model::task::{NewTask, TaskResult};
use crate::model::time::{Span, Timestamp};

pub(super) fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

pub(super) fn life(n: u64) -> Life {
    Life::derived(&[&n.to_string()])
}

pub(super) fn member(text: &str, n: u64) -> Caller<'static> {
    let life = Some(life(n));
    Caller { name: name(text), life, authority: Authority::Member, capabilities: &[], claim_limit: 1 }
}

pub(super) fn operator() -> Caller<'static> {
    let name = Name::operator();
    Caller { name, life: None, authority: Authority::Operator, capabilities: &[], claim_limit: 1 }
}

pub(super) fn task(subject: &str, blocked_by: &[u64]) -> NewTask {
    let blocked_by = blocked_by.iter().copied().map(TaskId).collect();
    NewTask { subject: subject.into(), blocked_by, ..NewTask::default() }
}

pub(super) const T0: Timestamp = Timestamp(0);

pub(super) fn board(tasks: Vec<NewTask>) -> Board {
    let mut board = Board::default();
    board.apply(board.add_many(&operator(), tasks, T0).unwrap().record);
    board
}

/// Applies what was decided, and gives its code back otherwise.
pub(super) fn act(board: &mut Board, decided: Result<Changed, BoardError>) -> u8 {
    match decided {
        Ok(changed) => {
            board.apply(changed.record);
            0
        }
        Err(e) => e.exit_code(),
    }
}

pub(super) fn status(board: &Board, id: u64) -> TaskStatus {
    board.get(TaskId(id)).unwrap().status
}

pub(super) fn error(board: &Board, id: u64) -> String {
    board.get(TaskId(id)).unwrap().result.clone().and_then(|r| r.error).unwrap_or_default()
}

pub(super) fn ok() -> TaskResult {
    TaskResult::default()
}

#[test]
fn a_chain_is_claimed_in_order_and_only_when_ready() {
    let mut b = board(vec![task("a", &[]), task("b", &[1]), task("c", &[1, 2])]);
    let (x, y) = (member("x", 1), member("y", 2));
    let refused = b.claim(&y, Some(TaskId(2)), T0).unwrap_err();
    assert_eq!((refused.exit_code(), refused.to_string().as_str()), (7, "task 2 waits for 1 (pending)"));
    let won = b.claim(&x, None, T0).unwrap();
    assert_eq!((won.tasks[0].id, won.tasks[0].epoch, won.tasks[0].attempts), (TaskId(1), 1, 1));
    assert_eq!(won.event(), Some(TaskEvent::Claimed));
    b.apply(won.record);
    assert_eq!(
        b.claim(&y, None, T0).unwrap_err().to_string(),
        "nothing to claim for y: of 2 pending, 2 wait for others and 0 are for somebody else"
    );
    assert_eq!(
        b.claim(&y, Some(TaskId(1)), T0).unwrap_err().to_string(),
        "cannot claim task 1: it is in progress with x (epoch 1)"
    );
    assert_eq!(b.claim(&x, None, T0).unwrap_err().exit_code(), 7, "its limit is one");
    let done = b.done(&x, TaskId(1), Some(1), ok(), T0);
    assert_eq!(act(&mut b, done), 0);
    assert_eq!(b.claimable_by(&y), [TaskId(2)]);
    assert_eq!(b.get(TaskId(1)).unwrap().blocks, [TaskId(2), TaskId(3)]);
}

#[test]
fn owner_capability_limit_and_life_are_checked() {
    let rust = ["rust".to_owned()];
    let mut b = board(vec![
        NewTask { requires: vec!["rust".into()], ..task("needs rust", &[]) },
        NewTask { owner: Some(name("x")), ..task("for x", &[]) },
        task("for all", &[]),
    ]);
    let (x, y) = (member("x", 1), member("y", 2));
    let z = Caller { capabilities: &rust, claim_limit: 2, ..member("z", 3) };
    assert_eq!(
        b.claim(&y, Some(TaskId(1)), T0).unwrap_err().to_string(),
        "task 1 requires `rust`, which y does not have"
    );
    assert_eq!(b.claim(&y, Some(TaskId(2)), T0).unwrap_err().exit_code(), 4);
    assert_eq!(b.claim(&operator(), None, T0).unwrap_err().exit_code(), 4);
    assert_eq!(b.claim(&y, Some(TaskId(9)), T0).unwrap_err().to_string(), "no task 9; there are 1-3");
    assert_eq!(b.claimable_by(&x), [TaskId(2), TaskId(3)]);
    assert_eq!(b.claimable_by(&y), [TaskId(3)]);
    assert_eq!(b.claimable_by(&z), [TaskId(1), TaskId(3)]);
    for _ in 0..2 {
        let claim = b.claim(&z, None, T0);
        assert_eq!(act(&mut b, claim), 0);
    }
    assert_eq!(
        b.claim(&z, Some(TaskId(2)), T0).unwrap_err().exit_code(),
        4,
        "whose it is comes before how many one has"
    );
    assert_eq!(b.held_by(&name("z")).count(), 2);
}

#[test]
fn a_late_word_is_refused_and_names_who_has_it() {
    let mut b = board(vec![NewTask { retries: 5, ..task("a", &[]) }]);
    let (x1, x2, y) = (member("x", 1), member("x", 2), member("y", 3));
    let claim = b.claim(&x1, None, T0);
    act(&mut b, claim);
    let returned = b.return_life(&name("x"), life(1), &Name::lead(), T0).unwrap();
    assert_eq!(returned.event(), Some(TaskEvent::Returned));
    b.apply(returned.record);
    let back = b.get(TaskId(1)).unwrap();
    assert_eq!((back.status, back.epoch, back.attempts, &back.owner), (TaskStatus::Pending, 2, 1, &None));
    assert_eq!(b.done(&x1, TaskId(1), Some(1), ok(), T0).unwrap_err().exit_code(), 7);
    assert_eq!(b.done(&x1, TaskId(1), None, ok(), T0).unwrap_err().exit_code(), 7);
    let claim = b.claim(&y, None, T0);
    act(&mut b, claim);
    for late in [b.done(&x1, TaskId(1), Some(1), ok(), T0), b.fail(&x2, TaskId(1), Some(3), ok(), T0)] {
        let said = late.unwrap_err().to_string();
        assert_eq!(said, "task 1 is not x's any more: it is in progress with y (epoch 3) at epoch 3; drop the work");
    }
    assert!(b.return_life(&name("x"), life(1), &Name::lead(), T0).is_none());
    let other_epoch = b.done(&y, TaskId(1), Some(1), ok(), T0);
    assert_eq!(other_epoch.unwrap_err().exit_code(), 7);
    let done = b.done(&y, TaskId(1), Some(3), ok(), T0);
    assert_eq!(act(&mut b, done), 0);
    assert_eq!(b.done(&y, TaskId(1), Some(3), ok(), T0).unwrap_err().exit_code(), 7, "once");
}

#[test]
fn a_failure_is_retried_and_then_fails_what_waits() {
    let mut b = board(vec![NewTask { retries: 1, ..task("a", &[]) }, task("b", &[1]), task("c", &[2]), task("d", &[])]);
    let x = member("x", 1);
    for (event, after) in [(TaskEvent::Retried, TaskStatus::Pending), (TaskEvent::Failed, TaskStatus::Failed)] {
        let claim = b.claim(&x, Some(TaskId(1)), T0);
        act(&mut b, claim);
        let failed = b.fail(&x, TaskId(1), None, ok(), T0).unwrap();
        assert_eq!(failed.event(), Some(event));
        b.apply(failed.record);
        assert_eq!(status(&b, 1), after);
    }
    assert_eq!((error(&b, 2).as_str(), error(&b, 3).as_str()), ("blocked by 1: failed", "blocked by 1: failed"));
    assert_eq!(
        (status(&b, 2), status(&b, 3), status(&b, 4)),
        (TaskStatus::Failed, TaskStatus::Failed, TaskStatus::Pending)
    );
    // What is added behind a failed task fails at once.
    let add = b.add(&operator(), task("late", &[3]), T0);
    act(&mut b, add);
    assert_eq!((status(&b, 5), error(&b, 5).as_str()), (TaskStatus::Failed, "blocked by 3: failed"));
}

#[test]
fn lost_lives_are_bounded() {
    let mut b = board(vec![task("a", &[]), task("b", &[1])]);
    for n in 1..=LOST_LIVES.into() {
        assert_eq!(status(&b, 1), TaskStatus::Pending);
        let claim = b.claim(&member("x", n), None, T0);
        assert_eq!(act(&mut b, claim), 0);
        b.apply(b.return_life(&name("x"), life(n), &Name::lead(), T0).unwrap().record);
    }
    assert_eq!((status(&b, 1), status(&b, 2)), (TaskStatus::Failed, TaskStatus::Failed));
    assert_eq!(error(&b, 1), "x ended while it had the task, at attempt 3");
}

#[test]
fn release_gives_the_attempt_back_and_an_assigned_task_returns_to_its_owner() {
    let mut b = board(vec![NewTask { owner: Some(name("x")), ..task("a", &[]) }, task("b", &[])]);
    let (x, y) = (member("x", 1), member("y", 2));
    let claim = b.claim(&x, None, T0);
    act(&mut b, claim);
    assert_eq!(b.release(&y, TaskId(1), None, T0).unwrap_err().exit_code(), 7);
    assert_eq!(b.assign(&operator(), TaskId(1), Some(name("y")), T0).unwrap_err().exit_code(), 7);
    let release = b.release(&x, TaskId(1), Some(1), T0);
    act(&mut b, release);
    let t = b.get(TaskId(1)).unwrap();
    assert_eq!((t.attempts, t.epoch, t.owner.as_ref()), (0, 1, Some(&name("x"))));
    assert_eq!(b.assign(&x, TaskId(1), Some(name("y")), T0).unwrap_err().exit_code(), 4);
    let assign = b.assign(&operator(), TaskId(1), Some(name("y")), T0);
    act(&mut b, assign);
    assert_eq!((b.claimable_by(&x), b.claimable_by(&y)), (vec![TaskId(2)], vec![TaskId(1), TaskId(2)]));
    let open = b.assign(&operator(), TaskId(1), None, T0);
    act(&mut b, open);
    assert_eq!(b.claimable_by(&x), [TaskId(1), TaskId(2)]);
}

#[test]
fn the_operator_ends_what_others_hold() {
    let mut b = board(vec![task("a", &[]), task("b", &[]), task("c", &[])]);
    for n in [1, 2] {
        let claim = b.claim(&Caller { claim_limit: 2, ..member("x", 1) }, Some(TaskId(n)), T0);
        act(&mut b, claim);
    }
    for decided in [
        b.done(&operator(), TaskId(1), None, ok(), T0),
        b.release(&operator(), TaskId(2), None, T0),
        b.done(&operator(), TaskId(3), None, ok(), T0),
    ] {
        assert_eq!(act(&mut b, decided), 0);
    }
    assert_eq!((b.get(TaskId(1)).unwrap().epoch, b.get(TaskId(2)).unwrap().epoch), (2, 2));
    assert_eq!(b.done(&member("x", 1), TaskId(1), Some(1), ok(), T0).unwrap_err().exit_code(), 7);
    assert_eq!(b.get(TaskId(3)).unwrap().owner, Some(Name::operator()));
    assert_eq!(
        b.done(&operator(), TaskId(3), None, ok(), T0).unwrap_err().to_string(),
        "cannot complete task 3: it is completed"
    );
}

#[test]
fn deletion_fails_waiters_but_not_what_was_let_through() {
    let mut b = board(vec![task("a", &[]), task("b", &[1]), task("c", &[]), task("d", &[3])]);
    let (x, y) = (member("x", 1), member("y", 2));
    let add = b.add(&y, task("y's", &[]), T0);
    act(&mut b, add);
    assert_eq!(b.rm(&x, TaskId(5), T0).unwrap_err().exit_code(), 4);
    for decided in [b.rm(&y, TaskId(5), T0), b.done(&operator(), TaskId(1), None, ok(), T0)] {
        assert_eq!(act(&mut b, decided), 0);
    }
    let claim = b.claim(&x, Some(TaskId(3)), T0);
    act(&mut b, claim);
    for id in [1, 3] {
        let rm = b.rm(&operator(), TaskId(id), T0);
        assert_eq!(act(&mut b, rm), 0);
    }
    assert_eq!((status(&b, 2), b.claimable_by(&y)), (TaskStatus::Pending, vec![TaskId(2)]));
    assert_eq!((status(&b, 4), error(&b, 4).as_str()), (TaskStatus::Failed, "blocked by 3: deleted"));
    assert_eq!(b.done(&x, TaskId(3), Some(1), ok(), T0).unwrap_err().exit_code(), 7);
    assert_eq!(b.rm(&operator(), TaskId(3), T0).unwrap_err().exit_code(), 7);
    assert_eq!(b.next_id(), TaskId(6));
}

#[test]
fn a_maker_cannot_delete_what_runs() {
    let mut b = Board::default();
    let add = b.add(&member("y", 2), task("y's", &[]), T0);
    act(&mut b, add);
    let claim = b.claim(&member("x", 1), None, T0);
    act(&mut b, claim);
    assert_eq!(b.rm(&member("y", 2), TaskId(1), T0).unwrap_err().exit_code(), 7);
}

#[test]
fn time_limits() {
    let limit = Some(Span::secs(10));
    let mut b = board(vec![NewTask { timeout: limit, ..task("a", &[]) }, task("b", &[])]);
    assert_eq!(b.next_deadline(Duration::ZERO), None);
    for (who, id) in [("x", 1), ("y", 2)] {
        let claim = b.claim(&member(who, id), None, T0);
        act(&mut b, claim);
    }
    let grace = Duration::from_secs(5);
    assert_eq!(b.next_deadline(grace), Some(Timestamp(15_000_000)));
    assert!(b.expire(Timestamp(14_999_999), grace).is_empty());
    assert_eq!(b.expire(Timestamp(15_000_000), grace), [TaskId(1)]);
}

#[test]
fn the_outlook_knows_what_nobody_can_take() {
    let rust = ["rust".to_owned()];
    let mut b = board(vec![
        task("a", &[]),
        NewTask { requires: vec!["rust".into()], ..task("b", &[1]) },
        task("c", &[2]),
        NewTask { owner: Some(name("gone")), ..task("d", &[]) },
    ]);
    let (x, y) = (name("x"), name("y"));
    let with_rust = b.outlook(&[(x.clone(), &[]), (y.clone(), &rust)]);
    assert_eq!(with_rust.stuck, [(TaskId(4), "is kept for gone, who is gone".to_owned())]);
    let claim = b.claim(&member("x", 1), None, T0);
    act(&mut b, claim);
    assert!(!b.outlook(&[]).done, "something is in progress");
    let done = b.done(&member("x", 1), TaskId(1), None, ok(), T0);
    act(&mut b, done);
    assert!(!b.outlook(&[(y, &rust)]).done);
    let without = b.outlook(&[(x, &[])]);
    assert!(without.done && !without.all_completed());
    let why: Vec<&str> = without.stuck.iter().map(|(_, why)| why.as_str()).collect();
    assert_eq!(why, ["nobody has `rust`", "waits for 2, which nobody can take", "is kept for gone, who is gone"]);
    assert_eq!((without.pending, without.in_progress, without.completed, without.failed), (3, 0, 1, 0));
    assert!(Board::default().outlook(&[]).done);
}

#[test]
fn records_read_as_they_are_documented() {
    let b = board(vec![task("a", &[])]);
    let record = b.claim(&member("x", 1), None, T0).unwrap().record;
    let mut line = serde_json::to_value(&record).unwrap();
    assert_eq!((&line["type"], &line["event"], &line["by"]), (&"task".into(), &"claimed".into(), &"x".into()));
    assert_eq!((&line["tasks"][0]["id"], &line["tasks"][0]["status"]), (&"1".into(), &"in_progress".into()));
    // The journal's own fields stand in the same object.
    line["seq"] = 7.into();
    assert_eq!(serde_json::from_value::<BoardRecord>(line).unwrap(), record);
    let text = serde_json::to_string(&b.snapshot()).unwrap();
    assert!(text.starts_with(r#"{"type":"snapshot","next_id":2,"tasks":[{"id":"1""#), "{text}");
    assert_eq!(serde_json::from_str::<BoardRecord>(&text).unwrap(), b.snapshot());
}

#[test]
fn long_chains_neither_overflow_nor_crawl() {
    let n = 5_000;
    let chain = (1..=n).map(|i| if i == 1 { task("t", &[]) } else { task("t", &[i - 1]) }).collect();
    let mut b = board(chain);
    let back = Update { add_blocked_by: vec![TaskId(n)], ..Update::default() };
    assert!(matches!(b.update(&operator(), TaskId(1), back, T0), Err(BoardError::Cycle(path)) if path.len() == 5_001));
    let failed = b.fail(&operator(), TaskId(1), None, ok(), T0);
    act(&mut b, failed);
    assert_eq!(b.count(TaskStatus::Failed), 5_000);
}

#[test]
fn the_next_claim_does_not_depend_on_how_many_tasks_there_are() {
    // Kept for somebody else, lacking a capability, blocked: none of them is looked at one by one.
    let mut tasks: Vec<NewTask> = (0..1_000).map(|_| NewTask { owner: Some(name("z")), ..task("z's", &[]) }).collect();
    tasks.extend((0..1_000).map(|_| NewTask { requires: vec!["rust".into()], ..task("rust", &[]) }));
    tasks.extend((0..1_000).map(|_| task("open", &[])));
    tasks.extend((2_000..3_000).map(|n| task("blocked", &[n + 1])));
    let mut b = board(tasks);
    assert_eq!((b.index.ready.len(), b.index.pending.len()), (3, 3), "doors, not tasks, are what a claim walks over");
    let x = member("x", 1);
    let mut taken = Vec::new();
    while let Ok(claim) = b.claim(&x, None, T0) {
        let id = claim.tasks[0].id;
        assert_eq!(claim.tasks.len(), 1, "a claim writes one task");
        b.apply(claim.record);
        taken.push(id.0);
        let done = b.done(&x, id, None, ok(), T0);
        act(&mut b, done);
    }
    taken.sort_unstable();
    assert_eq!(taken, (2_001..=4_000).collect::<Vec<_>>());
}
