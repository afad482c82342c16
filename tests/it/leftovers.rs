//! What dead teams leave over is found and removed; what lives stays.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use crate::puppet::team;
use crate::support::{Crew, kill, lives, until};

fn kinds(found: &Value) -> Vec<&str> {
    found.as_array().expect("a list").iter().filter_map(|item| item["kind"].as_str()).collect()
}

/// Kills lead, teammates and tmux of the team, and nothing else.
fn kill_runtime(crew: &Crew, members: &[&str]) {
    let mut pids: Vec<u32> = members.iter().map(|m| crew.pid_of("t", m)).collect();
    pids.push(crew.pid_of("t", "team-lead"));
    pids.push(crew.tmux("t", &["display-message", "-p", "#{pid}"]).trim().parse().expect("a pid"));
    for signal in ["STOP", "KILL"] {
        pids.iter().for_each(|pid| kill(*pid, signal));
    }
    until("they are gone", || pids.iter().all(|pid| !lives(*pid)));
    until("all leases are free", || {
        let status = crew.json(&["status", "--team", "t"]);
        status["lead"]["alive"] == false
            && status["members"].as_array().expect("members").iter().all(|m| m["alive"] == false)
    });
}

#[test]
fn f23_gc_lists_a_dead_team_and_what_still_runs_of_it_and_then_removes_both() {
    let crew = Crew::new();
    // A grandchild in a session of its own, which no hang-up reaches.
    let stray = "[[member]]\nname = \"stray\"\nengine = \"command\"\n\
                 command = [\"sh\", \"-c\", \"setsid sh -c 'echo $$$$ >stray.pid; trap : HUP TERM; while :; do sleep 1; done' & wait\"]\n";
    crew.up(&(team("t") + stray));
    let stray: u32 = crew.awaits("stray.pid").trim().parse().expect("a pid");
    assert_eq!(kinds(&crew.json(&["gc"])), [""; 0], "a living team is none of its business");
    kill_runtime(&crew, &["stray"]);
    assert!(lives(stray));

    let listed = crew.json(&["gc"]);
    assert_eq!(kinds(&listed), ["dead_team"], "{listed}");
    assert!(listed[0]["pids"].as_array().expect("pids").contains(&stray.into()), "{listed}");
    assert_eq!((listed[0]["removed"].as_bool(), listed[0]["stays"].as_str()), (Some(false), None));
    assert!(lives(stray) && crew.team("t").exists(), "listing removes nothing");
    let said = crew.ok(&["gc"]);
    assert!(said.contains("dead team t") && said.contains("up --resume t"), "{said}");

    let removed = crew.json(&["gc", "--yes"]);
    assert_eq!(removed[0]["removed"], true, "{removed}");
    assert!(!lives(stray) && !crew.team("t").exists());
    assert_eq!(fs::read_dir(crew.home().join("dead")).expect("the dead").count(), 1, "its files are kept");
    assert_eq!(crew.processes(), [0; 0]);
    assert_eq!(kinds(&crew.json(&["gc"])), [""; 0]);
}

#[test]
fn gc_leaves_a_team_whose_members_live_without_a_lead() {
    let crew = Crew::new();
    crew.up(&(team("t") + &crew.taker("writer")));
    kill(crew.pid_of("t", "team-lead"), "KILL");
    until("no lead", || crew.json(&["status", "--team", "t"])["lead"]["alive"] == false);
    let writer = crew.pid_of("t", "writer");
    let found = crew.json(&["gc", "--yes"]);
    assert_eq!(kinds(&found), ["team"], "{found}");
    assert!(found[0]["stays"].as_str().is_some_and(|why| why.contains("up --resume t")), "{found}");
    assert!(lives(writer));
    crew.ok(&["up", "--resume", "t"]);
    assert_eq!(crew.pid_of("t", "writer"), writer);
}

