use serde_json::json;

use super::*;

fn head() -> Head {
    Head {
        model: "m".to_owned(),
        max_tokens: 10,
        thinking: None,
        temperature: None,
        system: vec!["be good".to_owned()],
        tools: vec![ToolSpec::new("Read", "reads", json!({ "type": "object" }))],
    }
}

fn body(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(bytes)))
}

#[test]
fn what_is_not_known_is_kept_as_it_came() {
    for text in [
        r#"{"type":"text","text":"hi","citations":[{"a":1}]}"#,
        r#"{"type":"thinking","thinking":"hm","signature":"sig=="}"#,
        r#"{"type":"redacted_thinking","data":"xx"}"#,
        r#"{"type":"tool_use","id":"t1","name":"Read","input":{"z":1,"a":2},"caller":{"type":"direct"}}"#,
        r#"{"type":"server_tool_use","id":"s","name":"web_search","input":{"query":"q"}}"#,
        r#"{"type":"something_new","deep":{"b":[1,2,{"c":null}]}}"#,
        r#"{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"x"},{"type":"odd","y":1}],"is_error":true}"#,
    ] {
        let block: Block = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&block).unwrap(), text);
    }
    assert!(matches!(serde_json::from_str(r#"{"type":"server_tool_use","id":"s"}"#).unwrap(), Block::Other(_)));
}

#[test]
fn a_result_may_be_a_plain_string() {
    let block: Block = serde_json::from_str(r#"{"type":"tool_result","tool_use_id":"t","content":"ok"}"#).unwrap();
    assert_eq!(block, Block::tool_result("t", vec![ResultPart::text("ok")], false));
}

#[test]
fn usage_is_read_with_fields_missing_null_and_unknown() {
    let usage: Usage =
        serde_json::from_str(r#"{"input_tokens":3,"cache_read_input_tokens":null,"service_tier":"x"}"#).unwrap();
    assert_eq!(usage, Usage { input_tokens: 3, ..Usage::default() });
}

#[test]
fn a_body_is_what_a_provider_takes() {
    let mut request = RequestBody::new(&head());
    request.push(&Turn::user(vec![Block::text("one")]));
    let sent = body(&request.bytes());
    assert_eq!(sent["stream"], true);
    assert_eq!(sent["system"][0]["cache_control"]["type"], "ephemeral");
    assert_eq!(sent["messages"][0]["content"][0]["cache_control"]["type"], "ephemeral");
    assert_eq!(sent["tools"][0]["name"], "Read");
}

#[test]
fn no_request_has_more_than_four_breakpoints() {
    let mut request = RequestBody::new(&head());
    for n in 0..10 {
        request.push(&Turn::user(vec![Block::text(format!("ask {n}"))]));
        request.push(&Turn::assistant(vec![Block::text(format!("answer {n}"))]));
        if n == 4 || n == 6 {
            request = request.frozen();
        }
        let text = String::from_utf8(request.bytes()).unwrap();
        assert!(text.matches("cache_control").count() <= 4, "{text}");
        body(text.as_bytes());
    }
}

#[test]
fn a_frozen_body_begins_with_the_bytes_that_were_sent() {
    let mut parent = RequestBody::new(&head());
    parent.push(&Turn::user(vec![Block::text("one")]));
    parent.push(&Turn::assistant(vec![Block::text("two")]));
    parent.push(&Turn::user(vec![Block::text("three")]));
    let sent = parent.bytes();
    let frozen = parent.frozen();
    for directive in ["left", "right"] {
        let mut child = frozen.clone();
        child.push(&Turn::assistant(vec![Block::tool_use("t", "Agent", json!({}))]));
        child.push(&Turn::user(vec![Block::text(directive)]));
        let bytes = child.bytes();
        assert!(bytes.starts_with(&sent[..sent.len() - 2]));
        assert_eq!(body(&bytes)["messages"].as_array().unwrap().len(), 5);
        child.push(&Turn::assistant(vec![Block::text("x")]));
        child.push(&Turn::user(vec![Block::text("y")]));
        assert!(child.bytes().starts_with(frozen.prefix()));
    }
}

#[test]
fn a_text_that_looks_like_an_end_is_marked_in_the_right_place() {
    let mut request = RequestBody::new(&head());
    request.push(&Turn::user(vec![Block::text("\"}]}"), Block::text("}]}")]));
    let sent = body(&request.bytes());
    assert_eq!(sent["messages"][0]["content"][1]["text"], "}]}");
    assert_eq!(sent["messages"][0]["content"][1]["cache_control"]["type"], "ephemeral");
}
