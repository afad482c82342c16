use serde_json::json;

use super::*;
use crate::os::process;

fn marked(word: &str) -> usize {
    process::all().filter(|stat| process::cmdline(stat.pid).iter().any(|arg| arg == word)).count()
}

#[tokio::test]
async fn output_and_exit_code_are_told() {
    let agent = Agent::new(Mode::Bypass);
    assert_eq!(
        agent.does("Bash", json!({"command": "echo out; echo err >&2; pwd"})).await,
        format!("out\nerr\n{}", agent.root.display())
    );
    assert_eq!(agent.fails("Bash", json!({"command": "echo no; exit 3"})).await, "no\n[exit code 3]");
    assert_eq!(agent.fails("Bash", json!({"command": "kill -9 $$"})).await, "[ended by signal 9]");
    assert_eq!(agent.does("Bash", json!({"command": "true"})).await, "[It printed nothing.]");
    assert!(agent.fails("Bash", json!({"command": " "})).await.contains("empty"));
}

#[tokio::test]
async fn a_command_has_no_input_and_no_keys() {
    let agent = Agent::new(Mode::Bypass);
    let said = agent.does("Bash", json!({"command": "cat; tty || true; env | grep -c ^ANTHROPIC_ || true"})).await;
    assert!(said.ends_with("\n0"), "{said}");
}

#[tokio::test]
async fn long_output_is_cut_and_lies_in_a_file() {
    let mut agent = Agent::new(Mode::Bypass);
    agent.cx.outputs = Some(agent.root.clone());
    let said = agent.does("Bash", json!({"command": "seq 100000"})).await;
    assert!(said.len() < 31_000 && said.starts_with("1\n2\n") && said.ends_with("\n100000"), "{} bytes", said.len());
    let path = said.split("all of it is in ").nth(1).unwrap().split(']').next().unwrap();
    assert_eq!(std::fs::read_to_string(path).unwrap().lines().count(), 100_000);
}

/// A tree that ignores TERM, left its session and cleaned its environment is ended all the same.
#[tokio::test]
async fn a_timeout_ends_the_whole_tree() {
    let agent = Agent::new(Mode::Bypass);
    let word = format!("3{}", std::process::id());
    let command = format!("trap '' TERM; setsid sleep {word} & env -i sleep {word} & sleep {word} & echo up; wait");
    let said = agent.fails("Bash", json!({"command": command, "timeout": 1000})).await;
    assert!(said.starts_with("up\n[It was ended after 1s"), "{said}");
    assert_eq!(marked(&word), 0);
}

#[tokio::test]
async fn a_cancelled_call_ends_its_command() {
    let agent = Agent::new(Mode::Bypass);
    let word = format!("4{}", std::process::id());
    let stop = async {
        while marked(&word) == 0 {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        agent.cx.cancel.cancel();
    };
    let input = json!({"command": format!("sleep {word}; true")});
    let (said, ()) = tokio::join!(agent.call("Bash", input), stop);
    assert!(said.is_error && said.as_text().contains("cancelled"), "{}", said.as_text());
    assert_eq!(marked(&word), 0);
}

#[tokio::test]
async fn what_a_command_leaves_behind_is_ended_and_told() {
    let agent = Agent::new(Mode::Bypass);
    let word = format!("5{}", std::process::id());
    let said = agent.does("Bash", json!({"command": format!("sleep {word} & echo done")})).await;
    assert!(said.contains("done\n[1 processes that it left running"), "{said}");
    assert_eq!(marked(&word), 0);
}

#[tokio::test]
async fn a_background_command_answers_at_once_and_is_told_of_once() {
    let mut agent = Agent::new(Mode::Bypass);
    let shells = Shells::new(&agent.root);
    agent.cx.tasks = shells.clone();
    let said = agent.does("Bash", json!({"command": "echo started; exit 7", "run_in_background": true})).await;
    let first: Value = serde_json::from_str(said.lines().next().unwrap()).unwrap();
    assert_eq!(first["task_id"], "b1");
    assert_eq!(shells.end().await, ShellEnd::Exited(7));
    assert_eq!(std::fs::read_to_string(first["output_file"].as_str().unwrap()).unwrap(), "started\n");
    assert_eq!(shells.ended.lock().unwrap().len(), 1);
    assert!(
        agent.fails("Bash", json!({"command": "too many", "run_in_background": true})).await.contains("too many run")
    );
}

#[tokio::test]
async fn a_background_command_is_stopped_whole() {
    let mut agent = Agent::new(Mode::Bypass);
    let shells = Shells::new(&agent.root);
    agent.cx.tasks = shells.clone();
    let word = format!("6{}", std::process::id());
    let command = format!("setsid sleep {word} & sleep {word}");
    agent.does("Bash", json!({"command": command, "run_in_background": true})).await;
    while marked(&word) < 2 {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    shells.stops.lock().unwrap()["b1"].cancel();
    assert_eq!(shells.end().await, ShellEnd::Stopped);
    assert_eq!(marked(&word), 0);
}

#[tokio::test]
async fn where_nothing_can_run_in_the_background_it_is_neither_offered_nor_done() {
    let agent = Agent::new(Mode::Bypass);
    let shown = |background_shells| {
        let possible = Possible { background_shells, ..Possible::default() };
        agent.tools.get("Bash").unwrap().spec(&possible).input_schema["properties"]["run_in_background"].is_object()
    };
    assert!(shown(true) && !shown(false));
    assert!(
        agent
            .fails("Bash", json!({"command": "true", "run_in_background": true}))
            .await
            .contains("without run_in_background")
    );
}

/// Whoever drops the call leaves nothing running either.
#[tokio::test]
async fn a_dropped_call_ends_its_command() {
    let agent = Agent::new(Mode::Bypass);
    let word = format!("8{}", std::process::id());
    let up = async {
        while marked(&word) < 2 {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    };
    tokio::select! {
        said = agent.call("Bash", json!({"command": format!("setsid sleep {word} & sleep {word}; true")})) => {
            panic!("it ended: {}", said.as_text());
        }
        () = up => {}
    }
    assert_eq!(marked(&word), 0);
}