#[test]
fn gc_removes_cut_off_launches_and_dead_sockets_and_asks_no_strangers_process() {
    let crew = Crew::new();
    crew.up(&(team("t") + &crew.taker("writer")));
    crew.ok(&["down", "--team", "t"]);
    let staging = crew.home().join("teams/.t-01a23bc9-f730-74fd-80d7-03a9849a1a15");
    let other = crew.home().join("teams/.notes");
    for folder in [&staging, &other] {
        fs::create_dir_all(folder).expect("a folder");
    }
    let sockets = crew.dir().join("run/crewmux/0123abcd");
    fs::create_dir_all(&sockets).expect("a folder");
    let (dead, young) = (sockets.join("tmux"), sockets.join("tmux-2"));
    for path in [&dead, &young] {
        drop(std::os::unix::net::UnixListener::bind(path).expect("a socket"));
    }
    let hour_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(3600);
    let touched = std::process::Command::new("touch")
        .args(["-h", "-d", &format!("@{}", hour_ago.duration_since(std::time::UNIX_EPOCH).expect("a time").as_secs())])
        .arg(&dead)
        .status();
    assert!(touched.expect("touch runs").success());
    // The buried roster names a process that was ended; its pid is somebody else's by now.
    let buried = fs::read_dir(crew.home().join("dead")).expect("dead").flatten().next().expect("one").path();
    let mut stranger = std::process::Command::new("sleep").arg("1000").spawn().expect("sleep runs");
    let mut roster: Value = serde_json::from_slice(&fs::read(buried.join("team.json")).expect("read")).expect("json");
    for member in roster["members"].as_array_mut().expect("members") {
        member["pid"] = stranger.id().into();
    }
    roster["tmux"]["server_pid"] = stranger.id().into();
    fs::write(buried.join("team.json"), roster.to_string()).expect("written");

    let listed = crew.json(&["gc"]);
    assert_eq!(kinds(&listed), ["staging", "socket"], "{listed}");
    let removed = crew.json(&["gc", "--yes"]);
    assert!(removed.as_array().expect("a list").iter().all(|item| item["removed"] == true), "{removed}");
    assert!(!staging.exists() && other.exists());
    assert!(!dead.exists() && young.exists(), "what was just made stays");
    assert!(lives(stranger.id()));
    let _ = stranger.kill();
    let _ = stranger.wait();
}

#[test]
fn a_member_may_look_for_leftovers_and_not_remove_them() {
    let crew = Crew::new();
    crew.up(&(team("t") + &crew.puppet("hand")));
    assert_eq!(crew.inside("hand", "crewmux gc").code, 0);
    for verb in ["crewmux gc --yes", "crewmux doctor --fix"] {
        let ran = crew.inside("hand", verb);
        assert!(ran.code == 4 && ran.err.contains("operator"), "{verb}: {ran:?}");
    }
}

#[test]
fn f08_doctor_mends_what_can_be_mended_without_loss() {
    let crew = Crew::new();
    crew.up(&(team("t") + &crew.taker("writer")));
    crew.ok(&["send", "writer", "before"]);
    crew.until_got("writer", "before");
    let inbox = crew.member("t", "writer").join("mail/inbox.jsonl");
    let mut file = fs::OpenOptions::new().append(true).open(&inbox).expect("the inbox");
    file.write_all(b"{\"seq\":2,\"half").expect("written");
    fs::set_permissions(&inbox, fs::Permissions::from_mode(0o644)).expect("a mode");
    let leaving = crew.member("t", "writer").join("state/.status.json.4294967-0-abcdef01.tmp");
    fs::write(&leaving, "{").expect("written");
    fs::set_permissions(&leaving, fs::Permissions::from_mode(0o600)).expect("a mode");

    let found = crew.ok(&["doctor", "--team", "t"]);
    assert!(found.contains("has no end") && found.contains("others can read or write"), "{found}");
    assert!(leaving.exists(), "a look changes nothing");
    let fixed = crew.json(&["doctor", "--fix", "--team", "t"]);
    let mended: Vec<&Value> = fixed.as_array().expect("a list").iter().filter(|f| f["fixed"] == true).collect();
    assert_eq!(mended.len(), 3, "{fixed}");
    assert!(!leaving.exists());
    assert_eq!(fs::metadata(&inbox).expect("there").permissions().mode() & 0o777, 0o600);
    let again = crew.json(&["doctor", "--fix", "--team", "t"]);
    assert!(again.as_array().expect("a list").iter().all(|f| f["fixed"] == false), "{again}");
    crew.ok(&["send", "writer", "after"]);
    crew.until_got("writer", "after");
}

