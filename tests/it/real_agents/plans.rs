//! Plans before acts.

use super::world::World;

#[test]
fn a_plan_is_submitted_rejected_and_approved() {
    let Some(world) = World::new("plans", &[]) else { return };
    world.up("plans", "plan_mode_required = true");
    for name in world.names() {
        world.send("plans", name, &format!("plan[a first plan of {name}]"));
    }
    for name in world.names() {
        decide(&world, name, "a first plan", &["reject", "--reason", "make it smaller"]);
    }
    for make in &world.makes {
        let said = || world.model.last(make.dialect).contains("make it smaller");
        world.until(&format!("{} hears why", make.name), said);
        world.send("plans", make.name, &format!("plan[a second plan of {}]", make.name));
    }
    for name in world.names() {
        decide(&world, name, "a second plan", &["approve"]);
    }
    for make in &world.makes {
        let log = || world.log("plans", make.name);
        world.until(&format!("{} goes on", make.name), || log().contains(" goes on with "));
        let told = || world.model.last(make.dialect).contains("Your plan is approved");
        world.until(&format!("{} hears that it may", make.name), told);
        let whole = world.model.last(make.dialect);
        assert!(whole.contains("a first plan") && whole.contains("a second plan"), "{}: {whole}", make.name);
        let mode = log().lines().rev().find_map(|l| l.strip_prefix("mode: ").map(str::to_owned)).unwrap_or_default();
        world.saw(make.name, &format!("a plan by submit_plan was rejected with a reason that reached the model, another approved; the session went on in the mode {mode}"));
    }
}

fn decide(world: &World, name: &str, plan: &str, words: &[&str]) {
    world.until(&format!("{name} submits"), || {
        world.open("plans", name, "plan").is_some_and(|r| r["summary"].as_str().is_some_and(|s| s.contains(plan)))
    });
    let id = world.open("plans", name, "plan").expect("open")["id"].as_str().expect("an id").to_owned();
    let mut args = vec![words[0], "--team", "plans", &id];
    args.extend(&words[1..]);
    world.crew.ok(&args);
}
