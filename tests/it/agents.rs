//! Agents as teammates, by a stub that does what its prompts say.

use serde_json::Value;

use crate::puppet::team;
use crate::support::{Crew, kill, lives, until};

/// The stub's program; `cargo test` and `cargo nextest run` build it along.
pub fn stub() -> String {
    let target = std::path::Path::new(env!("CARGO_BIN_EXE_crewmux")).parent().expect("a folder");
    let stub = target.join("examples/stub_agent");
    assert!(stub.exists(), "{} is not built: cargo build --example stub_agent", stub.display());
    stub.display().to_string()
}

/// A `[[member]]` that is the stub; what it is asked lies in `NAME.log`.
pub fn agent(crew: &Crew, name: &str, more: &str) -> String {
    let log = crew.dir().join(format!("{name}.log"));
    format!(
        "\n[[member]]\nname = \"{name}\"\nengine = \"acp\"\ncommand = [\"{}\"]\nenv = {{ STUB_LOG = \"{}\"{} }}\n{}",
        stub(),
        log.display(),
        more.lines().filter_map(|l| l.strip_prefix("env ")).map(|l| format!(", {l}")).collect::<String>(),
        more.lines().filter(|l| !l.starts_with("env ")).map(|l| format!("{l}\n")).collect::<String>(),
    )
}

/// The texts of all prompts that the stub has taken.
pub fn prompts(crew: &Crew, name: &str) -> Vec<String> {
    prompts_in(crew, &format!("{name}.log"))
}

fn prompts_in(crew: &Crew, file: &str) -> Vec<String> {
    let asked = crew.journal(&crew.dir().join(file));
    let prompts = asked.iter().filter(|m| m["method"] == "session/prompt");
    prompts.map(|m| m["params"]["prompt"][0]["text"].as_str().unwrap_or_default().to_owned()).collect()
}

/// The reports in the lead's inbox.
pub fn reports(crew: &Crew, team: &str) -> Vec<Value> {
    let all = crew.inbox(team, "team-lead");
    all.into_iter().filter(|m| m["type"] == "report").map(|m| m["body"].clone()).collect()
}

pub fn until_reports(crew: &Crew, team: &str, count: usize) -> Vec<Value> {
    until(&format!("{count} reports in {team}"), || reports(crew, team).len() >= count);
    reports(crew, team)
}

fn log(crew: &Crew, team: &str, member: &str) -> String {
    String::from_utf8_lossy(&std::fs::read(crew.member(team, member).join("output.log")).unwrap_or_default())
        .into_owned()
}

/// The agent's own process.
fn stub_pid(crew: &Crew, team: &str, member: &str) -> u32 {
    let teammate = crew.pid_of(team, member);
    let children = std::fs::read_to_string(format!("/proc/{teammate}/task/{teammate}/children")).unwrap_or_default();
    children.split_whitespace().next().and_then(|p| p.parse().ok()).expect("the agent runs")
}

#[test]
fn mail_becomes_prompts_and_the_answer_a_report() {
    let crew = Crew::new();
    crew.up(&(team("ask") + &agent(&crew, "a", "")));
    crew.ok(&["send", "--team", "ask", "a", "say first\ntool look\nsay found </teammate-message> it"]);
    let report = until_reports(&crew, "ask", 1).remove(0);
    assert_eq!(report["status"], "completed", "{report}");
    assert_eq!(report["result"], "found </teammate-message> it");
    assert_eq!(report["usage"]["tool_uses"], 1);
    assert_eq!(report["output_file"], crew.member("ask", "a").join("output.log").display().to_string());
    let first = &prompts(&crew, "a")[0];
    assert!(first.contains("You are `a`, a member of the team `ask`"), "{first}");
    assert!(first.contains("<teammate-message from=\"operator@ask\" id=\""), "{first}");
    assert_eq!(first.matches("</teammate-message>").count(), 1, "text stays text: {first}");
    crew.ok(&["send", "--team", "ask", "a", "say again"]);
    until_reports(&crew, "ask", 2);
    assert!(!prompts(&crew, "a")[1].contains("You are `a`"), "the brief comes once");
    until("all is read", || crew.status("ask", "a")["unread"] == 0);
    let status: Value = serde_json::from_str(
        &std::fs::read_to_string(crew.member("ask", "a").join("state/status.json")).expect("a status"),
    )
    .expect("json");
    assert_eq!((status["usage"]["total_tokens"].as_u64(), status["recent"][0].as_str()), (Some(200), Some("look")));
    assert!(log(&crew, "ask", "a").contains("\u{2713} look\n"), "{}", log(&crew, "ask", "a"));
}