#[test]
fn doctor_asks_every_teammate_and_names_who_does_not_hear() {
    let crew = Crew::new();
    crew.up(&(team("t") + &crew.taker("hears") + &crew.taker("stopped")));
    let fine = crew.ok(&["doctor", "--team", "t"]);
    assert!(fine.contains("2 of 2 answered a ping") && !fine.contains("panes"), "{fine}");
    // A pane that a person opened beside them is named, and is no fault.
    let own = crew.tmux("t", &["new-window", "-d", "-P", "-F", "#{pane_id}", "sleep 1000"]);
    let with_own = crew.ok(&["doctor", "--team", "t"]);
    assert!(with_own.contains(&format!("left alone when it ends: {}", own.trim())), "{with_own}");
    crew.tmux("t", &["kill-pane", "-t", own.trim()]);
    let stopped = crew.pid_of("t", "stopped");
    // tmux wakes what was stopped in a pane of its own, so it is stopped first.
    let server: u32 = crew.tmux("t", &["display-message", "-p", "#{pid}"]).trim().parse().expect("a pid");
    [server, stopped].iter().for_each(|pid| kill(*pid, "STOP"));
    let deaf = crew.fails(1, &["doctor", "--team", "t"]);
    assert!(deaf.out.contains("1 of 2 answered a ping"), "{}", deaf.out);
    assert!(deaf.out.contains("t: stopped: did not answer a ping within 5 s"), "{}", deaf.out);
    until("its state says so", || crew.status("t", "stopped")["state"] == "unresponsive");
    [server, stopped].iter().for_each(|pid| kill(*pid, "CONT"));
    until("it hears again", || crew.status("t", "stopped")["state"] != "unresponsive");
    crew.ok(&["doctor", "--team", "t"]);
}

#[test]
fn doctor_finds_what_is_missing_in_a_journal_and_a_cursor_ahead_of_its_file() {
    let crew = Crew::new();
    crew.up(&(team("t") + &crew.taker("writer")));
    for text in ["one", "two", "three"] {
        crew.ok(&["send", "writer", text]);
    }
    crew.until_got("writer", "three");
    crew.ok(&["down", "--team", "t", "--keep-files"]);
    let inbox = crew.member("t", "writer").join("mail/inbox.jsonl");
    let text = fs::read_to_string(&inbox).expect("text");
    let lines: Vec<&str> = text.lines().collect();
    fs::write(&inbox, format!("{}\n{}\n", lines[0], lines[2])).expect("written");
    let cursors = crew.member("t", "writer").join("state/cursors.json");
    let mut cursor: Value = serde_json::from_slice(&fs::read(&cursors).expect("cursors")).expect("json");
    cursor["inbox"]["handed"] = 99.into();
    fs::write(&cursors, cursor.to_string()).expect("written");
    let found = crew.fails(1, &["doctor", "--team", "t"]).out;
    assert!(found.contains("after record 1 comes 3"), "{found}");
    assert!(found.contains("its cursor stands at 99, the file ends at 3"), "{found}");
    let json = crew.run(&["doctor", "--team", "t", "--json"]).out;
    let json: Value = serde_json::from_str(&json).expect("json");
    let all = json.as_array().expect("a list");
    for what in ["tmux", "inotify", "file system", "home", "sandbox", "git", "boot id"] {
        assert!(all.iter().any(|f| f["what"] == what), "nothing is said of {what}: {json}");
    }
    assert!(all.iter().filter(|f| f["ok"] == false).all(|f| f["hint"].is_string()), "each says what helps: {json}");
}
