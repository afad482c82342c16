use serde_json::json;

use super::*;
use crate::act::Client;
use crate::act::testing::{Made, name};
use crate::agent::tools::team::Seat;

fn in_team() -> (Agent, Made) {
    let made = Made::team(&[]);
    let client = Client::open(&made.home, &name("t"), None).unwrap();
    let mut agent = Agent::new(Mode::Default);
    agent.tools = standard(Standard { seat: Some(Seat::new(client, Some(Mode::AcceptEdits))), ..Standard::default() });
    (agent, made)
}

#[tokio::test]
async fn the_board_is_written_and_read() {
    let (agent, _made) = in_team();
    assert_eq!(agent.does("TaskList", json!({})).await, "The board is empty.");
    let made = agent.does("TaskCreate", json!({"subject": "Count lines", "description": "all"})).await;
    assert_eq!(serde_json::from_str::<Value>(&made).unwrap()["id"], "1");
    agent.does("TaskCreate", json!({"subject": "Sum up", "blocked_by": [1]})).await;
    let listed = agent.does("TaskList", json!({})).await;
    assert_eq!(listed, "1 [pending] Count lines\n2 [pending, after [\"1\"]] Sum up");
    assert!(agent.does("TaskGet", json!({"task_id": "#1"})).await.contains("\"description\":\"all\""));
    agent.does("TaskUpdate", json!({"task_id": 2, "status": "deleted"})).await;
    assert_eq!(agent.does("TaskList", json!({})).await, "1 [pending] Count lines");
    for (tool, input, says) in [
        ("TaskGet", json!({"task_id": 9}), "no task 9"),
        ("TaskGet", json!({"task_id": "../1"}), "no task's number"),
        ("TaskUpdate", json!({"task_id": 1}), "say which status"),
        ("TaskUpdate", json!({"task_id": 9, "status": "completed"}), "9"),
        ("TaskCreate", json!({"subject": "x", "owner": "a/b"}), "cannot be a member's name"),
    ] {
        let said = agent.fails(tool, input.clone()).await;
        assert!(said.contains(says), "{tool} {input}: {said}");
    }
}

/// Only a member's teammate makes a work tree; refused, the agent stays where it is.
#[tokio::test]
async fn a_work_tree_that_was_refused_moves_nobody() {
    let (agent, _made) = in_team();
    let before = agent.cx.here();
    agent.cx.rules.lock().unwrap().allow.push("EnterWorktree".to_owned());
    agent.cx.rules.lock().unwrap().allow.push("ExitWorktree".to_owned());
    assert!(agent.fails("EnterWorktree", json!({})).await.contains("only a member's agent"));
    assert!(agent.fails("ExitWorktree", json!({"action": "keep"})).await.contains("no work tree"));
    assert_eq!(agent.cx.here(), before);
}
