//! Our own agent as a member: in its sandbox, as a coordinator that leads, with children in work trees.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::model_server::{Answer, ModelServer, calls, results, says};
use crate::support::{Crew, until};

#[test]
fn the_verbs_work_from_a_command_of_an_agent_in_its_sandbox() {
    let crew = Crew::new();
    let run = |id: &'static str, command: &str| calls(&[(id, "Bash", json!({ "command": command }))]);
    let server = ModelServer::of(vec![
        run("a", "crewmux send operator 'from a command' && crewmux task list && echo x >\"$CREWMUX_SCRATCH/left\""),
        says("sent"),
    ]);
    crew.up(&format!(
        "v = 1\nname = \"t\"\n[permissions]\nallow = [\"execute(*)\"]\n[[member]]\nname = \"dev\"\nagent = \"crewmux\"\n\
         env = {{ ANTHROPIC_BASE_URL = \"{}\", ANTHROPIC_API_KEY = \"k\" }}\n",
        server.url
    ));
    crew.ok(&["send", "dev", "say hello"]);
    until("the agent has reported", || crew.ok(&["inbox"]).contains("sent"));
    let got = results(&server.asked()[1].json());
    assert!(!got[0].1, "{got:?}");
    assert!(crew.ok(&["inbox"]).contains("from a command"));
    assert!(crew.team("t").join("scratch/left").exists());
}

