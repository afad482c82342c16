//! What a hostile model may send, before any tool sees it.

use serde_json::json;

use super::*;
use crate::agent::id::AgentId;
use crate::agent::permission::Mode;
use crate::agent::tools::{BoxFuture, Kind, Subject};

struct Echo {
    name: &'static str,
    kind: Kind,
    deferred: bool,
}

impl Tool for Echo {
    fn name(&self) -> &str {
        self.name
    }
    fn aliases(&self) -> &[&str] {
        if self.name == "Read" { &["Cat"] } else { &[] }
    }
    fn spec(&self, _possible: &Possible) -> ToolSpec {
        ToolSpec::new(self.name, "says what it got", json!({"type": "object"}))
    }
    fn is_listed(&self, possible: &Possible) -> bool {
        self.name != "Ask" || possible.person
    }
    fn is_deferred(&self) -> bool {
        self.deferred
    }
    fn kind(&self) -> Kind {
        self.kind
    }
    fn subject(&self, input: &Value, _cx: &Context) -> Subject {
        Subject::of(input["at"].as_str().unwrap_or_default())
    }
    fn call<'a>(&'a self, input: Value, _cx: &'a Context) -> BoxFuture<'a, Outcome> {
        Box::pin(async move { Outcome::text(input.to_string()) })
    }
}

fn registry() -> Registry {
    let tool = |name, kind, deferred| Arc::new(Echo { name, kind, deferred }) as Arc<dyn Tool>;
    Registry::new(vec![
        tool("Read", Kind::Read, false),
        tool("Edit", Kind::Edit, false),
        tool("Ask", Kind::Think, false),
        tool("mcp__a__b", Kind::Read, true),
    ])
}

fn context(mode: Mode) -> Context {
    Context::new(AgentId::main(), "/".into(), mode)
}

#[tokio::test]
async fn an_unknown_tool_is_named_with_its_nearest() {
    let cx = context(Mode::Bypass);
    let said = registry().call("Raed", json!({}), &cx).await;
    assert!(said.is_error && said.as_text().contains("Did you mean Read?"), "{}", said.as_text());
    let said = registry().call(&"x\u{1b}[2J".repeat(1_000_000), json!({}), &cx).await.as_text();
    assert!(said.len() < 1000 && !said.contains('\u{1b}') && said.contains("There are: Read, Edit"), "{said}");
}

#[tokio::test]
async fn too_long_arguments_never_reach_the_tool() {
    let said = registry().call("Read", json!({ "at": "x".repeat(10 << 20) }), &context(Mode::Bypass)).await;
    assert!(said.is_error && said.as_text().contains("are the most"), "{}", said.as_text());
    assert!(said.as_text().len() < 1000);
}

#[tokio::test]
async fn a_call_passes_the_gate_first() {
    let cx = context(Mode::Default);
    let said = registry().call("Edit", json!({"at": "x"}), &cx).await;
    assert!(said.is_error && said.as_text().contains("nobody is there"), "{}", said.as_text());
    locked_rules(&cx).allow.push("Edit(x)".to_owned());
    assert!(!registry().call("Edit", json!({"at": "x"}), &cx).await.is_error);
    assert!(registry().call("Edit", json!({"at": "y"}), &cx).await.is_error);
}

fn locked_rules(cx: &Context) -> std::sync::MutexGuard<'_, crate::agent::permission::Rules> {
    cx.rules.lock().unwrap()
}

#[tokio::test]
async fn what_is_refused_is_refused_with_its_reason_also_by_an_alias() {
    let mut cx = context(Mode::Bypass);
    cx.refused = Arc::new([("Read".to_owned(), "a fork starts no children".to_owned())].into());
    for name in ["Read", "Cat"] {
        assert_eq!(registry().call(name, json!({}), &cx).await.as_text(), "a fork starts no children");
    }
}

#[tokio::test]
async fn nothing_is_called_in_a_cancelled_turn() {
    let cx = context(Mode::Bypass);
    cx.cancel.cancel();
    assert_eq!(registry().call("Read", json!({}), &cx.for_call("1")).await, Outcome::cancelled());
}

#[test]
fn what_cannot_be_used_or_was_not_looked_for_is_not_shown() {
    let mut possible = Possible::default();
    let names = |possible: &Possible| registry().specs(possible).into_iter().map(|s| s.name).collect::<Vec<_>>();
    assert_eq!(names(&possible), ["Read", "Edit"]);
    possible.person = true;
    possible.loaded.insert("mcp__a__b".to_owned());
    assert_eq!(names(&possible), ["Read", "Edit", "Ask", "mcp__a__b"]);
}

#[test]
fn the_first_of_a_name_stays() {
    let mut tools = registry();
    tools.add(Arc::new(Echo { name: "Edit", kind: Kind::Think, deferred: false }));
    assert_eq!(tools.get("Edit").unwrap().kind(), Kind::Edit);
    assert_eq!(tools.iter().count(), 4);
}
