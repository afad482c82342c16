use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::*;
use crate::agent::tools::services::Planner;

/// A person with answers at hand.
struct Answers(Mutex<Vec<Result<Mode, String>>>);

impl Person for Answers {
    fn is_there(&self) -> bool {
        true
    }
    fn choose<'a>(&'a self, _agent: &'a AgentId, choice: Choice) -> BoxFuture<'a, Result<Vec<String>, String>> {
        Box::pin(async move { Ok(choice.options.into_iter().map(|(label, _)| label).take(1).collect()) })
    }
    fn judge_plan<'a>(&'a self, _agent: &'a AgentId, _plan: &'a str) -> BoxFuture<'a, Result<Mode, String>> {
        let next = self.0.lock().unwrap().remove(0);
        Box::pin(async move { next })
    }
}

#[tokio::test]
async fn the_person_is_asked_by_the_main_agent_alone() {
    let mut agent = Agent::new(Mode::Default);
    let ask = json!({"question": "Which?", "options": [{"label": "this"}, {"label": "that"}]});
    assert!(agent.fails("AskUser", ask.clone()).await.contains("nobody is there"));
    agent.cx.person = Arc::new(Answers(Mutex::default()));
    assert_eq!(agent.does("AskUser", ask.clone()).await, "The person answered: this");
    agent.cx.agent = AgentId::parse("a12345678").unwrap();
    assert!(agent.fails("AskUser", ask).await.contains("Only the main agent"));
}

#[tokio::test]
async fn plan_mode_ends_when_the_plan_is_agreed_upon() {
    let mut agent = Agent::new(Mode::Plan);
    let answers = vec![Err("more tests".to_owned()), Ok(Mode::AcceptEdits)];
    agent.cx.person = Arc::new(Answers(Mutex::new(answers)));
    let plan = json!({"plan": "# do it"});
    assert!(agent.fails("ExitPlanMode", json!({"plan": " "})).await.contains("some text"));
    assert!(agent.fails("ExitPlanMode", plan.clone()).await.contains("more tests"));
    assert_eq!(agent.cx.mode(), Mode::Plan);
    agent.does("ExitPlanMode", plan.clone()).await;
    assert_eq!(agent.cx.mode(), Mode::AcceptEdits);
    assert!(agent.fails("ExitPlanMode", plan).await.contains("not in plan mode"));
}

struct Lead;

impl Planner for Lead {
    fn submit<'a>(&'a self, plan: &'a str) -> BoxFuture<'a, Result<Option<Mode>, String>> {
        Box::pin(async move { if plan.contains("tests") { Ok(Some(Mode::Plan)) } else { Err("no tests".to_owned()) } })
    }
}

#[tokio::test]
async fn in_a_team_the_lead_decides_and_nobody_is_left_planning() {
    let mut agent = Agent::new(Mode::Plan);
    agent.tools = standard(Standard { planner: Some(Arc::new(Lead)), ..Standard::default() });
    assert!(agent.fails("ExitPlanMode", json!({"plan": "x"})).await.contains("no tests"));
    agent.does("ExitPlanMode", json!({"plan": "with tests"})).await;
    assert_eq!(agent.cx.mode(), Mode::Default);
}

#[tokio::test]
async fn an_answer_in_its_form_ends_the_turn() {
    let mut agent = Agent::new(Mode::ReadOnly);
    let form = json!({"type": "object", "required": ["ok"], "properties": {"ok": {"type": "boolean"}}});
    agent.tools = standard(Standard { output_schema: Some(form), ..Standard::default() });
    assert!(
        agent.fails("StructuredOutput", json!({"ok": "yes"})).await.contains("the answer.ok is not of type boolean")
    );
    assert!(agent.call("StructuredOutput", json!({"ok": true})).await.ends_turn);
}

/// Serves one answer for each path; the path is the key.
async fn serve(pages: HashMap<&'static str, String>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut buffer = vec![0; 4096];
            let bytes = stream.read(&mut buffer).await.unwrap_or(0);
            let head = String::from_utf8_lossy(&buffer[..bytes]).into_owned();
            let path = head.split(' ').nth(1).unwrap_or_default();
            let missing = "HTTP/1.1 404 Not Found\r\ncontent-type: text/html\r\n\r\n<p>no such page</p>".to_owned();
            let _ = stream.write_all(pages.get(path).unwrap_or(&missing).as_bytes()).await;
        }
    });
    at
}

fn page(kind: &str, body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\nconnection: close\r\n\r\n{body}")
}

