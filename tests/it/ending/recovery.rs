//! Recovery, row by row: who was killed, and what is there again. The rows stand in docs/RELIABILITY.md.

use std::process::{Command, Stdio};

use serde_json::Value;

use super::crash::kill_all;
use crate::puppet::team;
use crate::support::{Crew, Ran, kill, lives, until, with_environment};

const MEMBERS: [&str; 4] = ["writer", "hand", "planner", "asker"];

/// A team with something to lose: mail that was read and mail that was not, a task that runs, an open plan, and a
/// permission that is waited for.
struct Scene {
    crew: Crew,
    plan: String,
    permission: String,
    /// The order of whoever waits for the permission.
    waits: String,
    /// Pane, process and life of each member.
    places: Vec<[Value; 3]>,
}

impl Scene {
    fn new() -> Self {
        let crew = Crew::new();
        let hand = "\n[[member]]\nname = \"hand\"\nengine = \"worker\"\n\
                    [[task]]\nsubject = \"long\"\nrun = [\"sleep\", \"1000\"]\nowner = \"hand\"\n";
        crew.up(&(team("t") + &crew.taker("writer") + &crew.puppet("planner") + &crew.puppet("asker") + hand));
        crew.ok(&["send", "writer", "read before"]);
        crew.until_got("writer", "read before");
        crew.ok(&["send", "planner", "not read yet"]);
        let sent = crew.inside("planner", "echo build it | crewmux plan submit --json");
        let plan = serde_json::from_str::<Value>(&sent.out).expect("json")["id"].as_str().expect("an id").to_owned();
        let waits = crew.order("asker", "crewmux permission ask deploy --expires 30m --wait --json");
        until("both are open", || crew.json(&["requests"]).as_array().is_some_and(|r| r.len() == 2));
        until("the task runs", || crew.json(&["task", "show", "1"])["status"] == "in_progress");
        let open = crew.json(&["requests"]);
        let permission = open.as_array().expect("a list").iter().find(|r| r["kind"] == "permission");
        let permission = permission.expect("a permission")["id"].as_str().expect("an id").to_owned();
        let mut scene = Self { crew, plan, permission, waits, places: Vec::new() };
        scene.places = scene.now();
        scene
    }

    fn now(&self) -> Vec<[Value; 3]> {
        let place = |name: &&str| {
            let entry = self.crew.entry("t", name);
            ["pane_id", "pid", "life"].map(|key| entry[key].clone())
        };
        MEMBERS.iter().map(place).collect()
    }

    fn server(&self) -> u32 {
        self.crew.tmux("t", &["display-message", "-p", "#{pid}"]).trim().parse().expect("a pid")
    }

    fn open(&self) -> Vec<Value> {
        self.crew.json(&["requests"]).as_array().cloned().expect("a list")
    }

    /// Every member runs in a life after the one of before.
    fn until_all_are_new(&self) {
        until("everyone lives anew", || {
            let now = self.now();
            now.iter().zip(&self.places).all(|(now, before)| now[2] != before[2])
                && MEMBERS.iter().all(|m| {
                    let status = self.crew.status("t", m);
                    status["alive"] == true && !matches!(status["state"].as_str(), Some("starting" | "stopping"))
                })
        });
    }

    /// Mail, board and ledger after the members' lives were over and others began.
    fn nothing_is_lost(&self) {
        let crew = &self.crew;
        crew.ok(&["send", "writer", "afterwards"]);
        crew.until_got("writer", "afterwards");
        let texts = crew.texts("writer");
        assert_eq!(texts.iter().filter(|t| *t == "read before").count(), 1, "what was read is read: {texts:?}");
        let mail = crew.inside("planner", "crewmux inbox");
        assert!(mail.out.contains("not read yet"), "{mail:?}");
        until("the task goes on", || crew.json(&["task", "show", "1"])["status"] == "in_progress");
        let task = crew.json(&["task", "show", "1"]);
        assert!(task["epoch"].as_u64() > Some(1) && task["owner"] == "hand", "{task}");
        // A request is a life's own: it ended with that, and says so.
        until("no request of an ended life is open", || self.open().is_empty());
        let all = crew.json(&["requests", "--all"]);
        for id in [&self.plan, &self.permission] {
            let request = all.as_array().expect("a list").iter().find(|r| r["id"] == **id).expect("it is kept");
            assert_eq!(request["state"], "withdrawn", "{request}");
        }
        crew.fails(7, &["approve", &self.plan]);
        self.goes_down();
    }

