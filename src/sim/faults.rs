//! Faults that are planted on purpose: a simulation that finds none of them proves nothing.

use super::search;
use crate::decide::plant::Fault;

/// Seeds that may pass before a fault must have been found.
const MOST: u64 = 1000;

/// Plants a fault; what is found must speak of `what`.
fn is_found(fault: Fault, what: &[&str]) {
    let (found, _) = search(1, MOST, Some(fault));
    let Some((seed, why)) = found else { panic!("{fault:?} was not found in {MOST} seeds") };
    assert!(
        what.iter().any(|words| why.contains(words)),
        "{fault:?} was found by seed {seed} as something else: {why}"
    );
    println!("{fault:?}: seed {seed}: {why}");
}

#[test]
fn a_cursor_that_moves_early_is_found() {
    is_found(Fault::CursorMovesEarly, &["was acknowledged and never came"]);
}

#[test]
fn a_forgotten_mark_is_found() {
    is_found(Fault::MarkForgotten, &["handed over again and not marked"]);
}

#[test]
fn a_forgotten_epoch_is_found() {
    is_found(Fault::EpochForgotten, &["the word of a claim that is over"]);
}

#[test]
fn tasks_that_a_dead_life_keeps_are_found() {
    is_found(Fault::TasksKept, &["is with a life of"]);
}

#[test]
fn a_decision_taken_twice_is_found() {
    is_found(Fault::DecidedTwice, &["is settled once", "does not hold"]);
}

#[test]
fn a_request_without_an_end_is_found() {
    is_found(Fault::NeverExpires, &["never ends", "never comes to rest"]);
}

#[test]
fn a_decision_that_nobody_hears_of_is_found() {
    is_found(Fault::NotToldAgain, &["was never told of"]);
}

#[test]
fn a_dead_life_that_asks_is_found() {
    is_found(Fault::DeadLifeAsks, &["was opened by a life that is over", "outlives its life"]);
}

#[test]
fn a_member_that_counts_as_gone_and_runs_is_found() {
    is_found(Fault::GoneTooEarly, &["was said to be gone and runs"]);
}

#[test]
fn a_batch_that_joins_in_part_is_found() {
    is_found(Fault::JoinedInPart, &["never said hello", "is welcomed and not in the roster"]);
}

#[test]
fn a_welcome_for_another_life_is_found() {
    is_found(Fault::OthersWelcome, &["without the lead's word"]);
}

#[test]
fn a_verb_that_is_answered_too_early_is_found() {
    is_found(Fault::ToldTooEarly, &["not in the roster", "is in no roster", "the roster is on disk"]);
}

#[test]
fn a_mailbox_that_stays_closed_is_found() {
    is_found(Fault::MailStaysClosed, &["its mailbox is closed", "was never welcomed"]);
}
