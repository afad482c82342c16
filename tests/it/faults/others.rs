//! A launch and a take-down that are cut off, and a clock that jumps.

use super::acknowledged::Trial;
use crate::support::until;

#[test]
fn f24_a_launch_cut_off_at_any_write_is_undone_or_made_room_for() {
    for fault in [
        "up team.json write kill",
        "up team.json rename kill",
        "lead team.json write half",
        "lead team.json rename after",
        "lead team.json write enospc",
        "teammate lease write kill",
    ] {
        let trial = Trial::new();
        trial.fault(fault);
        let ran = trial.crew.run(&["up", "./spec.toml"]);
        assert!(trial.fired(), "nobody came by: {fault}: {ran:?}");
        if ran.code != 0 {
            until(&format!("nothing runs after {fault}"), || trial.crew.processes().is_empty());
            trial.crew.ok(&["up", "./spec.toml"]);
        }
        trial.crew.ok(&["send", "--team", "t", "writer", "hello"]);
        trial.crew.until_got("writer", "hello");
        trial.crew.ok(&["down", "--team", "t"]);
        trial.is_gone();
    }
}

#[test]
fn f23_a_take_down_cut_off_at_any_write_is_finished_by_the_next() {
    for fault in ["down inbox.jsonl write half", "down tasks.jsonl sync kill", "down events.jsonl write eio"] {
        let trial = Trial::up();
        trial.fault(fault);
        let ran = trial.crew.run(&["down", "--team", "t"]);
        assert!(trial.fired(), "nobody came by: {fault}: {ran:?}");
        if trial.crew.team("t").exists() {
            trial.crew.ok(&["down", "--team", "t"]);
        }
        trial.is_gone();
    }
}

#[test]
fn a_clock_that_jumps_ends_nobody_and_loses_nothing() {
    let mut trial = Trial::up();
    for seconds in ["0", "86400", "-86400", "3600"] {
        trial.crew.write("faults/clock", seconds);
        trial.works();
        trial.keeps_its_word();
        for member in ["writer", "hand", "runner"] {
            assert_eq!(trial.crew.status("t", member)["restarts"], 0, "{member}, the clock wrong by {seconds} s");
        }
    }
    trial.goes_down();
}
