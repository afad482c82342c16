//! Mail among all makes, their end in a turn, their model's failures, their shutdown.

use std::time::Instant;

use serde_json::json;

use super::world::{MAKES, World};
use crate::support::kill;

/// The agent's own process.
fn agent_pid(world: &World, team: &str, member: &str) -> u32 {
    let teammate = world.crew.pid_of(team, member);
    let children = std::fs::read_to_string(format!("/proc/{teammate}/task/{teammate}/children")).unwrap_or_default();
    children.split_whitespace().next().and_then(|p| p.parse().ok()).expect("the agent runs")
}

fn version(log: &str) -> String {
    let with = log.lines().find_map(|l| l.split_once(" begins with ")).map(|(_, with)| with.to_owned());
    with.unwrap_or_default()
}

#[test]
fn each_joins() {
    let Some(world) = World::new("joining", &[]) else { return };
    for make in &world.makes {
        let began = Instant::now();
        world.up_with("alone", "", &[*make]);
        let joined = began.elapsed();
        let version = version(&world.log("alone", make.name));
        assert!(!version.is_empty(), "{}: {}", make.name, world.log("alone", make.name));
        world.saw(make.name, &format!("{version}: `up` of a team of it alone took {:.1} s", joined.as_secs_f32()));
        world.crew.ok(&["down", "--team", "alone"]);
    }
}

#[test]
fn mail_goes_in_once_in_order_and_to_peers() {
    let Some(world) = World::new("mail", &[]) else { return };
    world.up("mail", "");
    // Five to those that have nothing to do, the others to those that are busy.
    let marker = |name: &str, n: usize| format!("{name}-mail-{n:02};");
    for n in 0..5 {
        let before = world.counts("mail");
        world.names().iter().for_each(|name| world.send("mail", name, &marker(name, n)));
        world.await_reports("mail", &before, 1);
    }
    let before = world.counts("mail");
    world.names().iter().for_each(|name| world.send("mail", name, "slow[one]"));
    for name in world.names() {
        world.until(&format!("{name} is busy"), || world.crew.status("mail", name)["state"] == "busy");
    }
    for n in 5..20 {
        world.names().iter().for_each(|name| world.send("mail", name, &marker(name, n)));
    }
    world.await_reports("mail", &before, 2);
    for make in &world.makes {
        let whole = world.model.last(make.dialect);
        let places: Vec<Option<usize>> = (0..20).map(|n| whole.find(&marker(make.name, n))).collect();
        let missing: Vec<usize> = (0..20).filter(|n| places[*n].is_none()).collect();
        assert!(missing.is_empty(), "{} has not heard {missing:?}: {whole}", make.name);
        assert!(places.is_sorted(), "{} heard them in another order: {places:?}", make.name);
        for n in 0..20 {
            assert_eq!(whole.matches(&marker(make.name, n)).count(), 1, "{} heard {n} more than once", make.name);
        }
        world.saw(make.name, "20 of 20 messages reached the model once and in order, 5 while idle, 15 while busy");
    }
    peers(&world);
    interrupt(&world);
    world.crew.ok(&["shutdown", "--team", "mail", "--all"]);
    let left = world.left();
    assert!(left.is_empty(), "something is left: {left:?}");
    for name in world.names() {
        world.saw(name, "after the shutdown no process of it is left");
    }
}

/// Each writes to the next by the team's tool.
fn peers(world: &World) {
    let names = world.names();
    let next = |i: usize| names[(i + 1) % names.len()];
    for (i, name) in names.iter().enumerate() {
        world.send("mail", name, &format!("tell[{}|a word from {name}]", next(i)));
    }
    for (i, name) in names.iter().enumerate() {
        let make = MAKES.iter().find(|m| m.name == next(i)).expect("a make");
        let word = format!("a word from {name}");
        world.until(&format!("{} hears {name}", make.name), || {
            world.model.last(make.dialect).contains(&word)
                && world.crew.inbox("mail", make.name).iter().any(|m| m["from"] == *format!("{name}@mail"))
        });
        world.saw(name, &format!("its call of send_message arrived at {}", make.name));
    }
    for name in &names {
        world.until(&format!("{name} is idle"), || world.crew.status("mail", name)["state"] == "idle");
    }
}

/// A message with priority `now` ends a slow turn.
fn interrupt(world: &World) {
    for make in &world.makes {
        let (name, turns) = (make.name, world.model.turns(make.dialect).len());
        world.send("mail", name, "slow[two]");
        world.until(&format!("{name} asks its model"), || world.model.turns(make.dialect).len() > turns);
        let sent = Instant::now();
        world.crew.ok(&["send", "--team", "mail", name, "--priority", "now", "at once"]);
        let killed = |world: &World| world.reports("mail", name).iter().any(|r| r["status"] == "killed");
        world.until(&format!("{name} is interrupted"), || killed(world));
        let took = sent.elapsed();
        world.until(&format!("{name} hears it"), || world.model.last(make.dialect).contains("at once"));
        world.saw(name, &format!("`now` ended a slow turn after {} ms, measured at the shell", took.as_millis()));
    }
}

#[test]
fn an_end_in_a_turn_loses_nothing() {
    let Some(world) = World::new("kill", &[]) else { return };
    world.up("kill", "");
    let before = world.counts("kill");
    world.names().iter().for_each(|name| world.send("kill", name, "remember the first word"));
    world.await_reports("kill", &before, 1);
    for make in &world.makes {
        let turns = world.model.turns(make.dialect).len();
        world.send("kill", make.name, "slow[x] and the second word");
        world.until(&format!("{} asks its model", make.name), || world.model.turns(make.dialect).len() > turns);
        kill(agent_pid(&world, "kill", make.name), "KILL");
    }
    for make in &world.makes {
        world.until(&format!("{} goes on", make.name), || world.log("kill", make.name).contains(" goes on with "));
        let reports = || world.reports("kill", make.name);
        world.until(&format!("{} answers", make.name), || {
            reports().iter().any(|r| r["result"].as_str().is_some_and(|t| t.contains("twenty")))
        });
        let whole = world.model.last(make.dialect);
        assert!(whole.contains("remember the first word"), "{}: its session is loaded: {whole}", make.name);
        assert!(whole.contains("the second word") && whole.contains("redelivered"), "{}: {whole}", make.name);
        world.saw(
            make.name,
            "KILL in a turn: its session was loaded, the turn's mail came again marked, and was answered",
        );
    }
}

#[test]
fn a_model_that_fails_twice_and_then_answers() {
    let flaky = |m: &super::world::Make| {
        let failing = json!({"match": format!("flaky {}", m.name), "times": 2, "reply": {"status": 529}});
        [failing, json!({"match": format!("flaky {}", m.name), "reply": "it answers again"})]
    };
    let rules: Vec<_> = MAKES.iter().flat_map(flaky).collect();
    let Some(world) = World::new("failures", &rules) else { return };
    world.up("failures", "");
    let before = world.counts("failures");
    world.names().iter().for_each(|name| world.send("failures", name, &format!("flaky {name}")));
    world.await_reports("failures", &before, 1);
    for name in world.names() {
        let reports = world.reports("failures", name);
        let last = reports.last().expect("a report");
        assert_eq!((last["status"].as_str(), reports.len()), (Some("completed"), 1), "{name}: {reports:?}");
        assert!(last["result"].as_str().is_some_and(|t| t.contains("it answers again")), "{name}: {last}");
        let who = if world.log("failures", name).contains("the turn broke") { "by its teammate" } else { "by itself" };
        world.saw(name, &format!("a model that fails twice with 529 was asked again {who}, one report"));
    }
}
