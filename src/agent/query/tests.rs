use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::Barrier;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::agent::budget::{Allowance, Purse};
use crate::agent::permission::Mode;
use crate::agent::provider::{BoxFuture, Call, Cassette, Events, Failure, Limiter, Provider};
use crate::agent::tools::{Context, Kind, Outcome, Possible, Registry, Tool};
use crate::agent::transcript::Transcript;
use crate::agent::wire::{Block, Head, ResultPart, Role, ToolSpec, Turn};
use crate::agent::{AgentId, identity};

mod later;

/// Plays a cassette and keeps the bodies.
struct Recording {
    cassette: Cassette,
    bodies: Mutex<Vec<Vec<u8>>>,
}

impl Provider for Recording {
    fn send<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<Events, Failure>> {
        self.bodies.lock().unwrap().push(call.body.clone());
        self.cassette.send(call)
    }
}

type Work = Box<dyn Fn(Value, Context) -> BoxFuture<'static, Outcome> + Send + Sync>;

struct Fake {
    name: &'static str,
    kind: Kind,
    work: Work,
}

impl Tool for Fake {
    fn name(&self) -> &str {
        self.name
    }

    fn spec(&self, _possible: &Possible) -> ToolSpec {
        ToolSpec::new(self.name, "a test's tool", json!({ "type": "object" }))
    }

    fn kind(&self) -> Kind {
        self.kind
    }

    fn call<'a>(&'a self, input: Value, cx: &'a Context) -> BoxFuture<'a, Outcome> {
        (self.work)(input, cx.clone())
    }
}

fn tool<F>(name: &'static str, kind: Kind, work: impl Fn(Value, Context) -> F + Send + Sync + 'static) -> Arc<dyn Tool>
where
    F: Future<Output = Outcome> + Send + 'static,
{
    Arc::new(Fake { name, kind, work: Box::new(move |input, cx| Box::pin(work(input, cx))) })
}

#[derive(Default)]
struct Seen(Mutex<Vec<String>>);

impl Watcher for Seen {
    fn see(&self, _agent: &AgentId, step: Step<'_>) {
        let line = match step {
            Step::Text(text) => format!("text {text}"),
            Step::Call { name, .. } => format!("call {name}"),
            Step::CallEnded { name, outcome, .. } => format!("ended {name} {}", outcome.is_error),
            Step::Again { attempt, .. } => format!("again {attempt}"),
            Step::Compacted { turns } => format!("compacted {turns}"),
            _ => return,
        };
        self.0.lock().unwrap().push(line);
    }
}

struct World {
    provider: Arc<Recording>,
    seen: Arc<Seen>,
    parts: Parts,
}

impl World {
    fn new(lines: &[Value], tools: Vec<Arc<dyn Tool>>) -> Self {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let cassette = Cassette::from_text("test", &text, Path::new("/w")).unwrap();
        let provider = Arc::new(Recording { cassette, bodies: Mutex::default() });
        let seen = Arc::new(Seen::default());
        let shared = Shared {
            provider: Arc::clone(&provider) as _,
            limiter: Limiter::new(4, None),
            purse: Purse::default(),
            retries: 3,
            window: 1_000,
            compact_at: 0.8,
        };
        let head = Head {
            model: "m".to_owned(),
            max_tokens: 100,
            thinking: None,
            temperature: None,
            system: vec!["be good".to_owned()],
            tools: Vec::new(),
        };
        let parts = Parts {
            agent: AgentId::main(),
            source: "main".to_owned(),
            depth: 0,
            head,
            registry: Registry::new(tools),
            possible: Possible::default(),
            cx: Context::new(AgentId::main(), PathBuf::from("/"), Mode::Bypass),
            shared,
            watcher: Arc::clone(&seen) as _,
            inbox: Arc::new(NoInbox),
            facts: Arc::new(String::new),
            late: None,
            transcript: None,
            max_turns: None,
        };
        Self { provider, seen, parts }
    }
}

/// What is left of a world once its conversation is made.
fn begin(world: World) -> (Conversation, Arc<Recording>, Arc<Seen>) {
    let (provider, seen) = (Arc::clone(&world.provider), Arc::clone(&world.seen));
    (Conversation::new(world.parts), provider, seen)
}

fn ask(text: &str) -> Vec<Turn> {
    vec![Turn::user(vec![Block::text(text)])]
}

