//! The teams of agents that come along, with our own agent in every place and a server that answers for its model.

use serde_json::{Value, json};

use crate::agents::reports;
use crate::model_server::{Answer, ModelServer, calls, results, says};
use crate::support::{Crew, until};

/// The words of the last message of a request.
fn last_words(body: &Value) -> String {
    body["messages"].as_array().and_then(|all| all.last()).map(ToString::to_string).unwrap_or_default()
}

/// A model that tells `to` what follows `TELL TO:` in its prompt, and otherwise says what it heard.
fn model(_: usize, body: &Value) -> Answer {
    let words = last_words(body);
    if !results(body).is_empty() {
        return Answer::Reply(says("it was told"));
    }
    let order =
        words.split_once("TELL ").and_then(|(_, rest)| rest.split_once(": ")).filter(|(to, _)| !to.contains(' '));
    Answer::Reply(match order {
        Some((to, rest)) => {
            let text: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == ' ').collect();
            calls(&[("c1", "Bash", json!({"command": format!("crewmux send {to} {text}")}))])
        }
        None => says("heard"),
    })
}

/// Launches a team of `teams/` in a repository of one commit, every agent of it our own.
fn up(crew: &Crew, server: &ModelServer, team: &str, vars: &[&str]) {
    crew.write("repo/a.txt", "one\n");
    crew.write(".gitconfig", "[user]\nname = A\nemail = a@b\n[init]\ndefaultBranch = main\n");
    for args in [&["init", "-q"][..], &["add", "-A"], &["commit", "-q", "-m", "first"]] {
        let mut git = std::process::Command::new("git");
        let ran = git.args(args).current_dir(crew.dir().join("repo")).env("HOME", crew.dir()).status();
        assert!(ran.expect("git runs").success());
    }
    let spec = format!("{}/teams/{team}.toml", env!("CARGO_MANIFEST_DIR"));
    let mut up = crew.command(&["up", &spec, "--cwd", "repo"]);
    for var in vars {
        up.args(["--set", &format!("{var}=crewmux")]);
    }
    let own = std::path::Path::new(env!("CARGO_BIN_EXE_crewmux")).parent().expect("a folder");
    let path = format!("{}:{}", own.display(), std::env::var("PATH").unwrap_or_default());
    let ran = up.env("PATH", path).env("ANTHROPIC_BASE_URL", &server.url).env("ANTHROPIC_API_KEY", "sk-x").output();
    let ran = ran.expect("it starts");
    assert!(ran.status.success(), "{}\n{}", String::from_utf8_lossy(&ran.stderr), crew.trouble());
}

fn heard(server: &ModelServer, what: &str) -> bool {
    server.asked().iter().any(|asked| String::from_utf8_lossy(&asked.body).contains(what))
}

#[test]
fn two_agents_work_together() {
    let (crew, server) = (Crew::new(), ModelServer::new(model));
    up(&crew, &server, "duo", &["builder", "reviewer"]);
    crew.ok(&["send", "--team", "duo", "builder", "TELL reviewer: look at a.txt"]);
    until("the reviewer hears it", || heard(&server, "builder@duo"));
    until("both report", || reports(&crew, "duo").len() >= 2);
}

#[test]
fn an_agent_leads_three() {
    let (crew, server) = (Crew::new(), ModelServer::new(model));
    up(&crew, &server, "mixed", &["lead", "first", "second", "reviewer"]);
    assert_eq!(crew.json(&["worktree", "list"]).as_array().map(Vec::len), Some(2), "two build in trees");
    crew.ok(&["send", "--team", "mixed", "lead", "TELL first: build it"]);
    until("the first hears it of the lead", || heard(&server, "chief@mixed"));
    until("its report reaches the lead", || heard(&server, "first@mixed"));
    until("the lead's answer is the operator's", || {
        reports(&crew, "mixed").iter().any(|r| r["result"] == "it was told")
    });
}
