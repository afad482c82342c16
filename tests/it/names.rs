//! Names and joining: F25 to F30.

use crate::support::{Crew, until, with_environment};

/// A team of one worker.
fn one(name: &str) -> String {
    format!("v = 1\nname = \"{name}\"\n[[member]]\nname = \"hand\"\nengine = \"worker\"\n")
}

fn members(crew: &Crew, team: &str) -> Vec<String> {
    let status = crew.json(&["status", "--team", team]);
    let all = status["members"].as_array().expect("members").iter();
    all.filter_map(|m| m["name"].as_str()).filter(|n| *n != "team-lead").map(str::to_owned).collect()
}

#[test]
fn f25_like_and_foreign_names_are_teams_of_their_own() {
    let crew = Crew::new();
    let names = ["a_b", "A_B", "команда", "チーム"];
    for name in names {
        crew.up(&one(name));
    }
    let listed = crew.json(&["ls"]);
    let mut seen: Vec<&str> = listed.as_array().expect("teams").iter().filter_map(|t| t["team"].as_str()).collect();
    seen.sort_unstable();
    let mut wanted = names;
    wanted.sort_unstable();
    assert_eq!(seen, wanted);
    let mut sessions: Vec<&str> =
        listed.as_array().expect("teams").iter().filter_map(|t| t["session"].as_str()).collect();
    sessions.dedup();
    assert_eq!(sessions.len(), 4, "{listed}");
    assert_eq!(std::fs::read_dir(crew.home().join("teams")).expect("teams").count(), 4);

    crew.ok(&["send", "--team", "A_B", "lead", "for the capitals"]);
    assert!(crew.ok(&["inbox", "--team", "a_b"]).is_empty(), "the other one's mailbox");
    assert!(crew.ok(&["inbox", "--team", "A_B"]).contains("for the capitals"));
    crew.ok(&["down", "--team", "a_b"]);
    for left in &names[1..] {
        let status = crew.json(&["status", "--team", left]);
        assert_eq!(
            status["members"].as_array().and_then(|m| m.last()).map(|m| &m["alive"]),
            Some(&true.into()),
            "{status}"
        );
    }
    crew.fails(3, &["status", "--team", "a_b"]);
}

#[test]
fn f26_hostile_names_are_refused_with_the_rule() {
    let crew = Crew::new();
    crew.up(&one("solid"));
    let before = tree(&crew);
    let long = "x".repeat(300);
    let bad = [
        ("../up", "'/'"),
        ("a/b", "'/'"),
        ("a@b", "'@'"),
        ("", "empty"),
        (&long, "64"),
        ("a\u{7}b", "'\\u{7}'"),
        ("a\u{202e}b", "'\\u{202e}'"),
        ("a b", "' '"),
        (".hidden", "'.'"),
        ("-dash", "'-'"),
        ("e\u{301}", "normal form"),
        ("a:b", "':'"),
        ("a\nb", "'\\n'"),
        ("a;b", "';'"),
        ("$(id)", "'$'"),
        ("all", "reserved"),
        ("operator", "reserved"),
        ("lead", "reserved"),
        ("team-lead", "reserved"),
    ];
    for (name, rule) in bad {
        let path = crew.dir().join("spec.toml");
        let quoted = serde_json::Value::from(name).to_string();
        let spec = crew.write("bad.toml", &one("x").replace("\"hand\"", &quoted));
        let spec_team = crew.write("bad-team.toml", &one("x").replace("\"x\"", &quoted));
        let arg = format!("--name={name}");
        let tries = [
            crew.run(&["up", path.to_str().expect("plain"), &arg]),
            crew.run(&["up", spec.to_str().expect("plain")]),
            crew.run(&["up", spec_team.to_str().expect("plain")]),
            crew.run(&["spawn", "--engine", "worker", name]),
        ];
        for (n, tried) in tries.iter().enumerate() {
            assert_eq!(tried.code, 2, "{n} {name:?}: {tried:#?}");
            // A word that looks like an option is refused as one.
            let said = tried.err.contains(rule) || (n == 3 && name.starts_with('-'));
            assert!(said, "{n} {name:?} says the rule: {}", tried.err);
        }
        if rule != "reserved" {
            crew.fails(3, &["send", "--", name, "hello"]);
        }
    }
    assert_eq!(tree(&crew), before, "nothing was created");
}

/// Every path of the home, save what a living team writes by itself.
fn tree(crew: &Crew) -> Vec<String> {
    fn walk(path: &std::path::Path, out: &mut Vec<String>) {
        for entry in std::fs::read_dir(path).into_iter().flatten().flatten() {
            let name = entry.path().display().to_string();
            if !name.contains(".tmp")
                && !name.contains("/locks/")
                && !name.contains("/mail/")
                && !name.contains("/state/")
            {
                out.push(name);
            }
            if entry.path().is_dir() {
                walk(&entry.path(), out);
            }
        }
    }
    let mut out = Vec::new();
    walk(&crew.home(), &mut out);
    out.sort();
    out
}

#[test]
fn f27_a_taken_name_is_refused_and_nothing_is_suffixed() {
    let crew = Crew::new();
    crew.up(&one("solo"));
    crew.ok(&["spawn", "twin", "--engine", "worker"]);
    let again = crew.fails(7, &["spawn", "twin", "--engine", "worker"]);
    assert!(again.err.contains("`twin` is taken"), "{}", again.err);
    assert!(again.err.contains("hint:"), "{}", again.err);
    crew.fails(7, &["spawn", "hand", "--engine", "worker"]);
    assert_eq!(members(&crew, "solo"), ["hand", "twin"]);
    // An ended member's name is taken too: its mailbox is there.
    crew.ok(&["stop", "twin"]);
    let ended = crew.fails(7, &["spawn", "twin", "--engine", "worker"]);
    assert!(ended.err.contains("crewmux restart twin"), "{}", ended.err);
}