fn says(text: &str) -> Value {
    json!({ "reply": { "content": [{ "type": "text", "text": text }] } })
}

fn calls(list: &[(&str, &str, Value)]) -> Value {
    let content: Vec<Value> = list
        .iter()
        .map(|(id, name, input)| json!({ "type": "tool_use", "id": id, "name": name, "input": input }))
        .collect();
    json!({ "reply": { "content": content } })
}

async fn go(conversation: &mut Conversation, text: &str) -> Result<StopReason, TurnError> {
    conversation.turn(ask(text), CancellationToken::new()).await
}

#[tokio::test]
async fn calls_are_made_answered_in_order_and_the_turn_goes_on() {
    let look = tool("Look", Kind::Read, async |input: Value, _| Outcome::text(format!("saw {}", input["n"])));
    let lines = [
        calls(&[("a", "Look", json!({ "n": 1 })), ("b", "Nope", json!({})), ("c", "Look", json!({ "n": 3 }))]),
        says("done"),
    ];
    let world = World::new(&lines, vec![look]);
    let (mut conversation, provider, seen) = begin(world);
    assert_eq!(go(&mut conversation, "go").await.unwrap(), StopReason::EndTurn);
    assert_eq!(conversation.last_text(), "done");
    let bodies = provider.bodies.lock().unwrap();
    let second: Value = serde_json::from_slice(&bodies[1]).unwrap();
    let results = second["messages"][2]["content"].as_array().unwrap();
    let ids: Vec<&str> = results.iter().map(|r| r["tool_use_id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["a", "b", "c"]);
    assert_eq!(results[2]["content"][0]["text"], "saw 3");
    assert_eq!(results[1]["is_error"], true, "an unknown tool is answered, not fatal");
    assert!(seen.0.lock().unwrap().contains(&"ended Nope true".to_owned()));
}

#[tokio::test]
async fn reading_calls_run_beside_each_other_and_changing_ones_do_not() {
    // All three have to be under way at once to pass the barrier.
    let barrier = Arc::new(Barrier::new(3));
    let look = tool("Look", Kind::Read, move |_, _| {
        let barrier = Arc::clone(&barrier);
        async move {
            barrier.wait().await;
            Outcome::text("ok")
        }
    });
    let (running, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let peak = Arc::clone(&most);
    let change = tool("Change", Kind::Edit, move |_, _| {
        let (running, most) = (Arc::clone(&running), Arc::clone(&most));
        async move {
            most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            tokio::task::yield_now().await;
            running.fetch_sub(1, Ordering::SeqCst);
            Outcome::text("ok")
        }
    });
    let one = |id: &'static str, name: &'static str| (id, name, json!({}));
    let lines = [
        calls(&[one("a", "Look"), one("b", "Look"), one("c", "Look"), one("d", "Change"), one("e", "Change")]),
        says("done"),
    ];
    let (mut conversation, ..) = begin(World::new(&lines, vec![look, change]));
    let done = tokio::time::timeout(Duration::from_secs(20), go(&mut conversation, "go")).await;
    assert_eq!(done.expect("the reads ran one after another").unwrap(), StopReason::EndTurn);
    assert_eq!(peak.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn what_fails_in_passing_is_asked_again_and_no_call_runs_twice() {
    let ran = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&ran);
    let act = tool("Act", Kind::Execute, move |_, _| {
        count.fetch_add(1, Ordering::SeqCst);
        async { Outcome::text("ok") }
    });
    let mut cut = calls(&[("x", "Act", json!({}))]);
    cut["reply"]["cut_after"] = 3.into();
    let busy = json!({ "reply": { "status": 529, "retry_after": 0.001 } });
    let lines = [busy, cut.clone(), calls(&[("a", "Act", json!({}))]), cut, says("done")];
    let (mut conversation, provider, seen) = begin(World::new(&lines, vec![act]));
    assert_eq!(go(&mut conversation, "go").await.unwrap(), StopReason::EndTurn);
    assert_eq!(ran.load(Ordering::SeqCst), 1);
    let bodies = provider.bodies.lock().unwrap();
    assert_eq!(bodies.len(), 5);
    assert!(bodies[0] == bodies[1] && bodies[1] == bodies[2], "the same bytes are asked again");
    let again = seen.0.lock().unwrap().iter().filter(|line| line.starts_with("again")).count();
    assert_eq!(again, 3);
}

#[tokio::test]
async fn what_is_no_passing_failure_ends_the_turn_and_the_conversation_can_go_on() {
    let lines = [json!({ "reply": { "status": 401, "message": "bad key" } }), says("fine")];
    let (mut conversation, provider, _) = begin(World::new(&lines, Vec::new()));
    let error = go(&mut conversation, "go").await.unwrap_err();
    assert!(error.to_string().contains("bad key") && error.hint().unwrap().contains("ANTHROPIC"), "{error}");
    assert_eq!(provider.bodies.lock().unwrap().len(), 1);
    assert_eq!(go(&mut conversation, "again").await.unwrap(), StopReason::EndTurn);
}

#[tokio::test]
async fn after_a_cancel_no_call_runs_and_each_has_its_result() {
    let cancel = CancellationToken::new();
    let ran = Arc::new(AtomicUsize::new(0));
    let (count, token) = (Arc::clone(&ran), cancel.clone());
    let act = tool("Act", Kind::Execute, move |_, _| {
        count.fetch_add(1, Ordering::SeqCst);
        token.cancel();
        async { Outcome::text("ok") }
    });
    let lines = [calls(&[("a", "Act", json!({})), ("b", "Act", json!({})), ("c", "Act", json!({}))]), says("later")];
    let (mut conversation, provider, _) = begin(World::new(&lines, vec![act]));
    assert_eq!(conversation.turn(ask("go"), cancel).await.unwrap(), StopReason::Cancelled);
    assert_eq!(ran.load(Ordering::SeqCst), 1);
    assert_eq!(go(&mut conversation, "go on").await.unwrap(), StopReason::EndTurn);
    let body: Value = serde_json::from_slice(provider.bodies.lock().unwrap().last().unwrap()).unwrap();
    assert_eq!(body["messages"][2]["content"].as_array().unwrap().len(), 3, "{body}");
}

#[tokio::test]
async fn a_cancel_ends_a_request_that_hangs_and_a_call_that_does() {
    let mut slow = says("never");
    slow["reply"]["delay_ms"] = 600_000.into();
    let (mut conversation, ..) = begin(World::new(&[slow], Vec::new()));
    let cancel = CancellationToken::new();
    let (done, ()) = tokio::join!(conversation.turn(ask("go"), cancel.clone()), async {
        tokio::task::yield_now().await;
        cancel.cancel();
    });
    assert_eq!(done.unwrap(), StopReason::Cancelled);

    let hang = tool("Hang", Kind::Execute, async |_, cx: Context| {
        cx.cancel.cancelled().await;
        Outcome::cancelled()
    });
    let (mut conversation, ..) = begin(World::new(&[calls(&[("a", "Hang", json!({}))])], vec![hang]));
    let cancel = CancellationToken::new();
    let (done, ()) = tokio::join!(conversation.turn(ask("go"), cancel.clone()), async {
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
        cancel.cancel();
    });
    assert_eq!(done.unwrap(), StopReason::Cancelled);
}

#[tokio::test]
async fn arguments_that_are_no_json_are_told_to_the_model() {
    let events = json!([
        { "type": "message_start", "message": { "usage": { "input_tokens": 1 } } },
        { "type": "content_block_start", "index": 0, "content_block": { "type": "tool_use", "id": "a", "name": "Act", "input": {} } },
        { "type": "content_block_delta", "index": 0, "delta": { "type": "input_json_delta", "partial_json": "{\"x\": " } },
        { "type": "message_delta", "delta": { "stop_reason": "tool_use" } },
        { "type": "message_stop" },
    ]);
    let act = tool("Act", Kind::Execute, async |_, _| panic!("it was called"));
    let (mut conversation, provider, _) =
        begin(World::new(&[json!({ "reply": { "events": events } }), says("sorry")], vec![act]));
    assert_eq!(go(&mut conversation, "go").await.unwrap(), StopReason::EndTurn);
    let body: Value = serde_json::from_slice(&provider.bodies.lock().unwrap()[1]).unwrap();
    assert!(body["messages"][2]["content"][0]["content"][0]["text"].as_str().unwrap().contains("not valid JSON"));
}

#[tokio::test]
async fn thinking_goes_back_as_it_came() {
    let act = tool("Act", Kind::Execute, async |_, _| Outcome::default());
    let thinking = json!({ "type": "thinking", "thinking": "hm", "signature": "abc==" });
    let turn =
        json!({ "reply": { "content": [thinking, { "type": "tool_use", "id": "a", "name": "Act", "input": {} }] } });
    let (mut conversation, provider, _) = begin(World::new(&[turn, says("done")], vec![act]));
    go(&mut conversation, "go").await.unwrap();
    let body: Value = serde_json::from_slice(&provider.bodies.lock().unwrap()[1]).unwrap();
    assert_eq!(body["messages"][1]["content"][0], thinking);
    assert_eq!(body["messages"][2]["content"][0]["content"][0]["text"], "(no output)");
}

#[tokio::test]
async fn limits_end_a_turn() {
    let act = || tool("Act", Kind::Execute, async |_, _| Outcome::text("ok"));
    let forever = |n: u64| {
        let mut line = calls(&[("a", "Act", json!({}))]);
        line["reply"]["usage"] = json!({ "input_tokens": n, "output_tokens": 0 });
        line["repeat"] = true.into();
        line
    };
    let mut world = World::new(&[forever(1)], vec![act()]);
    world.parts.max_turns = Some(3);
    let (mut conversation, provider, _) = begin(world);
    assert_eq!(go(&mut conversation, "go").await.unwrap(), StopReason::MaxTurns(3));
    assert_eq!(provider.bodies.lock().unwrap().len(), 3);

    let mut world = World::new(&[forever(60)], vec![act()]);
    world.parts.shared.purse = Purse::new(Allowance { tokens: Some(100), dollars: None }, BTreeMap::new());
    let (mut conversation, provider, _) = begin(world);
    assert!(matches!(go(&mut conversation, "go").await.unwrap(), StopReason::Spent(_)));
    assert_eq!(provider.bodies.lock().unwrap().len(), 2);
}

struct Mail(Mutex<Vec<Turn>>);

impl Inbox for Mail {
    fn at_boundary(&self, _agent: &AgentId) -> Vec<Turn> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

#[tokio::test]
async fn mail_enters_between_tools_and_the_next_request_as_a_message_of_its_own() {
    let mail = Arc::new(Mail(Mutex::default()));
    let post = Arc::clone(&mail);
    let act = tool("Act", Kind::Execute, move |_, _| {
        post.0.lock().unwrap().extend(ask("by the way"));
        async { Outcome::text("ok") }
    });
    let mut world = World::new(&[calls(&[("a", "Act", json!({}))]), says("done")], vec![act]);
    world.parts.inbox = mail;
    let (mut conversation, provider, _) = begin(world);
    go(&mut conversation, "go").await.unwrap();
    let body: Value = serde_json::from_slice(&provider.bodies.lock().unwrap()[1]).unwrap();
    assert_eq!(body["messages"][3]["role"], "user");
    assert_eq!(body["messages"][3]["content"][0]["text"], "by the way");
}

#[tokio::test]
async fn near_the_limit_the_conversation_is_cut_and_keeps_task_and_team() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.jsonl");
    let act = tool("Act", Kind::Execute, async |_, _| Outcome::text("ok"));
    let mut big = calls(&[("a", "Act", json!({}))]);
    big["reply"]["usage"] = json!({ "input_tokens": 850, "output_tokens": 1 });
    let mut summary = says("we did half of it");
    summary["when"] = json!({ "source": "compact" });
    let lines = [summary, big.clone(), says("done")];
    let mut world = World::new(&lines, vec![act]);
    world.parts.transcript = Some(Transcript::at(path.clone()));
    let roster = Arc::new(Mutex::new("scan, merge".to_owned()));
    let now = Arc::clone(&roster);
    world.parts.facts = Arc::new(move || now.lock().unwrap().clone());
    let (mut conversation, provider, seen) = begin(world);
    "only merge is left".clone_into(&mut roster.lock().unwrap());
    assert_eq!(go(&mut conversation, "mend the parser").await.unwrap(), StopReason::EndTurn);
    let body: Value = serde_json::from_slice(provider.bodies.lock().unwrap().last().unwrap()).unwrap();
    let first = body["messages"][0]["content"][0]["text"].as_str().unwrap();
    for part in ["we did half of it", "mend the parser", "only merge is left"] {
        assert!(first.contains(part), "{part} is not in {first}");
    }
    assert_eq!(body["messages"].as_array().unwrap().len(), 1);
    assert!(seen.0.lock().unwrap().contains(&"compacted 1".to_owned()));
    // The request for the summary has the conversation's own beginning, which the cache knows.
    let bodies = provider.bodies.lock().unwrap();
    let asked: Value = serde_json::from_slice(&bodies[1]).unwrap();
    assert_eq!(asked["messages"][0]["content"][0]["text"], "mend the parser");
    assert_eq!(Transcript::recall(&path).unwrap().turns, conversation.turns());
}

#[tokio::test]
async fn the_task_outlives_two_cuts_and_an_unanswered_message_stays() {
    let mut summary = says("noted");
    summary["when"] = json!({ "source": "compact" });
    summary["repeat"] = true.into();
    let mut answer = says("ok");
    answer["repeat"] = true.into();
    let (mut conversation, ..) = begin(World::new(&[summary, answer], Vec::new()));
    go(&mut conversation, "the very task").await.unwrap();
    for round in 0..2 {
        conversation.compact(&CancellationToken::new()).await.unwrap();
        go(&mut conversation, &format!("round {round}")).await.unwrap();
    }
    conversation.push(Turn::user(vec![Block::text("still open")]));
    conversation.compact(&CancellationToken::new()).await.unwrap();
    let text = conversation.turns()[0].text();
    assert_eq!(text.matches("the very task").count(), 1, "{text}");
    assert!(text.ends_with("still open"), "{text}");
}

#[tokio::test]
async fn a_request_that_is_too_long_is_cut_and_asked_again() {
    let too_long = json!({ "when": { "not": "noted" }, "reply": { "status": 400, "message": "prompt is too long" } });
    let mut summary = says("noted");
    summary["when"] = json!({ "source": "compact" });
    let lines = [summary, too_long, says("done")];
    let (mut conversation, ..) = begin(World::new(&lines, Vec::new()));
    conversation.push(Turn::user(vec![Block::text("old")]));
    conversation.push(Turn::assistant(vec![Block::text("older")]));
    assert_eq!(go(&mut conversation, "go").await.unwrap(), StopReason::EndTurn);
    assert_eq!(conversation.last_text(), "done");
}

#[tokio::test]
async fn a_fork_sends_its_parents_bytes_and_its_own_directive() {
    let bases = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&bases);
    let agent = tool("Agent", Kind::Think, move |_, _| {
        let base = identity::current().and_then(|who| who.base.clone());
        kept.lock().unwrap().extend(base);
        async { Outcome::text("started") }
    });
    let lines = [says("first"), calls(&[("a", "Agent", json!({})), ("b", "Agent", json!({}))]), says("done")];
    let world = World::new(&lines, vec![agent]);
    let shared = world.parts.shared.clone();
    let (mut conversation, provider, _) = begin(world);
    go(&mut conversation, "one").await.unwrap();
    go(&mut conversation, "two").await.unwrap();
    let parent = provider.bodies.lock().unwrap()[1].clone();
    let prefix = &parent[..parent.len() - 2];
    let mut firsts = Vec::new();
    for directive in ["left", "right"] {
        let base = Arc::clone(&bases.lock().unwrap()[0]);
        let child = World::new(&[says("child")], Vec::new());
        let (provider, mut parts) = (child.provider, child.parts);
        parts.shared = Shared { provider: Arc::clone(&provider) as _, ..shared.clone() };
        let mut fork = Conversation::forked(parts, &base);
        let answers =
            base.calls.calls().map(|(id, ..)| Block::tool_result(id, vec![ResultPart::text("placeholder")], false));
        let mut content: Vec<Block> = answers.collect();
        content.push(Block::text(directive));
        fork.turn(vec![Turn::user(content)], CancellationToken::new()).await.unwrap();
        let body = provider.bodies.lock().unwrap()[0].clone();
        assert!(body.starts_with(prefix), "the parent's bytes come first");
        let at = body.windows(directive.len()).rposition(|part| part == directive.as_bytes()).unwrap();
        firsts.push(body[..at].to_vec());
        let read: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(read["tools"][0]["name"], "Agent", "the list is the parent's, though the child has another");
    }
    assert_eq!(firsts[0], firsts[1]);
}
