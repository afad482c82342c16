//! Against servers of our own: a program that speaks on its standard streams, and a small HTTP server.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::*;
use crate::agent::id::AgentId;
use crate::agent::permission::Mode;
use crate::agent::tools::{Context, Possible, Registry};
use crate::os::process;

const LONG: Duration = Duration::from_secs(60);

/// A server in a few lines of shell: `echo` answers its arguments, `die` ends it.
const SCRIPT: &str = r#"
tools='{"tools":[{"name":"echo","description":"says it","inputSchema":{"type":"object"}},{"name":"die","inputSchema":{"type":"object"}}]}'
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case $line in
    *'"initialize"'*) version=$(printf '%s' "$line" | sed -n 's/.*"protocolVersion":"\([^"]*\)".*/\1/p')
      answer='{"protocolVersion":"'$version'","capabilities":{"tools":{}},"serverInfo":{"name":"sh","version":"1"}}' ;;
    *'"tools/list"'*) answer=$tools ;;
    *'"die"'*) echo 'out of luck' >&2; exit 3 ;;
    *'"tools/call"'*) answer='{"content":[{"type":"text","text":"you said it"}]}' ;;
    *) continue ;;
  esac
  printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$answer"
done
"#;

fn script(name: &str, text: &str, word: &str) -> Server {
    let args = ["-c", text, word].map(str::to_owned).to_vec();
    Server { name: name.to_owned(), how: How::Stdio { command: "sh".to_owned(), args, env: Vec::new() } }
}

fn start(servers: Vec<Server>) -> (Arc<Servers>, Arc<Mutex<Vec<String>>>) {
    let notices = Arc::<Mutex<Vec<String>>>::default();
    let told = Arc::clone(&notices);
    let all = Servers::start(servers, &std::env::temp_dir(), move |line| told.lock().unwrap().push(line));
    (all, notices)
}

fn context() -> Context {
    Context::new(AgentId::main(), "/".into(), Mode::Bypass)
}

fn running(word: &str) -> usize {
    process::all().filter(|stat| process::cmdline(stat.pid).iter().any(|arg| arg == word)).count()
}

#[tokio::test]
async fn a_program_s_tools_are_listed_called_and_gone_with_it() {
    let word = format!("mcp-a-{}", std::process::id());
    let (servers, notices) = start(vec![script("sh", SCRIPT, &word)]);
    servers.require(&["sh".to_owned()], LONG).await.unwrap();
    let tools = Registry::new(servers.tools());
    let listed = || tools.specs(&Possible::default()).into_iter().map(|spec| spec.name).collect::<Vec<_>>();
    assert_eq!(listed(), ["mcp__sh__echo", "mcp__sh__die"]);
    let said = tools.call("mcp__sh__echo", json!({"a": 1}), &context()).await;
    assert_eq!((said.as_text().as_str(), said.is_error), ("you said it", false));
    assert!(tools.call("mcp__sh__echo", json!([1]), &context()).await.is_error);

    assert!(tools.call("mcp__sh__die", json!({}), &context()).await.is_error);
    while servers.states()["sh"] == State::Ready {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(servers.states()["sh"], State::Gone("out of luck".to_owned()));
    assert_eq!(listed(), [] as [&str; 0]);
    let said = tools.call("mcp__sh__echo", json!({}), &context()).await.as_text();
    assert!(said.contains("is gone (out of luck)"), "{said}");
    let told = notices.lock().unwrap().clone();
    assert_eq!(told, ["MCP server sh is gone, and its tools with it: out of luck"]);
    servers.close().await;
    assert_eq!(running(&word), 0);
}

#[tokio::test]
async fn a_closed_session_leaves_no_server_behind() {
    let word = format!("mcp-b-{}", std::process::id());
    // One that heeds neither the end of its input nor TERM, with a child of its own.
    let stubborn = format!("trap '' TERM; {SCRIPT}\nsleep 1000 & while :; do sleep 1000; done");
    let (servers, notices) = start(vec![script("stubborn", &stubborn, &word)]);
    servers.settled(LONG).await;
    assert_eq!(servers.states()["stubborn"], State::Ready);
    assert_eq!(running(&word), 1);
    servers.close().await;
    assert_eq!(running(&word), 0);
    assert_eq!(notices.lock().unwrap().len(), 0);
}

#[tokio::test]
async fn a_required_server_that_failed_is_not_waited_for() {
    let bad = script("bad", "echo 'no such database' >&2; exit 1", "x");
    // It never answers, and what it waits for is a process of its own.
    let word = format!("7{}", std::process::id());
    let slow = script("slow", &format!("sleep {word}; true"), "x");
    let none = How::Stdio { command: "/no/such/program".to_owned(), args: vec![], env: vec![] };
    let (servers, _) = start(vec![bad, slow, Server { name: "none".to_owned(), how: none }]);
    let names = |all: &[&str]| all.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>();
    let error = servers.require(&names(&["slow", "bad"]), LONG).await.unwrap_err();
    assert!(error.contains("server bad is not there") && error.contains("no such database"), "{error}");
    let error = servers.require(&names(&["none"]), LONG).await.unwrap_err();
    assert!(error.contains("/no/such/program"), "{error}");
    let error = servers.require(&names(&["other"]), LONG).await.unwrap_err();
    assert!(error.contains("other is not configured"), "{error}");
    let error = servers.require(&names(&["slow"]), Duration::from_millis(10)).await.unwrap_err();
    assert!(error.contains("slow did not answer within"), "{error}");
    servers.close().await;
    assert_eq!(running(&word), 0, "a server that was closed while it started is ended whole");
}

/// Answers as a server of streamable HTTP does that keeps no session; the headers of each request are kept.
async fn http_server(seen: Arc<Mutex<Vec<String>>>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let seen = Arc::clone(&seen);
            tokio::spawn(async move {
                let mut text = Vec::new();
                let mut buffer = [0; 4096];
                let (head, body) = loop {
                    let Ok(bytes @ 1..) = stream.read(&mut buffer).await else { return };
                    text.extend_from_slice(&buffer[..bytes]);
                    let all = String::from_utf8_lossy(&text).into_owned();
                    let Some((head, body)) = all.split_once("\r\n\r\n") else { continue };
                    let length =
                        head.to_lowercase().lines().find_map(|l| l.strip_prefix("content-length: ")?.parse().ok());
                    if body.len() >= length.unwrap_or(0) {
                        break (head.to_owned(), body.to_owned());
                    }
                };
                seen.lock().unwrap().push(head.to_lowercase());
                let (status, answer) = answer(&body);
                let kind = if answer.is_empty() { "" } else { "content-type: application/json\r\n" };
                let said = format!(
                    "HTTP/1.1 {status}\r\n{kind}content-length: {}\r\nconnection: close\r\n\r\n{answer}",
                    answer.len()
                );
                let _ = stream.write_all(said.as_bytes()).await;
            });
        }
    });
    url
}

