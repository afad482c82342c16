//! Children die with their teammate.

use crate::puppet::team;
use crate::support::{Crew, kill, lives, until, with_environment};

/// A family that spreads over sessions.
const FAMILY: &str = "#!/bin/sh
setsid sleep 1001 &
(setsid sh -c 'trap \"\" HUP TERM; sleep 1002; sleep 1003' &)
nohup sleep 1004 >/dev/null 2>&1 &
exec sleep 1000
";

fn family(crew: &Crew, life: &str) -> usize {
    let home = with_environment("CREWMUX_HOME", crew.home().to_str().expect("plain"));
    with_environment("CREWMUX_LIFE", life).into_iter().filter(|p| home.contains(p)).count()
}

fn life_of(crew: &Crew, member: &str) -> String {
    let roster = std::fs::read(crew.team("t").join("team.json")).expect("a roster");
    let roster: serde_json::Value = serde_json::from_slice(&roster).expect("json");
    let members = roster["members"].as_array().expect("members");
    let entry = members.iter().find(|m| m["name"] == member).expect("the member");
    entry["life"].as_str().expect("a life").to_owned()
}

#[test]
fn f22_a_killed_teammate_takes_its_whole_family_along() {
    let crew = Crew::new();
    crew.script("family.sh", FAMILY);
    let member =
        "\n[[member]]\nname = \"kin\"\nengine = \"command\"\ncommand = [\"./family.sh\"]\nrestart = \"never\"\n";
    crew.up(&(team("t") + member));
    let life = life_of(&crew, "kin");
    until("the family is there", || family(&crew, &life) >= 5);
    kill(crew.pid_of("t", "kin"), "KILL");
    until("it is gone", || family(&crew, &life) == 0);
    until("it is said", || crew.status("t", "kin")["exit"]["reason"] == "killed");
    assert_eq!(crew.status("t", "kin")["state"], "failed");
}

#[test]
fn f22_the_old_family_is_gone_before_the_next_life_begins() {
    let crew = Crew::new();
    crew.script("family.sh", FAMILY);
    let hand = "\n[[member]]\nname = \"hand\"\nengine = \"worker\"\n[[task]]\nsubject = \"family\"\nrun = [\"./family.sh\"]\n\
                retries = 1\n";
    crew.up(&(team("t") + hand));
    let life = life_of(&crew, "hand");
    until("the task's family is there", || family(&crew, &life) >= 5);
    kill(crew.pid_of("t", "hand"), "KILL");
    until("the task was taken again", || {
        let task = crew.json(&["task", "show", "1"]);
        task["status"] == "in_progress" && task["epoch"].as_u64() > Some(1)
    });
    assert_eq!(family(&crew, &life), 0, "nothing of the old life runs beside the new one");
    assert_ne!(life_of(&crew, "hand"), life);
    let task = crew.json(&["task", "show", "1"]);
    assert_eq!(task["attempts"], 2, "{task}");
}

#[test]
fn f22_without_a_lead_a_killed_teammates_program_dies_and_the_rest_with_the_next_lead() {
    let crew = Crew::new();
    crew.script("family.sh", FAMILY);
    let member =
        "\n[[member]]\nname = \"kin\"\nengine = \"command\"\ncommand = [\"./family.sh\"]\nrestart = \"never\"\n";
    crew.up(&(team("t") + member));
    let life = life_of(&crew, "kin");
    until("the family is there", || family(&crew, &life) >= 5);
    let teammate = crew.pid_of("t", "kin");
    let children = std::fs::read_to_string(format!("/proc/{teammate}/task/{teammate}/children")).expect("children");
    let program: u32 = children.split_whitespace().next().expect("a child").parse().expect("a pid");
    kill(crew.pid_of("t", "team-lead"), "KILL");
    until("no lead", || crew.json(&["status", "--team", "t"])["lead"]["alive"] == false);
    kill(teammate, "KILL");
    until("its program is gone", || !lives(program));
    crew.ok(&["up", "--resume", "t"]);
    until("all are gone", || family(&crew, &life) == 0);
    until("it is said", || crew.status("t", "kin")["exit"]["reason"] == "killed");
}