fn git(dir: &Path, args: &[&str]) -> String {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=t", "-c", "user.email=t@localhost"]).args(args).current_dir(dir);
    let output = command.env("GIT_CONFIG_GLOBAL", "/dev/null").output().expect("git runs");
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// The four phases of a coordinator on a real repository with a real bug, from the cassette that comes along.
#[test]
fn a_coordinator_has_a_failing_test_repaired_in_a_work_tree_and_verified() {
    let crew = Crew::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let repo = crew.dir().join("repo");
    std::fs::create_dir(&repo).expect("a folder");
    for file in ["median.sh", "test.sh"] {
        std::fs::copy(root.join("examples/fix/project").join(file), repo.join(file)).expect("a copy");
    }
    git(&repo, &["init", "-q", "-b", "main"]);
    git(&repo, &["add", "."]);
    git(&repo, &["commit", "-q", "-m", "first"]);
    let spec = root.join("teams/fix.toml");
    let (spec, cwd) = (spec.to_str().expect("plain"), repo.to_str().expect("plain"));
    crew.ok(&["up", spec, "--name", "fix", "--cwd", cwd]);
    crew.ok(&["wait", "--for", "task:1=completed", "--timeout", "60s"]);
    let said = crew.ok(&["inbox"]);
    assert!(said.contains("VERDICT: PASS") && said.contains("crewmux worktree merge"), "{said}");
    assert!(!said.contains("They work"), "the answer is what was said last: {said}");
    // Nothing has changed where the person works; the change is on a branch, whole and committed.
    assert_eq!(git(&repo, &["status", "--porcelain"]), "");
    let trees: Value = crew.json(&["worktree", "list"]);
    let tree = &trees.as_array().expect("a list")[0];
    assert_eq!(
        (trees.as_array().map(Vec::len), &tree["commits"], &tree["files"]),
        (Some(1), &json!(1), &json!(0)),
        "{trees}"
    );
    let branch = tree["branch"].as_str().expect("a branch").to_owned();
    assert!(branch.starts_with("crewmux/fix/chief-agent-"), "{branch}");
    // The two that looked, the one that changed, the one that judged; each told of once.
    let sessions = crew.team("fix").join("scratch/agent/chief/sessions");
    let session = std::fs::read_dir(&sessions).expect("sessions").flatten().next().expect("one").path();
    let main = std::fs::read_to_string(session.join("main.jsonl")).expect("a transcript");
    assert_eq!(main.matches("<task-notification>").count(), 4, "{main}");
    let kinds = |kind: &str| {
        let metas = std::fs::read_dir(session.join("children")).expect("children").flatten();
        let texts = metas.filter_map(|e| std::fs::read_to_string(e.path()).ok());
        texts.filter(|t| t.contains(&format!("\"definition\":\"{kind}\""))).count()
    };
    assert_eq!((kinds("worker"), kinds("verification")), (3, 1));
    crew.ok(&["down"]);
    crew.ok(&["worktree", "merge", &branch]);
    crew.ok(&["worktree", "rm", &branch]);
    let test = Command::new("sh").arg("test.sh").current_dir(&repo).output().expect("it runs");
    assert!(test.status.success(), "{}", String::from_utf8_lossy(&test.stdout));
}

#[test]
fn an_agent_that_coordinates_has_its_tools_and_no_others_and_is_told_how() {
    let crew = Crew::new();
    let server = ModelServer::of(vec![says("ready")]);
    crew.up(&format!(
        "v = 1\nname = \"t\"\n[lead]\nengine = \"acp\"\nagent = \"crewmux\"\nmode = \"coordinator\"\n\
         env = {{ ANTHROPIC_BASE_URL = \"{}\", ANTHROPIC_API_KEY = \"k\" }}\n",
        server.url
    ));
    crew.ok(&["send", "lead", "hello"]);
    until("it was asked", || !server.asked().is_empty());
    let body = server.asked()[0].json();
    let tools: Vec<&str> = body["tools"].as_array().expect("tools").iter().filter_map(|t| t["name"].as_str()).collect();
    assert_eq!(tools, ["Agent", "SendMessage", "TaskStop"]);
    let system = body["system"].to_string();
    assert!(system.contains("You are a coordinator") && system.contains("/teams/t/scratch"), "{system}");
    let agent = &body["tools"][0]["input_schema"]["properties"];
    assert!(agent["model"].is_null() && agent["run_in_background"].is_null(), "{agent}");
}

#[test]
fn a_planning_agent_hands_its_plan_in_plans_again_and_does_it_when_it_is_agreed_upon() {
    let crew = Crew::new();
    let plan = |id: &'static str, text: &str| calls(&[(id, "ExitPlanMode", json!({ "plan": text }))]);
    let server = ModelServer::new(move |_, body| {
        let planning = body["tools"].to_string().contains("\"ExitPlanMode\"");
        let all = body["messages"].to_string();
        Answer::Reply(match (planning, results(body).last()) {
            (true, None) if all.contains("with a test") => says("waiting"),
            (true, None) => calls(&[("w", "Bash", json!({ "command": "echo early >made" }))]),
            (true, Some((id, ..))) if id == "w" => plan("p1", "1. write it"),
            (true, Some((_, true, text))) if text.contains("with a test") => plan("p2", "1. write it\n2. with a test"),
            (true, Some(_)) => says("a turn too many"),
            (false, None) if !all.contains("approved") => says("why was I started?"),
            (false, None) => calls(&[("m", "Bash", json!({ "command": "echo late >made" }))]),
            (false, Some(_)) => says("it is made"),
        })
    });
    crew.up(&format!(
        "v = 1\nname = \"t\"\n[permissions]\nallow = [\"execute(*)\"]\n[[member]]\nname = \"dev\"\nagent = \"crewmux\"\n\
         plan_mode_required = true\nenv = {{ ANTHROPIC_BASE_URL = \"{}\", ANTHROPIC_API_KEY = \"k\" }}\n",
        server.url
    ));
    crew.ok(&["send", "dev", "make it"]);
    let open = || {
        crew.ok(&["wait", "--for", "request", "--timeout", "60s"]);
        crew.json(&["requests"])[0]["id"].as_str().expect("an open request").to_owned()
    };
    let first = open();
    assert!(crew.ok(&["plan", "show", &first]).contains("1. write it"));
    assert!(!crew.dir().join("made").exists(), "nothing is written while it plans");
    crew.ok(&["reject", &first, "--feedback", "with a test"]);
    let second = open();
    assert!(second != first && crew.ok(&["plan", "show", &second]).contains("2. with a test"));
    crew.ok(&["approve", &second]);
    until("it is done", || crew.ok(&["inbox"]).contains("it is made"));
    let got = results(&server.asked().last().expect("one").json());
    assert_eq!(crew.read("made"), "late\n", "{got:?} {}", crew.ok(&["logs", "dev"]));
}

#[test]
fn two_agents_review_a_change_and_can_change_nothing() {
    let crew = Crew::new();
    let repo = crew.dir().join("repo");
    std::fs::create_dir(&repo).expect("a folder");
    git(&repo, &["init", "-q", "-b", "main"]);
    git(&repo, &["commit", "-q", "--allow-empty", "-m", "first"]);
    let server = ModelServer::new(|_, body| {
        let runs = body["messages"].to_string().contains("Run what main..topic changed");
        Answer::Reply(match (runs, results(body).is_empty()) {
            (true, true) => calls(&[("b", "Bash", json!({ "command": "echo x >made; git log --oneline" }))]),
            (true, false) => says("it runs"),
            (false, true) => calls(&[("b", "Bash", json!({ "command": "git show --stat" }))]),
            (false, false) => says("it reads well"),
        })
    });
    let spec = Path::new(env!("CARGO_MANIFEST_DIR")).join("teams/review.toml");
    let (spec, cwd) = (spec.to_str().expect("plain"), repo.to_str().expect("plain"));
    let mut command = crew.command(&["run", spec, "--cwd", cwd, "--set", "range=main..topic"]);
    command.env("ANTHROPIC_BASE_URL", &server.url).env("ANTHROPIC_API_KEY", "k");
    let ran = crate::support::Ran::from(command.output().expect("it runs"));
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert!(ran.out.contains("2/2 done"), "{ran:#?}");
    assert!(!repo.join("made").exists());
    let words: Vec<String> = server.asked().iter().flat_map(|a| results(&a.json())).map(|(_, _, text)| text).collect();
    assert!(words.iter().any(|text| text.contains("first")), "git shows what is there: {words:?}");
}

/// A lead that hands work out, two that build in work trees, one that reviews: all of our own make.
#[test]
fn a_mixed_team_of_one_make_builds_reviews_and_reports() {
    let crew = Crew::new();
    let repo = crew.dir().join("repo");
    std::fs::create_dir(&repo).expect("a folder");
    git(&repo, &["init", "-q", "-b", "main"]);
    git(&repo, &["commit", "-q", "--allow-empty", "-m", "first"]);
    let server = ModelServer::new(|_, body| {
        let system = body["system"].to_string();
        let is = |name: &str| system.contains(&format!("member `{name}` of the team"));
        let (all, last) = (body["messages"].to_string(), results(body).last().cloned());
        let send = |id: &'static str, to: &str, text: &str| (id, "SendMessage", json!({ "to": to, "message": text }));
        let build = |file: &str| {
            let command = format!(
                "echo {file} >{file} && git add . && git -c user.name=t -c user.email=t@localhost commit -qm {file} && crewmux task list"
            );
            calls(&[("b", "Bash", json!({ "command": command }))])
        };
        Answer::Reply(match last {
            None if is("chief") && all.contains("REVIEWED") => says("BUILT AND REVIEWED"),
            None if is("chief")
                && all.contains("ONE-BUILT")
                && all.contains("TWO-BUILT")
                && !all.contains("look at both") =>
            {
                calls(&[send("r", "reviewer", "look at both")])
            }
            None if is("chief") && !all.contains("make one") => {
                calls(&[send("s1", "first", "make one"), send("s2", "second", "make two")])
            }
            None if is("first") => build("one"),
            None if is("second") => build("two"),
            None if is("reviewer") => calls(&[("b", "Bash", json!({ "command": "crewmux worktree list" }))]),
            Some(_) if is("first") => says("ONE-BUILT"),
            Some(_) if is("second") => says("TWO-BUILT"),
            Some((_, _, text)) if is("reviewer") => says(&format!("REVIEWED {}", text.contains("second"))),
            _ => says("I wait."),
        })
    });
    let spec = Path::new(env!("CARGO_MANIFEST_DIR")).join("teams/mixed.toml");
    let (spec, cwd) = (spec.to_str().expect("plain"), repo.to_str().expect("plain"));
    let mut args = vec!["up", spec, "--cwd", cwd];
    for make in ["lead=crewmux", "first=crewmux", "second=crewmux", "reviewer=crewmux"] {
        args.extend(["--set", make]);
    }
    let mut command = crew.command(&args);
    command.env("ANTHROPIC_BASE_URL", &server.url).env("ANTHROPIC_API_KEY", "k");
    let up = crate::support::Ran::from(command.output().expect("it runs"));
    assert_eq!(up.code, 0, "{up:#?}");
    crew.ok(&["send", "lead", "build it"]);
    // What they run is a person's to allow: the team reserves it.
    until("it is built and reviewed", || {
        for request in crew.json(&["requests"]).as_array().expect("a list") {
            crew.run(&["approve", request["id"].as_str().expect("an id")]);
        }
        crew.ok(&["inbox"]).contains("BUILT AND REVIEWED")
    });
    let ran: Vec<_> = server.asked().iter().flat_map(|a| results(&a.json())).filter(|(id, ..)| id == "b").collect();
    for (branch, file) in [("crewmux/mixed/first", "one"), ("crewmux/mixed/second", "two")] {
        assert_eq!(git(&repo, &["log", "-1", "--format=%s", branch]), file, "{ran:?}");
    }
    assert_eq!(git(&repo, &["log", "--format=%s", "main"]), "first");
    let said = crew.ok(&["down"]);
    assert!(!said.contains("error"), "{said}");
    assert!(git(&repo, &["branch", "--list", "crewmux/*"]).contains("crewmux/mixed/first"), "what was built stays");
}
