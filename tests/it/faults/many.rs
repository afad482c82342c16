//! More members than the kernel has wake-ups for.

use std::process::Command;

use crate::support::{Crew, Ran, kill, until};

/// A team of workers whose user may have `inotify` instances only, be it in a user namespace of its own: the machine's
/// other processes keep theirs. `None` where no namespace is to be had.
fn up(members: usize, inotify: usize) -> Option<Crew> {
    let crew = Crew::new();
    let mut spec = format!("v = 1\nname = \"t\"\n[limits]\nmax_members = {members}\n");
    for n in 0..members {
        spec += &format!("\n[[member]]\nname = \"m{n}\"\nengine = \"worker\"\nrestart = \"always\"\n");
    }
    crew.write("spec.toml", &spec);
    let plain = crew.command(&[]);
    let script = format!("echo {inotify} >/proc/sys/user/max_inotify_instances || exit 99; exec \"$0\" up ./spec.toml");
    let mut command = Command::new("unshare");
    command.args(["-Ur", "sh", "-c", &script]).arg(plain.get_program()).current_dir(crew.dir()).env_clear();
    command.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let ran = command.output().map(Ran::from).expect("unshare runs");
    if ran.code == 99 || ran.err.contains("unshare") {
        eprintln!("skipped: no user namespace to be had here: {}", ran.err);
        return None;
    }
    assert_eq!(ran.code, 0, "{ran:?}\n{}", crew.trouble());
    Some(crew)
}

impl Crew {
    /// Adds so many tasks and waits until all there are have been done.
    fn does(&self, tasks: usize) {
        for n in 0..tasks {
            self.ok(&["task", "--team", "t", "add", &format!("task {n}"), "--run", "--", "true"]);
        }
        until("all tasks are done", || {
            let tasks = self.json(&["task", "list", "--team", "t"]);
            tasks.as_array().expect("a list").iter().all(|t| t["status"] == "completed")
        });
    }

    fn members(&self) -> Vec<serde_json::Value> {
        self.json(&["status", "--team", "t"])["members"].as_array().cloned().expect("members")
    }
}

/// Members of whom some only look, and none of whom is lost.
fn many(members: usize, inotify: usize, deaths: usize) {
    let Some(crew) = up(members, inotify) else { return };
    let watch = |m: &serde_json::Value| {
        let name = m["name"].as_str().expect("a name");
        std::fs::read_to_string(crew.member("t", name).join("state/status.json")).unwrap_or_default()
    };
    let polling = crew.members().iter().filter(|m| watch(m).contains("polling")).count();
    assert!(polling + inotify >= members, "{polling} of {members} look, {inotify} may be woken");
    assert!(polling < members, "some are woken");
    crew.does(members);
    let told = crew.json(&["send", "--team", "t", "*", "to all"]);
    assert_eq!(told["deliveries"].as_array().map_or(0, Vec::len), members, "{told}");
    until("all have read it", || crew.members().iter().all(|m| m["unread"] == 0));
    for n in 0..deaths {
        kill(crew.pid_of("t", &format!("m{}", n * members / deaths)), "KILL");
    }
    until("all are at work", || crew.members().iter().all(|m| m["alive"] == true && m["state"] == "idle"));
    crew.does(members);
    crew.ok(&["down", "--team", "t"]);
    until("nothing runs", || crew.processes().is_empty());
}

#[test]
fn f14_where_wake_ups_run_out_the_rest_look() {
    many(12, 6, 2);
}

#[test]
#[ignore = "minutes: just faults"]
fn long_two_hundred_members() {
    many(200, 64, 20);
}
