//! Random callers, lives and verbs: whatever is accepted keeps the board's promises.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::tests::{life, member, name, operator, task};
use super::*;
use crate::model::task::{NewTask, TaskResult};
use crate::model::time::Timestamp;

const MEMBERS: [&str; 3] = ["a", "b", "c"];

#[derive(Clone, Debug)]
enum Op {
    Add { by: usize, blocked_by: Vec<u64>, blocks: Vec<u64>, owner: Option<usize>, retries: u32, rust: bool },
    Claim { by: usize, id: Option<u64> },
    End { by: usize, id: u64, how: u8, epoch: Option<u64> },
    Assign { id: u64, to: Option<usize> },
    Rm { by: usize, id: u64 },
    Update { by: usize, id: u64, add: Vec<u64>, remove: Vec<u64> },
    Die { who: usize },
}

fn op() -> impl Strategy<Value = Op> {
    let id = || 1..12u64;
    let ids = || prop::collection::vec(id(), 0..3);
    let by = || 0..4usize;
    prop_oneof![
        4 => (by(), ids(), ids(), prop::option::weighted(0.2, 0..3usize), 0..3u32, prop::bool::weighted(0.2)).prop_map(
            |(by, blocked_by, blocks, owner, retries, rust)| Op::Add { by, blocked_by, blocks, owner, retries, rust }
        ),
        2 => (by(), 0..3u32).prop_map(|(by, retries)| Op::Add {
            by, blocked_by: vec![], blocks: vec![], owner: None, retries, rust: false
        }),
        6 => (by(), prop::option::of(id())).prop_map(|(by, id)| Op::Claim { by, id }),
        6 => (by(), id(), 0..3u8, prop::option::of(0..6u64)).prop_map(|(by, id, how, epoch)| Op::End { by, id, how, epoch }),
        1 => (id(), prop::option::of(0..3usize)).prop_map(|(id, to)| Op::Assign { id, to }),
        1 => (by(), id()).prop_map(|(by, id)| Op::Rm { by, id }),
        2 => (by(), id(), ids(), ids()).prop_map(|(by, id, add, remove)| Op::Update { by, id, add, remove }),
        1 => (0..3usize).prop_map(|who| Op::Die { who }),
    ]
}

fn ids(list: &[u64]) -> Vec<TaskId> {
    list.iter().copied().map(TaskId).collect()
}

/// The caller with this number, in its present life; one past the members is the operator.
fn caller<'a>(by: usize, lives: &[u64; 3], rust: &'a [String]) -> Caller<'a> {
    match MEMBERS.get(by) {
        Some(text) => Caller {
            // Lives of different members never coincide.
            life: Some(life(lives[by] * 10 + by as u64)),
            capabilities: if by == 0 { rust } else { &[] },
            claim_limit: by + 1,
            ..member(text, 0)
        },
        None => operator(),
    }
}

fn decide(board: &Board, op: &Op, lives: &mut [u64; 3], rust: &[String], now: Timestamp) -> Option<Changed> {
    match op {
        Op::Add { by, blocked_by, blocks, owner, retries, rust: needs } => {
            let new = NewTask {
                blocks: ids(blocks),
                owner: owner.map(|o| name(MEMBERS[o])),
                retries: *retries,
                requires: if *needs { vec!["rust".into()] } else { vec![] },
                ..task("t", blocked_by)
            };
            board.add(&caller(*by, lives, rust), new, now).ok()
        }
        Op::Claim { by, id } => board.claim(&caller(*by, lives, rust), id.map(TaskId), now).ok(),
        Op::End { by, id, how, epoch } => {
            let (who, id, result) = (caller(*by, lives, rust), TaskId(*id), TaskResult::default());
            match how {
                0 => board.done(&who, id, *epoch, result, now),
                1 => board.fail(&who, id, *epoch, result, now),
                _ => board.release(&who, id, *epoch, now),
            }
            .ok()
        }
        Op::Assign { id, to } => board.assign(&operator(), TaskId(*id), to.map(|t| name(MEMBERS[t])), now).ok(),
        Op::Rm { by, id } => board.rm(&caller(*by, lives, rust), TaskId(*id), now).ok(),
        Op::Update { by, id, add, remove } => {
            let update = Update { add_blocked_by: ids(add), remove_blocked_by: ids(remove), ..Update::default() };
            board.update(&caller(*by, lives, rust), TaskId(*id), update, now).ok()
        }
        Op::Die { who } => {
            let ended = caller(*who, lives, rust);
            lives[*who] += 1;
            board.return_life(&ended.name, ended.life?, &Name::lead(), now)
        }
    }
}