#[test]
fn f28_the_same_spawn_id_is_one_member() {
    let crew = Crew::new();
    crew.up(&one("once"));
    let id = "0193a0b4-0000-7000-8000-00000000beef";
    let children: Vec<_> = (0..6)
        .map(|_| {
            let mut command = crew.command(&["spawn", "only", "--engine", "worker", "--id", id]);
            command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::piped());
            command.spawn().expect("it starts")
        })
        .collect();
    for child in children {
        let done = child.wait_with_output().expect("it ends");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }
    assert_eq!(members(&crew, "once"), ["hand", "only"]);
    let panes = crew.tmux("once", &["list-panes", "-a", "-F", "#{pane_id}"]);
    assert_eq!(panes.lines().count(), 3, "lead, hand and one `only`");
    let joined = crew.events("once").iter().filter(|e| e["type"] == "member_joined" && e["member"] == "only").count();
    assert_eq!(joined, 1);
    // Much later the same; another id is another spawn.
    crew.ok(&["spawn", "only", "--engine", "worker", "--id", id]);
    crew.fails(7, &["spawn", "only", "--engine", "worker", "--id", "0193a0b4-0000-7000-8000-00000000beee"]);
}

#[test]
fn f29_a_launch_whose_program_dies_is_undone_and_says_why() {
    let crew = Crew::new();
    let spec = format!(
        "{}settle = \"0s\"\n[[member]]\nname = \"frail\"\nengine = \"command\"\nsettle = \"10s\"\n\
         command = [\"sh\", \"-c\", \"echo no licence found; exit 3\"]\n",
        one("half").replace("engine = \"worker\"\n", "engine = \"command\"\ncommand = [\"sleep\", \"1000\"]\n")
    );
    let path = crew.write("half.toml", &spec);
    let up = crew.fails(1, &["up", path.to_str().expect("plain")]);
    assert!(up.err.contains("`frail` did not start"), "{}", up.err);
    assert!(up.err.contains("code 3"), "{}", up.err);
    assert!(up.err.contains("no licence found"), "the program's last lines: {}", up.err);
    assert!(!crew.team("half").exists(), "nothing is left of the team");
    let home = crew.home();
    assert!(with_environment("CREWMUX_HOME", home.to_str().expect("utf-8")).is_empty(), "nothing runs");
    crew.fails(3, &["status", "--team", "half"]);
    // The name is free at once.
    crew.up(&one("half"));
}

#[test]
fn f29_a_spawn_whose_program_dies_or_never_starts_leaves_the_team_as_it_was() {
    let crew = Crew::new();
    crew.up(
        "v = 1\nname = \"steady\"\n[limits]\nhello = \"700ms\"\n[[member]]\nname = \"hand\"\nengine = \"worker\"\n",
    );
    let script = crew.script("broken", "#!/no/such/interpreter\n");
    let gone = crew.fails(1, &["spawn", "ghost", "--", script.to_str().expect("plain")]);
    assert!(gone.err.contains("`ghost` did not start"), "{}", gone.err);
    // It is never ready: it should say so, and does not.
    let silent =
        crew.fails(1, &["spawn", "silent", "--deliver", "paste", "--", "sh", "-c", "echo warming up; exec sleep 1000"]);
    assert!(silent.err.contains("did not say hello in time"), "{}", silent.err);
    assert!(silent.err.contains("warming up"), "{}", silent.err);
    assert_eq!(members(&crew, "steady"), ["hand"]);
    assert_eq!(crew.roster("steady")["reserved"].as_array().map_or(0, Vec::len), 0);
    until("the panes are gone", || crew.tmux("steady", &["list-panes", "-a", "-F", "#{pane_id}"]).lines().count() == 2);
    crew.fails(3, &["send", "ghost", "are you there"]);
    // The name is free, and the team goes on.
    crew.ok(&["spawn", "ghost", "--engine", "worker"]);
    assert_eq!(crew.status("steady", "hand")["alive"], true);
}

#[test]
fn f30_a_member_cannot_start_members() {
    let crew = Crew::new();
    let spec =
        format!("v = 1\nname = \"flat\"\n{}[[member]]\nname = \"peer\"\nengine = \"worker\"\n", crew.puppet("hand"));
    crew.up(&spec);
    let tried = crew.inside("hand", "crewmux spawn child --engine worker");
    assert_eq!(tried.code, 4, "{tried:#?}");
    assert!(tried.err.contains("flat"), "it says the rule: {}", tried.err);
    // Neither a cleaned environment nor a session of its own makes an operator.
    let clean = "env -u CREWMUX_MEMBER -u CREWMUX_LIFE -u CREWMUX_TEAM -u CREWMUX_AGENT_ID crewmux --team flat";
    for verb in
        ["spawn child --engine worker", "stop peer", "restart peer", "shutdown peer", "shutdown --all", "down --force"]
    {
        let tried = crew.inside("hand", &format!("{clean} {verb}"));
        assert_eq!(tried.code, 4, "{verb}: {tried:#?}");
        let tried = crew.inside("hand", &format!("setsid -w {clean} {verb}"));
        assert_eq!(tried.code, 4, "setsid {verb}: {tried:#?}");
    }
    let tried = crew.inside("hand", "crewmux task add nothing --member peer");
    assert_eq!(tried.code, 4, "acting for another: {tried:#?}");
    assert_eq!(members(&crew, "flat"), ["hand", "peer"]);
    assert_eq!(crew.status("flat", "peer")["alive"], true);
    assert_eq!(crew.status("flat", "peer")["restarts"], 0);
}