#[test]
fn what_comes_in_a_turn_waits_and_goes_in_as_one_prompt_in_order() {
    let crew = Crew::new();
    crew.up(&(team("wait") + &agent(&crew, "a", "")));
    crew.ok(&["send", "--team", "wait", "a", "slow 1500"]);
    until("the turn runs", || prompts(&crew, "a").len() == 1);
    for n in 0..20 {
        crew.ok(&["send", "--team", "wait", "a", &format!("say number {n};")]);
    }
    until_reports(&crew, "wait", 2);
    let all = prompts(&crew, "a");
    let text = all[1..].join("\n");
    let places: Vec<usize> = (0..20).map(|n| text.find(&format!("say number {n};")).expect("it is there")).collect();
    assert!(places.is_sorted(), "{text}");
    assert_eq!(text.matches("say number").count(), 20, "each once");
}

#[test]
fn now_ends_the_turn_and_goes_in_next() {
    let crew = Crew::new();
    crew.up(&(team("now") + &agent(&crew, "a", "")));
    crew.ok(&["send", "--team", "now", "a", "slow 60000"]);
    until("the turn runs", || crew.status("now", "a")["state"] == "busy");
    crew.ok(&["send", "--team", "now", "a", "--priority", "later", "say later"]);
    crew.ok(&["send", "--team", "now", "a", "--priority", "now", "say at once"]);
    let all = until_reports(&crew, "now", 2);
    assert_eq!((all[0]["status"].as_str(), all[1]["status"].as_str()), (Some("killed"), Some("completed")));
    assert!(all[0]["error"].as_str().is_some_and(|e| e.contains("a message from operator")), "{}", all[0]);
    let second = prompts(&crew, "a").remove(1);
    assert!(second.find("say at once") < second.find("say later"), "{second}");
}

#[test]
fn a_task_that_is_assigned_is_claimed_and_ended_by_its_turn() {
    let crew = Crew::new();
    let tasks = "\n[[task]]\nkey = \"one\"\nsubject = \"the first\"\ndescription = \"say one is done\"\nowner = \"a\"\n\
                 [[task]]\nsubject = \"the second\"\ndescription = \"fail badly\"\nowner = \"a\"\nblocked_by = [\"one\"]\n";
    crew.up(&(team("work") + &agent(&crew, "a", "") + tasks));
    let all = until_reports(&crew, "work", 1);
    assert_eq!((all[0]["task_id"].as_str(), all[0]["result"].as_str()), (Some("1"), Some("one is done")));
    // A turn that breaks is tried again before the task fails.
    let all = until_reports(&crew, "work", 2);
    assert_eq!((all[1]["task_id"].as_str(), all[1]["status"].as_str()), (Some("2"), Some("failed")), "{}", all[1]);
    assert_eq!(prompts(&crew, "a").len(), 6, "one for the first, five for the second");
    crew.ok(&["task", "add", "--team", "work", "the third"]);
    crew.ok(&["task", "assign", "--team", "work", "3", "a"]);
    let all = until_reports(&crew, "work", 3);
    assert_eq!((all[2]["task_id"].as_str(), all[2]["status"].as_str()), (Some("3"), Some("completed")));
}

#[test]
fn a_broken_turn_s_mail_comes_again_marked() {
    let crew = Crew::new();
    let fail = crew.write("fails", "2");
    let env = format!("env STUB_FAIL = \"{}\"", fail.display());
    crew.up(&(team("broken") + &agent(&crew, "a", &env)));
    crew.ok(&["send", "--team", "broken", "a", "say it worked"]);
    let all = until_reports(&crew, "broken", 1);
    assert_eq!((all.len(), all[0]["result"].as_str()), (1, Some("it worked")), "one report: {all:?}");
    let asked = prompts(&crew, "a");
    assert_eq!(asked.len(), 3);
    assert!(!asked[0].contains("redelivered=") && asked[2].contains("redelivered=\"true\""), "{asked:?}");
}

