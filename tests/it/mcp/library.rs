//! The operator's client, by the protocol's own library.

use rmcp::model::{CallToolRequestParams, ReadResourceRequestParams};
use rmcp::service::{RoleClient, RunningService};
use rmcp::transport::TokioChildProcess;
use rmcp::{ServiceExt, serde_json::Value};
use serde_json::json;

use crate::support::{Crew, until};

pub type Client = RunningService<RoleClient, ()>;

pub async fn connect(crew: &Crew, args: &[&str]) -> Client {
    let command = tokio::process::Command::from(crew.command(args));
    let process = TokioChildProcess::new(command).expect("the server starts");
    ().serve(process).await.expect("it says hello")
}

/// What a tool answers, and whether it refused.
pub async fn call(client: &Client, tool: &str, arguments: Value) -> (String, bool) {
    let mut params = CallToolRequestParams::new(tool.to_owned());
    params.arguments = arguments.as_object().cloned();
    let result = client.call_tool(params).await.expect("an answer");
    (result.content[0].as_text().expect("text").text.clone(), result.is_error == Some(true))
}

pub async fn json(client: &Client, tool: &str, arguments: Value) -> Value {
    let (text, refused) = call(client, tool, arguments).await;
    assert!(!refused, "{tool}: {text}");
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{tool}: {e}\n{text}"))
}

pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(future)
}

#[test]
fn the_operator_leads_through_its_tools() {
    let crew = Crew::new();
    crew.up(&format!("v = 1\nname = \"led\"\n{}", crew.puppet("hand")));
    block_on(async {
        let client = connect(&crew, &["mcp"]).await;
        let tools: Vec<String> =
            client.list_all_tools().await.expect("tools").into_iter().map(|t| t.name.into_owned()).collect();
        assert!(tools.iter().any(|t| t == "spawn_member") && !tools.iter().any(|t| t == "submit_plan"), "{tools:?}");
        let (text, refused) = call(&client, "submit_plan", json!({"plan": "p"})).await;
        assert!(refused && text.contains("for members"), "{text}");

        let spawned = json(&client, "spawn_member", json!({"name": "aid", "prompt": "help"})).await;
        assert_eq!(spawned["agent_id"], "aid@led", "{spawned}");
        let (text, refused) = call(&client, "spawn_member", json!({"name": "aid"})).await;
        assert!(refused && text.contains("taken"), "{text}");
        let (text, refused) = call(&client, "spawn_member", json!({"name": "../x"})).await;
        assert!(refused && text.contains("name"), "{text}");
        json(&client, "task_create", json!({"subject": "hello", "run": ["echo", "hello"], "owner": "aid"})).await;
        loop {
            let task = json(&client, "task_get", json!({"id": "1"})).await;
            if task["status"] == "completed" {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        // The board knows of it before the mail about it lies there.
        let mail = loop {
            let (mail, _) = call(&client, "read_inbox", json!({})).await;
            if mail != "no unread messages" {
                break mail;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        };
        assert!(mail.contains("type=\"report\"") && mail.contains("from=\"aid@led\""), "{mail}");
        let (mail, _) = call(&client, "read_inbox", json!({})).await;
        assert_eq!(mail, "no unread messages");

        let order = crew.order("hand", "echo plan | crewmux plan submit --wait --json");
        let mut request = Value::Null;
        while request.is_null() {
            request = json(&client, "list_members", json!({})).await["open_requests"][0].clone();
        }
        assert_eq!(request["plan"], "plan\n");
        let decided = json(&client, "decide", json!({"request_id": request["id"], "approve": true})).await;
        assert_eq!(decided["state"], "approved");
        assert_eq!(crew.outcome(&order).code, 0);

        let stopped = json(&client, "request_shutdown", json!({"name": "aid"})).await;
        assert_eq!(stopped["stopped"], json!(["aid"]), "{stopped}");
        json(&client, "stop_member", json!({"name": "hand"})).await;
        client.cancel().await.expect("it ends");
    });
    until("all have ended", || crew.status("led", "hand")["alive"] == false);
}

#[test]
fn roster_board_and_mailbox_are_resources_that_tell_of_changes() {
    let crew = Crew::new();
    crew.up(&format!("v = 1\nname = \"seen\"\n{}", crew.puppet("hand")));
    block_on(async {
        let client = connect(&crew, &["mcp", "--as", "hand"]).await;
        let listed = client.list_all_resources().await.expect("resources");
        let uris: Vec<&str> = listed.iter().map(|r| r.uri.as_str()).collect();
        assert_eq!(uris, ["crewmux://roster", "crewmux://board", "crewmux://inbox"]);
        crew.ok(&["send", "hand", "see me"]);
        crew.ok(&["task", "add", "a task"]);
        for (uri, holds) in
            [("crewmux://roster", "\"you\":\"hand\""), ("crewmux://board", "a task"), ("crewmux://inbox", "see me")]
        {
            let read = client.read_resource(ReadResourceRequestParams::new(uri)).await.expect("it is read");
            let text = serde_json::to_string(&read.contents[0]).expect("json").replace("\\\"", "\"");
            assert!(text.contains(holds), "{uri}: {text}");
        }
        assert!(client.read_resource(ReadResourceRequestParams::new("crewmux://secret")).await.is_err());
        assert_eq!(crew.status("seen", "hand")["unread"], 1, "looking is not reading");
        client.cancel().await.expect("it ends");
    });

    let mut hand = super::client::Client::inside(&crew, "hand", "mcp");
    hand.request("resources/subscribe", json!({"uri": "crewmux://inbox"}));
    crew.ok(&["send", "hand", "and again"]);
    let updated = |uri: &str, said: &[Value]| {
        said.iter().any(|m| m["method"] == "notifications/resources/updated" && m["params"]["uri"] == uri)
    };
    until("it hears of the mail", || updated("crewmux://inbox", &hand.said()));
    crew.ok(&["task", "add", "another"]);
    assert!(!updated("crewmux://board", &hand.said()), "that was not asked for");
}
