//! What agents ask leave for.

use super::world::World;

#[test]
fn a_permission_is_asked_shown_allowed_and_another_denied() {
    let Some(world) = World::new("permissions", &[]) else { return };
    world.up("leave", "");
    for name in world.names() {
        world.send("leave", name, &format!("run[touch {}]", file(&world, name, "yes")));
    }
    for name in world.names() {
        world.until(&format!("{name} asks"), || world.open("leave", name, "permission").is_some());
        let asked = world.open("leave", name, "permission").expect("open");
        assert!(asked["body"]["scope"].as_str().is_some_and(|s| s.contains("touch")), "{name}: {asked}");
        world.until(&format!("{name} is shown to wait"), || world.crew.status("leave", name)["state"] == "waiting");
        let before = world.reports("leave", name).len();
        world.crew.ok(&["approve", "--team", "leave", asked["id"].as_str().expect("an id")]);
        world.until(&format!("{name} has done it"), || world.reports("leave", name).len() > before);
        let done = std::path::Path::new(&file(&world, name, "yes")).exists();
        assert!(done, "{name}: it was allowed\n{}", world.log("leave", name));
        world.saw(name, "a shell command was asked about, shown, allowed, and done");
    }
    for name in world.names() {
        world.send("leave", name, &format!("run[touch {}]", file(&world, name, "no")));
    }
    for name in world.names() {
        world.until(&format!("{name} asks"), || world.open("leave", name, "permission").is_some());
        let asked = world.open("leave", name, "permission").expect("open");
        let before = world.reports("leave", name).len();
        let id = asked["id"].as_str().expect("an id");
        world.crew.ok(&["reject", "--team", "leave", id, "--reason", "not that"]);
        world.until(&format!("{name} is done"), || world.reports("leave", name).len() > before);
        assert!(!std::path::Path::new(&file(&world, name, "no")).exists(), "{name}: it was denied");
        let status = world.reports("leave", name).pop().expect("a report")["status"].clone();
        world.saw(name, &format!("another was denied, and not done; the turn ended as {status}"));
    }
}

fn file(world: &World, name: &str, file: &str) -> String {
    world.crew.dir().join("work").join(name).join(file).display().to_string()
}