    fn goes_down(&self) {
        self.crew.ok(&["down", "--grace", "2s", "--force"]);
        until("nothing runs", || self.crew.processes().is_empty());
    }
}

#[test]
fn of_a_killed_lead_the_next_takes_over_members_panes_tasks_and_open_requests() {
    let scene = Scene::new();
    let crew = &scene.crew;
    kill(crew.pid_of("t", "team-lead"), "KILL");
    until("no lead", || crew.json(&["status", "--team", "t"])["lead"]["alive"] == false);
    crew.ok(&["send", "--team", "t", "writer", "without a lead"]);
    crew.until_got("writer", "without a lead");
    crew.ok(&["up", "--resume", "t"]);
    assert_eq!(scene.now(), scene.places, "the same panes, processes and lives");
    let open = scene.open();
    assert_eq!(open.len(), 2, "{open:?}");
    let task = crew.json(&["task", "show", "1"]);
    assert_eq!((task["status"].as_str(), task["attempts"].as_u64()), (Some("in_progress"), Some(1)), "{task}");
    // And they are decided as if nothing had been.
    crew.ok(&["approve", &scene.permission]);
    let allowed = crew.outcome(&scene.waits);
    assert_eq!(allowed.code, 0, "{allowed:?}");
    crew.ok(&["reject", &scene.plan, "--reason", "smaller steps"]);
    until("the planner is told", || crew.inside("planner", "crewmux inbox").out.contains("smaller steps"));
    scene.goes_down();
}

#[test]
fn killed_teammates_live_again_with_mail_and_tasks() {
    let scene = Scene::new();
    for member in MEMBERS {
        kill(scene.crew.pid_of("t", member), "KILL");
    }
    scene.until_all_are_new();
    scene.nothing_is_lost();
}

#[test]
fn killed_programs_live_again_with_mail_and_a_killed_task_fails() {
    let scene = Scene::new();
    let crew = &scene.crew;
    for member in MEMBERS {
        let teammate = crew.pid_of("t", member);
        let children = std::fs::read_to_string(format!("/proc/{teammate}/task/{teammate}/children"));
        for child in children.expect("children").split_whitespace() {
            kill(child.parse().expect("a pid"), "KILL");
        }
    }
    for member in ["writer", "planner", "asker"] {
        until("its program lives again", || {
            let status = crew.status("t", member);
            status["restarts"] == 1 && status["alive"] == true && status["state"] != "starting"
        });
    }
    crew.ok(&["send", "writer", "afterwards"]);
    crew.until_got("writer", "afterwards");
    assert_eq!(crew.texts("writer").iter().filter(|t| *t == "read before").count(), 1);
    assert!(crew.inside("planner", "crewmux inbox").out.contains("not read yet"));
    until("no request of an ended life is open", || scene.open().is_empty());
    // Nobody asked for the task to be tried twice, and its worker lives on.
    until("the task failed", || crew.json(&["task", "show", "1"])["status"] == "failed");
    assert_eq!(crew.status("t", "hand")["restarts"], 0);
    scene.goes_down();
}

#[test]
fn after_the_death_of_the_tmux_server_all_live_again() {
    let scene = Scene::new();
    kill(scene.server(), "KILL");
    let crew = &scene.crew;
    until("all are gone", || {
        let status = crew.json(&["status", "--team", "t"]);
        status["lead"]["alive"] == false
            && status["members"].as_array().expect("members").iter().all(|m| m["alive"] == false)
    });
    crew.ok(&["up", "--resume", "t"]);
    scene.until_all_are_new();
    scene.nothing_is_lost();
}

#[test]
fn after_the_death_of_everything_at_once_all_live_again() {
    let scene = Scene::new();
    kill_all(&scene.crew);
    scene.crew.ok(&["up", "--resume", "t"]);
    scene.until_all_are_new();
    scene.nothing_is_lost();
}