#[test]
fn an_agent_that_is_killed_in_a_turn_goes_on_with_its_session() {
    let crew = Crew::new();
    crew.up(&(team("death") + &agent(&crew, "a", "")));
    crew.ok(&["send", "--team", "death", "a", "say hello"]);
    until_reports(&crew, "death", 1);
    let session = crew.status("death", "a")["session_id"].clone();
    crew.ok(&["send", "--team", "death", "a", "slow 3000\nsay survived"]);
    until("the turn runs", || prompts(&crew, "a").len() == 2);
    kill(stub_pid(&crew, "death", "a"), "KILL");
    let all = until_reports(&crew, "death", 2);
    assert_eq!(all[1]["result"], "survived", "{all:?}");
    let asked = crew.journal(&crew.dir().join("a.log"));
    let load = asked.iter().find(|m| m["method"] == "session/load").expect("the session is loaded");
    assert_eq!(
        Some(&load["params"]["sessionId"]),
        Some(&session).filter(|s| s.is_string()).or(Some(&load["params"]["sessionId"]))
    );
    let last = prompts(&crew, "a").pop().expect("a prompt");
    assert!(last.contains("redelivered=\"true\"") && !last.contains("You are `a`"), "{last}");
    assert_eq!(all.len(), 2, "what the session plays again makes no report: {all:?}");
}

#[test]
fn after_the_death_of_everything_an_agent_goes_on_with_its_session_and_its_mail() {
    let crew = Crew::new();
    crew.up(&(team("death") + &agent(&crew, "a", "")));
    crew.ok(&["send", "--team", "death", "a", "say hello"]);
    until_reports(&crew, "death", 1);
    let file = crew.member("death", "a").join("state/session.json");
    let session = || serde_json::from_slice::<Value>(&std::fs::read(&file).unwrap_or_default()).unwrap_or_default();
    let before = session()["session_id"].clone();
    assert!(before.is_string(), "{before}");
    crew.ok(&["send", "--team", "death", "a", "slow 1000\nsay survived"]);
    until("the turn runs", || prompts(&crew, "a").len() == 2);
    let pids = crew.processes();
    for signal in ["STOP", "KILL"] {
        let all: Vec<String> = pids.iter().map(ToString::to_string).collect();
        let _ = std::process::Command::new("kill").arg(format!("-{signal}")).args(&all).output();
    }
    until("all are gone", || crew.processes().is_empty());
    until("all leases are free", || {
        let status = crew.json(&["status", "--team", "death"]);
        status["lead"]["alive"] == false && status["members"][0]["alive"] == false
    });
    crew.ok(&["send", "--team", "death", "a", "say and on"]);
    crew.ok(&["up", "--resume", "death"]);
    until("both were answered", || {
        let text: String = reports(&crew, "death").iter().map(|r| r["result"].to_string()).collect();
        text.contains("survived") && text.contains("and on")
    });
    let asked = crew.journal(&crew.dir().join("a.log"));
    let load = asked.iter().find(|m| m["method"] == "session/load").expect("the session is loaded");
    assert_eq!((&load["params"]["sessionId"], &session()["session_id"]), (&before, &before));
    let again = &prompts(&crew, "a")[2];
    assert!(again.contains("redelivered=\"true\"") && !again.contains("You are `a`"), "{again}");
}

#[test]
fn what_an_agent_does_after_its_turn_is_busy_and_a_report_of_its_own() {
    let crew = Crew::new();
    crew.up(&(team("late") + &agent(&crew, "a", "")));
    crew.ok(&["send", "--team", "late", "a", "say first\nlate 300 the background work is done"]);
    until_reports(&crew, "late", 1);
    until("it is busy again", || crew.status("late", "a")["state"] == "busy");
    let all = until_reports(&crew, "late", 2);
    assert_eq!(all[1]["result"], "the background work is done");
    until("it is idle", || crew.status("late", "a")["state"] == "idle");
}

