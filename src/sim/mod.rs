//! The simulation: a team of the real lead, teammates, board, ledger and cursors on a simulated disk, clock and tmux,
//! with everything between them going wrong as a seed says. What must hold is checked after every step.
//!
//! `SIM_SEEDS=10000` runs so many seeds instead of the few of every day, `SIM_FROM` begins elsewhere, and `SIM_SEED=N`
//! replays one and tells its story.

mod disk;
mod faults;
mod leader;
mod member;
mod ops;
mod plan;
mod truth;
mod world;

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::decide::plant::{Fault, plant};
use crate::model::message::Body;
use plan::Plan;
use truth::{Asked, Figures};
use world::World;

/// How many seeds every run of the tests tries.
const SEEDS: u64 = 500;
/// How many attempts at a shorter story are made for a seed that fails.
const ATTEMPTS: usize = 400;

/// Lives one plan through to its end; what happened, counted.
fn live(plan: &Plan, story: Option<Box<dyn FnMut(String)>>) -> Figures {
    let mut world = World::new(plan, story);
    if !plan.early {
        world.quiet();
        assert!(world.disk.team.launched, "the team is up");
    }
    for op in &plan.ops {
        world.does(*op);
    }
    world.losing = 0;
    world.quiet();
    world.check_rest();
    if world.maker_gone && plan.tied {
        assert!(world.finished.is_some(), "a team whose maker is gone ends by itself");
    }
    if !world.is_over() {
        let everyone = Body::ShutdownAsk { name: None, reason: None, grace_ms: Some(5000), force: false };
        world.verb(&everyone, Asked::End);
        world.quiet();
        world.check_rest();
        // Who refuses is asked by nobody here: no program has a word left to say.
        assert_eq!(world.runners().count(), 0, "nobody is left after a shutdown");
        assert!(world.disk.ledger.open_requests().is_empty(), "every request has ended");
    }
    world.truth.figures.insert("steps", world.steps);
    world.truth.figures
}

/// Why a plan fails, if it does.
fn fails(plan: &Plan, fault: Option<Fault>, story: Option<Box<dyn FnMut(String)>>) -> Result<Figures, String> {
    plant(fault);
    let lived = catch_unwind(AssertUnwindSafe(|| live(plan, story)));
    plant(None);
    lived.map_err(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        text.or_else(|| panic.downcast_ref::<&str>().map(|s| (*s).to_owned())).unwrap_or_else(|| "a panic".to_owned())
    })
}

/// A shorter plan that still fails.
fn shorter(plan: &Plan, fault: Option<Fault>) -> Plan {
    let mut best = plan.clone();
    let mut size = best.ops.len().div_ceil(2);
    let mut attempts = 0;
    while size > 0 && attempts < ATTEMPTS {
        let mut at = 0;
        while at < best.ops.len() && attempts < ATTEMPTS {
            let mut less = best.clone();
            less.ops.drain(at..(at + size).min(less.ops.len()));
            attempts += 1;
            if fails(&less, fault, None).is_err() {
                best = less;
            } else {
                at += size;
            }
        }
        size /= 2;
    }
    best
}

/// What a person wants to read about a seed that fails.
fn report(seed: u64, fault: Option<Fault>) -> String {
    let plan = shorter(&Plan::of(seed), fault);
    let lines = Rc::new(RefCell::new(Vec::new()));
    let sink = Rc::clone(&lines);
    let why = fails(&plan, fault, Some(Box::new(move |line| sink.borrow_mut().push(line))));
    let why = why.err().unwrap_or_else(|| "it holds this time".to_owned());
    let lines = lines.borrow();
    let told = lines[lines.len().saturating_sub(120)..].join("\n");
    let members: Vec<String> = plan
        .specs
        .iter()
        .map(|s| {
            let how = (s.engine, s.on_shutdown, s.restart, s.isolation);
            format!("{}: {how:?} plans: {}", s.name, s.plan_mode_required)
        })
        .collect();
    format!(
        "seed {seed} fails: {why}\n\n{}\ntied: {}, early: {}, {} operations: {:?}\n\n{told}\n\nreplay: SIM_SEED={seed} \
         cargo test --lib sim::",
        members.join("\n"),
        plan.tied,
        plan.early,
        plan.ops.len(),
        plan.ops,
    )
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// Tries seeds until one fails; that one, with the reason, and what happened in all of them.
fn search(from: u64, count: u64, fault: Option<Fault>) -> (Option<(u64, String)>, Figures) {
    let next = AtomicU64::new(from);
    let figures = Mutex::new(Figures::new());
    let found = Mutex::new(None::<(u64, String)>);
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= from + count || found.lock().is_ok_and(|found| found.is_some()) {
                        return;
                    }
                    match fails(&Plan::of(seed), fault, None) {
                        Ok(counted) => {
                            let mut figures = figures.lock().expect("nobody panics with it");
                            counted.into_iter().for_each(|(what, n)| *figures.entry(what).or_default() += n);
                        }
                        Err(why) => {
                            let mut found = found.lock().expect("nobody panics with it");
                            if found.as_ref().is_none_or(|(other, _)| seed < *other) {
                                *found = Some((seed, why));
                            }
                        }
                    }
                }
            });
        }
    });
    (found.into_inner().expect("nobody panics with it"), figures.into_inner().expect("nobody panics with it"))
}

#[test]
fn whatever_happens_a_team_keeps_its_promises() {
    if let Some(seed) = number("SIM_SEED") {
        let plan = Plan::of(seed);
        if let Err(why) = fails(&plan, None, Some(Box::new(|line| println!("{line}")))) {
            panic!("seed {seed} fails: {why}\n{}", report(seed, None));
        }
        return;
    }
    let (from, count) = (number("SIM_FROM").unwrap_or(1), number("SIM_SEEDS").unwrap_or(SEEDS));
    let began = std::time::Instant::now();
    let (found, figures) = search(from, count, None);
    if let Some((seed, _)) = found {
        panic!("{}", report(seed, None));
    }
    println!("{count} seeds from {from}, {:.1} s", began.elapsed().as_secs_f64());
    for (what, n) in &figures {
        println!("{n:>12} {what}");
    }
    for what in ["messages handed over again", "tasks returned", "requests expired", "deaths of leads", "wake-ups lost"]
    {
        assert!(count < SEEDS || figures.get(what).is_some_and(|n| *n > 0), "no {what} in {count} seeds");
    }
}
