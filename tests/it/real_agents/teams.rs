//! The teams that come along, by real agents of four makes.

use super::world::World;

#[test]
fn mixed_makes_lead_build_and_review() {
    let Some(world) = World::new("mixed", &[]) else { return };
    if world.makes.len() < 4 {
        return eprintln!("skipped: mixed: it takes all four makes");
    }
    let crew = &world.crew;
    crew.write("work/a.txt", "one\n");
    crew.write(".gitconfig", "[user]\nname = A\nemail = a@b\n[init]\ndefaultBranch = main\n");
    for args in [&["init", "-q"][..], &["add", "-A"], &["commit", "-q", "-m", "first"]] {
        let mut git = std::process::Command::new("git");
        let ran = git.args(args).current_dir(crew.dir().join("work")).env("HOME", crew.dir()).status();
        assert!(ran.expect("git runs").success());
    }
    let text = std::fs::read_to_string(format!("{}/teams/mixed.toml", env!("CARGO_MANIFEST_DIR"))).expect("the spec");
    let spec = crew.write("mixed.toml", &(text + "\n[limits]\nhello = \"120s\"\n"));
    let mut up = crew.command(&["up", spec.to_str().expect("a plain path"), "--cwd", "work"]);
    let ran = world.with_agents(&mut up).output().expect("it starts");
    assert!(ran.status.success(), "{}\n{}", String::from_utf8_lossy(&ran.stderr), crew.trouble());
    world.send("mixed", "lead", "tell[first|please build]");
    world
        .until("the first's report reaches the lead's model", || world.model.last("anthropic").contains("first@mixed"));
    world.send("mixed", "first", "run[touch built]");
    world.until("codex asks to run it", || world.open("mixed", "first", "permission").is_some());
    let asked = world.open("mixed", "first", "permission").expect("open");
    crew.ok(&["approve", "--team", "mixed", asked["id"].as_str().expect("an id")]);
    let before = world.reports("mixed", "chief").len();
    world.until("the lead hears that it is built", || world.reports("mixed", "chief").len() > before);
    let tree = crew.entry("mixed", "first")["worktree"]["path"].as_str().map(std::path::PathBuf::from);
    assert!(tree.is_some_and(|tree| tree.join("built").exists()), "{}", world.log("mixed", "first"));
    world.send("mixed", "lead", "tell[reviewer|please look]");
    world.until("the reviewer's report reaches the lead's model", || {
        world.model.last("anthropic").contains("reviewer@mixed")
    });
    world.saw(
        "claude",
        "led teams/mixed.toml: its order reached codex, codex's and opencode's reports reached its model",
    );
    world.saw("codex", "in teams/mixed.toml it built in a work tree of its own, after a person's leave");
    world.saw("opencode", "in teams/mixed.toml it answered the lead");
}