/// What is true of every board, asked without the index.
fn check(board: &Board, lives: &[u64; 3], rust: &[String]) -> Result<(), TestCaseError> {
    let get = |id: &TaskId| board.get(*id).unwrap();
    let open = |t: &&Task| t.status == TaskStatus::Pending;
    for task in board.tasks().values() {
        prop_assert!(task.id < board.next_id());
        prop_assert_eq!(task.claim.is_some(), task.status == TaskStatus::InProgress, "{:?}", task);
        for blocker in &task.blocked_by {
            prop_assert!(get(blocker).blocks.contains(&task.id), "blocks mirrors blocked_by");
            if task.status == TaskStatus::InProgress {
                prop_assert_eq!(get(blocker).status, TaskStatus::Completed);
            }
            if task.status == TaskStatus::Pending {
                prop_assert!(!matches!(get(blocker).status, TaskStatus::Failed | TaskStatus::Deleted));
            }
        }
        for waiter in &task.blocks {
            prop_assert!(get(waiter).blocked_by.contains(&task.id), "blocked_by mirrors blocks");
        }
        if let Some(claim) = &task.claim {
            let by = MEMBERS.iter().position(|m| claim.member == name(m)).unwrap();
            prop_assert_eq!(Some(claim.life), caller(by, lives, rust).life, "no claim outlives its life");
        }
    }
    // No cycle: taking off what waits for nothing left takes off everything.
    let mut left: BTreeSet<TaskId> = board.tasks().keys().copied().collect();
    while !left.is_empty() {
        let free: Vec<TaskId> =
            left.iter().copied().filter(|id| !get(id).blocked_by.iter().any(|b| left.contains(b))).collect();
        prop_assert!(!free.is_empty(), "a cycle among {:?}", left);
        free.iter().for_each(|id| {
            left.remove(id);
        });
    }
    let mut anything = false;
    for by in 0..MEMBERS.len() {
        let who = caller(by, lives, rust);
        let held = board.tasks().values().filter(|t| t.claim.as_ref().is_some_and(|c| c.member == who.name)).count();
        prop_assert!(held <= who.claim_limit);
        prop_assert_eq!(board.held_by(&who.name).count(), held);
        let claimable: Vec<TaskId> = board
            .tasks()
            .values()
            .filter(open)
            .filter(|t| t.blocked_by.iter().all(|b| get(b).status == TaskStatus::Completed))
            .filter(|t| t.owner.as_ref().is_none_or(|o| *o == who.name))
            .filter(|t| t.requires.iter().all(|r| who.capabilities.contains(r)))
            .map(|t| t.id)
            .collect();
        anything |= !claimable.is_empty();
        prop_assert_eq!(board.next_claimable(&who), claimable.first().copied());
        prop_assert_eq!(board.claimable_by(&who), claimable);
    }
    let members: Vec<(Name, &[String])> = MEMBERS.iter().zip([rust, &[], &[]]).map(|(m, c)| (name(m), c)).collect();
    let outlook = board.outlook(&members);
    let running = board.tasks().values().any(|t| t.status == TaskStatus::InProgress);
    prop_assert_eq!(outlook.done, !running && !anything);
    if outlook.done {
        prop_assert_eq!(outlook.stuck.len(), outlook.pending, "when all is done, whatever is left is named");
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn promises_hold_under_any_sequence(ops in prop::collection::vec(op(), 1..60), cut in 0..60usize) {
        let rust = ["rust".to_owned()];
        let mut lives = [0; 3];
        let mut board = Board::default();
        let mut log: Vec<BoardRecord> = Vec::new();
        let mut snapshot = (0, Board::default().snapshot());
        for (n, op) in ops.iter().enumerate() {
            let before = board.clone();
            let now = Timestamp(n as i64);
            let decided = decide(&board, op, &mut lives, &rust, now);
            prop_assert_eq!(&board, &before);
            if let Some(Changed { record, tasks }) = decided {
                for task in &tasks {
                    match before.get(task.id) {
                        Some(old) => {
                            prop_assert!(task.epoch >= old.epoch, "the epoch never falls");
                            if old.status == TaskStatus::InProgress && task.claim.is_none() {
                                let by_holder = matches!(op, Op::End { by, .. } if *by < 3);
                                prop_assert_eq!(task.epoch > old.epoch, !by_holder);
                            }
                            if task.claim != old.claim && task.claim.is_some() {
                                prop_assert!(old.claim.is_none(), "one claim at a time");
                                prop_assert!(task.epoch > old.epoch);
                            }
                            prop_assert!(old.status != TaskStatus::Deleted || task.status == TaskStatus::Deleted);
                        }
                        None => prop_assert_eq!(task.id, before.next_id(), "a new id is the next one"),
                    }
                }
                if let Op::End { id, epoch: Some(epoch), .. } = op {
                    prop_assert_eq!(before.get(TaskId(*id)).unwrap().epoch, *epoch, "a stale epoch is refused");
                }
                log.push(record.clone());
                board.apply(record.clone());
                let once = board.clone();
                board.apply(record);
                prop_assert_eq!(&board, &once, "the same record again changes nothing");
            }
            check(&board, &lives, &rust)?;
            if n == cut {
                snapshot = (log.len(), board.snapshot());
            }
        }
        let mut replayed = Board::default();
        for record in &log {
            // As it comes back from the file.
            let line = serde_json::to_string(record).unwrap();
            replayed.apply(serde_json::from_str(&line).unwrap());
        }
        prop_assert_eq!(&replayed, &board);
        let mut shorter = Board::default();
        shorter.apply(snapshot.1);
        log[snapshot.0..].iter().for_each(|r| shorter.apply(r.clone()));
        prop_assert_eq!(&shorter, &board);
    }
}