/// Pids and start times that fit a stranger, from another boot: nothing but the boot id tells them apart.
#[test]
fn after_a_restart_of_the_machine_all_live_again_and_no_recorded_pid_means_anything() {
    let scene = Scene::new();
    let crew = &scene.crew;
    kill_all(crew);
    let mut stranger = Command::new("sleep").arg("1000").spawn().expect("sleep runs");
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", stranger.id())).expect("it runs");
    let start: u64 = stat.rsplit(')').next().and_then(|s| s.split_whitespace().nth(19)?.parse().ok()).expect("a time");
    let other = "0b007000-0000-4000-8000-000000000001";
    let mut roster = crew.roster("t");
    for member in roster["members"].as_array_mut().expect("members") {
        member["pid"] = stranger.id().into();
        member["start_time"] = start.to_string().into();
    }
    roster["tmux"]["boot_id"] = other.into();
    roster["tmux"]["server_pid"] = stranger.id().into();
    roster["tmux"]["server_start"] = start.to_string().into();
    std::fs::write(crew.team("t").join("team.json"), roster.to_string()).expect("written");
    let leases = MEMBERS.map(|m| crew.member("t", m).join("state/lease"));
    for path in leases.iter().chain(&[crew.team("t").join("lead.lease")]) {
        let mut lease: Value = serde_json::from_slice(&std::fs::read(path).expect("a lease")).expect("json");
        (lease["boot_id"], lease["pid"], lease["start_time"]) = (other.into(), stranger.id().into(), start.into());
        std::fs::write(path, lease.to_string()).expect("written");
    }
    crew.ok(&["up", "--resume", "t"]);
    scene.until_all_are_new();
    assert!(lives(stranger.id()));
    scene.nothing_is_lost();
    assert!(lives(stranger.id()), "a stranger's process was ended");
    let _ = stranger.kill();
    let _ = stranger.wait();
}

/// An agent that never opens keeps its `spawn` waiting.
#[test]
fn a_spawn_whose_lead_was_killed_is_undone_by_the_next_and_the_name_is_free() {
    let crew = Crew::new();
    crew.up(&(team("t") + &crew.taker("writer")));
    let mut spawn = crew.command(&["spawn", "late", "--engine", "acp", "--", "sleep", "1000"]);
    let spawn = spawn.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts");
    let of_late = || {
        let own = crew.processes();
        with_environment("CREWMUX_MEMBER", "late").into_iter().filter(|p| own.contains(p)).count()
    };
    until("its program runs", || of_late() > 0);
    kill(crew.pid_of("t", "team-lead"), "KILL");
    let ran = Ran::from(spawn.wait_with_output().expect("ends"));
    assert_eq!(ran.code, 6, "{ran:?}");
    crew.ok(&["up", "--resume", "t"]);
    until("nothing of it runs", || of_late() == 0);
    assert_eq!(crew.status("t", "late"), Value::Null, "it never was a member");
    until("it is said", || crew.events("t").iter().any(|e| e["type"] == "spawn_undone" && e["member"] == "late"));
    crew.ok(&["spawn", "late", "--", "sleep", "1000"]);
    assert_eq!(crew.status("t", "late")["alive"], true);
}

#[test]
fn a_down_that_was_killed_while_it_asked_is_finished_by_the_next() {
    let crew = Crew::new();
    crew.up(&(team("t") + &crew.taker("writer") + &crew.puppet("hand") + "on_shutdown = \"ask\"\n"));
    let mut down = crew.command(&["down", "--grace", "60s"]);
    let mut down = down.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("starts");
    until("the hand is asked", || crew.json(&["requests"]).as_array().is_some_and(|r| r.len() == 1));
    kill(down.id(), "KILL");
    down.wait().expect("ends");
    // The lead goes on with what it was asked for; the team stays for whoever finishes it or wants it back.
    let id = crew.json(&["requests"])[0]["id"].as_str().expect("an id").to_owned();
    crew.order("hand", &format!("crewmux approve {id}"));
    until("both have ended", || ["writer", "hand"].iter().all(|m| crew.status("t", m)["alive"] == false));
    assert_eq!(crew.json(&["status"])["lead"]["alive"], true);
    crew.ok(&["restart", "writer"]);
    crew.ok(&["send", "writer", "wanted back"]);
    crew.until_got("writer", "wanted back");
    crew.ok(&["down"]);
    assert!(!crew.team("t").exists());
    until("nothing runs", || crew.processes().is_empty());
}