#[tokio::test]
async fn a_page_is_shown_as_text_in_parts_and_no_further_than_its_host() {
    let long = format!("<body>{}</body>", "<p>word word</p>".repeat(20_000));
    let pages = HashMap::from([
        (
            "/a",
            page(
                "text/html; charset=utf-8",
                "<html><head><script>alert(1)</script><style>b{}</style></head><body><h1>Title</h1><p>Some <b>text</b>.</p></body></html>",
            ),
        ),
        ("/plain", page("text/plain", "<p> stays")),
        ("/long", page("text/html", &long)),
        ("/bin", page("application/octet-stream", "x")),
        ("/same", "HTTP/1.1 302 Found\r\nlocation: /plain\r\nconnection: close\r\n\r\n".to_owned()),
        ("/away", "HTTP/1.1 302 Found\r\nlocation: http://localhost.example/x\r\nconnection: close\r\n\r\n".to_owned()),
        ("/file", "HTTP/1.1 302 Found\r\nlocation: file:///etc/passwd\r\nconnection: close\r\n\r\n".to_owned()),
        ("/loop", "HTTP/1.1 302 Found\r\nlocation: /loop\r\nconnection: close\r\n\r\n".to_owned()),
    ]);
    let at = serve(pages).await;
    let agent = Agent::new(Mode::Bypass);
    let url = |path: &str| json!({"url": format!("{at}{path}")});
    let said = agent.does("WebFetch", url("/a")).await;
    assert!(
        said.contains("Title") && said.contains("Some text") && !said.contains("alert") && !said.contains('<'),
        "{said}"
    );
    assert_eq!(agent.does("WebFetch", url("/plain")).await, "<p> stays");
    assert_eq!(agent.does("WebFetch", url("/same")).await, "<p> stays");
    let said = agent.does("WebFetch", url("/long")).await;
    assert!(said.len() < 31_000 && said.contains("Go on with offset 30000"), "{}", &said[said.len() - 100..]);
    let next = json!({"url": format!("{at}/long"), "offset": 30_000});
    assert!(agent.does("WebFetch", next).await.contains("word"));
    assert!(agent.does("WebFetch", url("/away")).await.contains("elsewhere: http://localhost.example/x"));
    assert!(agent.does("WebFetch", url("/file")).await.contains("elsewhere: file:///etc/passwd"));
    assert!(agent.fails("WebFetch", url("/loop")).await.contains("redirects"));
    assert!(agent.fails("WebFetch", url("/bin")).await.contains("no text"));
    assert!(agent.fails("WebFetch", url("/none")).await.contains("404 Not Found:\nno such page"));
    for bad in ["file:///etc/passwd", "ftp://h/x", "nonsense"] {
        assert!(agent.fails("WebFetch", json!({"url": bad})).await.contains("cannot be fetched"), "{bad}");
    }
}

#[tokio::test]
async fn a_page_is_not_fetched_without_leave() {
    let agent = Agent::new(Mode::AcceptEdits);
    assert!(agent.fails("WebFetch", json!({"url": "http://localhost:1/"})).await.contains("into the network"));
    agent.cx.rules.lock().unwrap().allow.push("WebFetch(http://localhost:1/*)".to_owned());
    assert!(agent.fails("WebFetch", json!({"url": "http://localhost:1/"})).await.contains("cannot be fetched"));
    // What looks like that host and is another.
    let said = agent.fails("WebFetch", json!({"url": "http://localhost:1@other.example/"})).await;
    assert!(said.contains("was not permitted"), "{said}");
}

#[tokio::test]
async fn a_search_is_the_person_s_command_or_the_provider_s_tool() {
    let mut agent = Agent::new(Mode::Bypass);
    let command = ["printf", "found: %s"].map(str::to_owned).to_vec();
    agent.tools = standard(Standard { web_search: Some(WebSearch::Command(command)), ..Standard::default() });
    assert_eq!(agent.does("WebSearch", json!({"query": "$(touch x) `y`"})).await, "found: $(touch x) `y`");
    let spec = WebSearch::Provider("web_search_1".to_owned()).spec(&Possible::default());
    assert_eq!(serde_json::to_value(spec).unwrap(), json!({"name": "web_search", "type": "web_search_1"}));
    assert!(standard(Standard::default()).get("WebSearch").is_none());
}

#[tokio::test]
async fn skills_are_found_the_nearest_first_and_loaded() {
    let mut agent = Agent::new(Mode::Default);
    agent.write(".crewmux/skills/tidy/SKILL.md", "---\nname: tidy\ndescription: tidies up\n---\nSweep.\n");
    agent.write(".claude/skills/tidy/SKILL.md", "---\nname: tidy\ndescription: another\n---\nMop.\n");
    agent.write(".claude/skills/bad/SKILL.md", "no front matter");
    let (skill, wrong) = Skill::find(&agent.root, None);
    assert_eq!(skill.skills().len(), 1);
    assert!(wrong.len() == 1 && wrong[0].contains("front matter"), "{wrong:?}");
    agent.tools = Registry::new(vec![Arc::new(skill)]);
    let shown = agent.tools.specs(&Possible::default());
    assert!(shown[0].description.contains("- tidy: tidies up"));
    let said = agent.does("Skill", json!({"skill": "tidy", "args": "the yard"})).await;
    assert!(said.contains("Sweep.") && said.ends_with("Use it for: the yard"), "{said}");
    assert!(agent.fails("Skill", json!({"skill": "none"})).await.contains("There are: tidy"));
}

/// The same ids again, calls of tools that are not there, arguments that are no object: each call has its own answer.
#[tokio::test]
async fn nothing_that_a_model_sends_breaks_a_tool() {
    let agent = Agent::new(Mode::Bypass);
    let odd = [
        json!(null),
        json!("{\"file_path\": \"a"),
        json!([{}]),
        json!({"file_path": null}),
        json!({"file_path": {"a": 1}, "pattern": 7, "command": [], "todos": "x", "url": 1, "notebook_path": []}),
        json!({"\u{0}": "\u{0}"}),
    ];
    for name in agent.tools.names() {
        for input in &odd {
            let said = agent.fails(&name, input.clone()).await;
            assert!(!said.is_empty() && said.len() < 2_000, "{name} {input}: {said}");
        }
    }
    assert_eq!(std::fs::read_dir(&agent.root).unwrap().count(), 0);
}
