//! Each step that a process makes on any file, one after the other: killed there.

use super::acknowledged::Trial;
use crate::ending::kill_all;
use crate::support::until;

const STEPS: [&str; 3] = ["write", "sync", "rename"];

/// Lets a verb be killed at the first, the second, … of its steps, until it makes no more; how often that was.
fn each(verb: &str, mut killed_at: impl FnMut(&str) -> bool) -> usize {
    let mut deaths = 0;
    for step in STEPS {
        for n in 0.. {
            if !killed_at(&format!("{verb} * {step} kill {n}")) {
                break;
            }
            deaths += 1;
        }
    }
    println!("{verb}: killed at {deaths} steps");
    deaths
}

/// A verb on a team at work.
fn verb(trial: &mut Trial, args: &[&str]) -> usize {
    let args = [&args[..1], &["--team", "t"], &args[1..]].concat();
    each(args[0], |fault| {
        trial.fault(fault);
        trial.crew.run(&args);
        let fired = trial.fired();
        trial.no_fault();
        trial.goes_on();
        trial.works();
        trial.keeps_its_word();
        fired
    })
}

#[test]
fn f12_a_verb_killed_at_each_of_its_steps() {
    let mut trial = Trial::up();
    assert!(verb(&mut trial, &["send", "writer", "whole or not at all"]) > 0);
    assert!(verb(&mut trial, &["task", "add", "whole or not at all"]) > 1);
    trial.goes_down();
}

#[test]
#[ignore = "minutes: just faults"]
fn long_each_verb_at_each_of_its_steps() {
    let mut trial = Trial::up();
    for args in [
        &["spawn", "new", "--", "sleep", "1000"][..],
        &["shutdown", "hand"],
        &["stop", "writer"],
        &["restart", "writer"],
        &["send", "*", "to all"],
        &["interrupt", "runner"],
    ] {
        verb(&mut trial, args);
    }
    trial.goes_down();
}

#[test]
#[ignore = "minutes: just faults"]
fn long_a_launch_at_each_of_its_steps() {
    for party in ["up", "lead", "teammate"] {
        // A lead and its members go on writing after the launch; these are the steps until then.
        let mut left = 40;
        each(party, |fault| {
            let trial = Trial::new();
            trial.fault(fault);
            let ran = trial.crew.run(&["up", "./spec.toml"]);
            let fired = trial.fired();
            trial.no_fault();
            if ran.code != 0 {
                until(&format!("nothing runs after {fault}"), || trial.crew.processes().is_empty());
                trial.crew.ok(&["up", "./spec.toml"]);
            } else {
                trial.goes_on();
            }
            trial.crew.ok(&["send", "--team", "t", "writer", "hello"]);
            trial.crew.until_got("writer", "hello");
            trial.crew.ok(&["down", "--team", "t"]);
            trial.is_gone();
            left -= 1;
            fired && left > 0
        });
    }
}

#[test]
#[ignore = "minutes: just faults"]
fn long_a_take_down_at_each_of_its_steps() {
    let deaths = each("down", |fault| {
        let trial = Trial::up();
        trial.crew.ok(&["send", "--team", "t", "hand", "never read"]);
        trial.fault(fault);
        trial.crew.run(&["down", "--team", "t"]);
        let fired = trial.fired();
        trial.no_fault();
        if trial.crew.team("t").exists() {
            trial.crew.ok(&["down", "--team", "t"]);
        }
        trial.is_gone();
        fired
    });
    assert!(deaths > 3);
}

#[test]
#[ignore = "minutes: just faults"]
fn long_a_resume_at_each_of_its_steps() {
    for party in ["up", "lead", "teammate"] {
        let mut trial = Trial::up();
        trial.works();
        let deaths = each(party, |fault| {
            kill_all(&trial.crew);
            trial.fault(fault);
            trial.crew.run(&["up", "--resume", "t"]);
            let fired = trial.fired();
            trial.no_fault();
            if fired && party == "lead" {
                trial.until_no_lead();
            }
            trial.goes_on();
            trial.keeps_its_word();
            fired
        });
        assert!(deaths > 0);
        trial.goes_down();
    }
}

#[test]
#[ignore = "minutes: just faults"]
fn long_lead_and_teammates_at_any_of_their_steps() {
    for party in ["lead", "teammate"] {
        let mut trial = Trial::up();
        for (step, most) in [("write", 16), ("sync", 6)] {
            for n in 0..most {
                trial.meets(&format!("{party} * {step} kill {n}"));
            }
        }
        trial.goes_down();
    }
}