fn answer(body: &str) -> (&'static str, String) {
    let Ok(asked) = serde_json::from_str::<Value>(body) else { return ("405 Method Not Allowed", String::new()) };
    let result = match asked["method"].as_str() {
        Some("initialize") => json!({
            "protocolVersion": asked["params"]["protocolVersion"], "capabilities": {"tools": {}},
            "serverInfo": {"name": "h", "version": "1"},
        }),
        Some("tools/list") => json!({"tools": [{"name": "add", "inputSchema": {"type": "object"}}]}),
        Some("tools/call") => {
            json!({"content": [{"type": "text", "text": asked["params"]["arguments"].to_string()}], "isError": true})
        }
        _ => return ("202 Accepted", String::new()),
    };
    ("200 OK", json!({"jsonrpc": "2.0", "id": asked["id"], "result": result}).to_string())
}

#[tokio::test]
async fn a_server_over_http_is_called_with_its_headers() {
    let seen = Arc::<Mutex<Vec<String>>>::default();
    let url = http_server(Arc::clone(&seen)).await;
    let how = How::Http { url, headers: vec![("X-Key".to_owned(), "k1".to_owned())] };
    let (servers, _) = start(vec![Server { name: "web".to_owned(), how }]);
    servers.require(&["web".to_owned()], LONG).await.unwrap();
    let tools = Registry::new(servers.tools());
    let said = tools.call("mcp__web__add", json!({"a": [1, 2]}), &context()).await;
    assert_eq!((said.as_text().as_str(), said.is_error), (r#"{"a":[1,2]}"#, true));
    assert!(seen.lock().unwrap().iter().all(|head| head.contains("x-key: k1")));
    servers.close().await;
}

/// Sixty tools: none is shown before it was looked for, and then only that one.
#[tokio::test]
async fn many_tools_are_hidden_until_they_are_looked_for() {
    let listed: Vec<Value> =
        (0..60).map(|n| json!({"name": format!("t{n}"), "description": format!("number {n} of all"), "inputSchema": {"type": "object"}})).collect();
    let text = SCRIPT.replacen("tools='{\"tools\":[", &format!("tools='{{\"tools\":{}}}' #", Value::Array(listed)), 1);
    let (servers, _) = start(vec![script("many", &text, "x")]);
    servers.require(&["many".to_owned()], LONG).await.unwrap();
    let mut tools = Registry::new(vec![Arc::new(crate::agent::tools::ToolSearch(Arc::clone(&servers)))]);
    servers.tools().into_iter().for_each(|tool| tools.add(tool));
    let shown = || tools.specs(&Possible::default()).into_iter().map(|spec| spec.name).collect::<Vec<_>>();
    assert_eq!(shown(), ["ToolSearch"]);
    let said = tools.call("ToolSearch", json!({"query": "select:mcp__many__t7"}), &context()).await.as_text();
    assert!(said.contains("number 7 of all"), "{said}");
    assert_eq!(shown(), ["ToolSearch", "mcp__many__t7"]);
    let said = tools.call("ToolSearch", json!({"query": "number 33", "max_results": 1}), &context()).await.as_text();
    assert!(said.contains("t33") && !said.contains("t34"), "{said}");
    let said = tools.call("ToolSearch", json!({"query": "weather"}), &context()).await.as_text();
    assert!(said.contains("No hidden tool fits"), "{said}");
    servers.close().await;
}