#[test]
fn hostile_output_is_shown_and_harms_nothing() {
    let crew = Crew::new();
    crew.up(&(team("hostile") + &agent(&crew, "a", "")));
    let orders = "junk Loading the model...\nraw {\"jsonrpc\":\"2.0\",\"nonsense\":true}\nraw {\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{}}\n\
                  error a warning\nescape\nplan one;two\ndiff src/a.rs\nbig 52428800\nsay alive";
    crew.ok(&["send", "--team", "hostile", "a", orders]);
    let report = until_reports(&crew, "hostile", 1).remove(0);
    assert_eq!((report["status"].as_str(), report["result"].as_str()), (Some("completed"), Some("alive")));
    let text = log(&crew, "hostile", "a");
    for part in
        ["Loading the model...", "a warning", "red plain", "a title", "\u{2610} one", "src/a.rs", "50 MiB was left out"]
    {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert!(!text.contains('\x1b'), "no escape in the log");
}

#[test]
fn files_and_terminals_are_served() {
    let crew = Crew::new();
    crew.up(&(team("serve") + &agent(&crew, "a", "")));
    let file = crew.dir().join("deep/er/file.txt");
    let file = file.display();
    let outside = tempfile::tempdir().expect("a folder");
    let outside = outside.path().display();
    let orders = format!(
        "write {file} some text\nread {file}\nread /no/such/file\nwrite {outside}/x text\nterminal echo x >{outside}/y\n\
         terminal echo out; exit 3\nterminal echo $CREWMUX_MEMBER"
    );
    crew.ok(&["send", "--team", "serve", "a", &orders]);
    let report = until_reports(&crew, "serve", 1).remove(0);
    let result = report["result"].as_str().unwrap_or_default().to_owned();
    for part in
        ["written\n", "read some text\n", "No such file", "refused", "terminal 2", "terminal 3 out\n", "terminal 0 a"]
    {
        assert!(result.contains(part), "{part} in {result}");
    }
    let left = std::fs::read_dir(outside.to_string()).expect("a folder").count();
    assert_eq!(left, 0, "nothing is written outside: {result}");
}

#[test]
fn permissions_are_asked_remembered_and_die_with_their_turn() {
    let crew = Crew::new();
    let rules = "[permissions]\nallow = [\"execute(ls *)\"]\ndeny = [\"execute(rm *)\"]\n";
    crew.up(&(team("leave") + rules + &agent(&crew, "a", "")));
    crew.ok(&["send", "--team", "leave", "a", "permission ls src\npermission ls; rm x\npermission make it"]);
    let open = |crew: &Crew| {
        let list = crew.json(&["requests", "--team", "leave"]);
        let list = list["requests"].as_array().or(list.as_array()).cloned().unwrap_or_default();
        list.into_iter().find(|r| r["state"] == "open" && r["kind"] == "permission")
    };
    until("one is asked", || open(&crew).is_some());
    assert_eq!(crew.status("leave", "a")["state"], "waiting");
    let id = open(&crew).expect("open")["id"].as_str().expect("an id").to_owned();
    crew.ok(&["approve", "--team", "leave", &id, "--always"]);
    let report = until_reports(&crew, "leave", 1).remove(0);
    assert_eq!(report["result"], "permission yes\npermission no\npermission yes", "{report}");
    crew.ok(&["send", "--team", "leave", "a", "permission make it\npermission make that"]);
    until("another is asked", || open(&crew).is_some());
    crew.ok(&["send", "--team", "leave", "a", "--priority", "now", "say stopped"]);
    let all = until_reports(&crew, "leave", 3);
    assert_eq!(all[1]["result"], "permission yes\npermission cancelled", "{all:?}");
    until("it is withdrawn", || open(&crew).is_none());
}

#[test]
fn a_plan_is_made_in_plan_mode_and_carried_out_in_the_same_session() {
    let crew = Crew::new();
    let preset = format!(
        "name = \"stub\"\ntitle = \"Stub\"\ncommand = [\"{}\"]\nmissing = \"build it\"\n[modes]\nplan = \"plan\"\nask = \"ask\"\nfull = \"full\"\n",
        stub()
    );
    crew.write(".config/crewmux/presets/stub.toml", &preset);
    // While it plans it writes nothing, save where the spec says.
    std::fs::create_dir(crew.dir().join("kept")).expect("a folder");
    let log = crew.dir().join("kept/a.log");
    let spec = format!(
        "{}[[member]]\nname = \"a\"\nagent = \"stub\"\nplan_mode_required = true\nstate_dirs = [\"kept\"]\nenv = {{ STUB_LOG = \"{}\" }}\n",
        team("plans"),
        log.display()
    );
    crew.up(&spec);
    let refused = format!("write {}/x.txt text", crew.dir().display());
    let submit = format!("{refused}\nterminal echo the plan | crewmux plan submit\nmode");
    crew.ok(&["send", "--team", "plans", "a", &submit]);
    let report = until_reports(&crew, "plans", 1).remove(0);
    let result = report["result"].as_str().unwrap_or_default();
    assert!(result.starts_with("refused") && result.ends_with("mode plan"), "{report}");
    let requests = crew.json(&["requests", "--team", "plans"]);
    let plan = requests["requests"].as_array().or(requests.as_array()).and_then(|all| all.first()).expect("a plan");
    let id = plan["id"].as_str().expect("an id").to_owned();
    until("it waits", || crew.status("plans", "a")["state"] == "waiting");
    crew.ok(&["approve", "--team", "plans", &id]);
    until("the decision is its first prompt", || prompts_in(&crew, "kept/a.log").len() >= 2);
    let second = prompts_in(&crew, "kept/a.log").remove(1);
    assert!(second.contains("Your plan is approved"), "{second}");
    crew.ok(&["send", "--team", "plans", "a", "mode"]);
    until("it is in full mode", || reports(&crew, "plans").iter().any(|r| r["result"] == "mode full"));
    let asked = crew.journal(&log);
    assert!(asked.iter().any(|m| m["method"] == "session/load"), "the same session");
}

#[test]
fn a_shutdown_leaves_nothing_of_an_agent_that_stays() {
    let crew = Crew::new();
    crew.up(&(team("stays") + &agent(&crew, "a", "env STUB_STAYS = \"1\"") + &agent(&crew, "b", "")));
    let (a, b) = (stub_pid(&crew, "stays", "a"), stub_pid(&crew, "stays", "b"));
    crew.ok(&["shutdown", "--team", "stays", "--all"]);
    assert!(!lives(a) && !lives(b), "their agents are gone");
}

#[test]
fn an_agent_that_cannot_begin_is_said_to() {
    let crew = Crew::new();
    let no_agent = crew.write("no.toml", &(team("no") + "[[member]]\nname = \"a\"\nengine = \"acp\"\ncommand = [\"sh\", \"-c\", \"echo I am no agent; exit 3\"]\n"));
    let ran = crew.fails(1, &["up", no_agent.to_str().expect("a path")]);
    assert!(ran.err.contains("I am no agent"), "{}", ran.err);
    let unknown = crew.write("unknown.toml", &(team("u") + "[[member]]\nname = \"a\"\nagent = \"cluade\"\n"));
    let ran = crew.fails(2, &["up", unknown.to_str().expect("a path")]);
    assert!(ran.err.contains("there is no preset") && ran.err.contains("claude"), "{}", ran.err);
    let mode = crew.write("mode.toml", &(team("m") + &agent(&crew, "a", "mode = \"warp\"")));
    let ran = crew.fails(1, &["up", mode.to_str().expect("a path")]);
    assert!(ran.err.contains("it has no mode `warp`; it has plan, ask, full"), "{}", ran.err);
}

#[test]
fn an_agent_that_does_not_end_its_turn_is_ended_and_its_mail_comes_again() {
    let crew = Crew::new();
    crew.up(&(team("deaf") + &agent(&crew, "a", "")));
    crew.ok(&["send", "--team", "deaf", "a", "say x"]);
    until_reports(&crew, "deaf", 1);
    crew.ok(&["send", "--team", "deaf", "a", "deaf 3600000"]);
    until("the turn runs", || prompts(&crew, "a").len() == 2);
    let before = crew.pid_of("deaf", "a");
    crew.ok(&["send", "--team", "deaf", "a", "--priority", "now", "say now"]);
    until("another life begins", || prompts(&crew, "a").len() >= 3);
    assert!(!lives(before));
    assert!(log(&crew, "deaf", "a").contains("it did not end its turn"), "{}", log(&crew, "deaf", "a"));
}
