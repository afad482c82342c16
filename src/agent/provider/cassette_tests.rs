use futures::StreamExt;

use super::*;
use crate::agent::AgentId;
use crate::agent::stream::{Answer, Assembly};

fn cassette(text: &str) -> Cassette {
    Cassette::from_text("test", text, Path::new("/a \"b\"")).unwrap()
}

fn ask(text: &str) -> Value {
    json!({ "system": [{ "type": "text", "text": "be good" }],
            "messages": [{ "role": "user", "content": [{ "type": "text", "text": text }] }] })
}

async fn answer(cassette: &Cassette, body: &Value) -> Result<Answer, Failure> {
    let call = Call { body: body.to_string().into_bytes(), agent: AgentId::main(), source: "main".to_owned() };
    let mut events = cassette.send(&call).await?;
    let mut assembly = Assembly::default();
    while let Some(event) = events.next().await {
        assembly.take(event?)?;
    }
    assembly.finish()
}

#[test]
fn a_request_gets_the_first_unused_line_that_fits() {
    let cassette = cassette(concat!(
        "# a comment\n\n",
        r#"{"when":{"last":"two"},"reply":{"message":"2"}}"#,
        "\n",
        r#"{"when":{"last":"one","source":"main"},"reply":{"message":"1"}}"#,
        "\n",
        r#"{"when":{"last":"one"},"repeat":true,"reply":{"message":"again"}}"#,
        "\n",
    ));
    let say = |text: &str| cassette.take("main", &ask(text)).map(|r| r.message.unwrap_or_default());
    assert_eq!(say("one").unwrap(), "1");
    assert_eq!(say("one").unwrap(), "again");
    assert_eq!(say("one").unwrap(), "again");
    assert_eq!(cassette.unused(), 1);
    assert_eq!(say("two").unwrap(), "2");
    let nothing = say("three").unwrap_err().to_string();
    assert!(nothing.contains("three") && nothing.contains("main"), "{nothing}");
}

#[test]
fn each_condition_counts() {
    let body = json!({ "system": [{ "type": "text", "text": "be good" }], "messages": [
        { "role": "user", "content": "first" },
        { "role": "assistant", "content": [{ "type": "tool_use", "name": "Read", "input": { "file_path": "x.rs" } }] },
        { "role": "user", "content": [{ "type": "tool_result", "content": [{ "type": "text", "text": "42 lines" }] }] },
    ] });
    for (when, fits) in [
        (json!({}), true),
        (json!({ "source": "fork" }), false),
        (json!({ "system": "good" }), true),
        (json!({ "system": "bad" }), false),
        (json!({ "last": "42" }), true),
        (json!({ "last": "first" }), false),
        (json!({ "any": "first" }), true),
        (json!({ "any": "x.rs" }), true),
        (json!({ "not": "x.rs" }), false),
        (json!({ "messages": 3 }), true),
        (json!({ "messages": 1 }), false),
    ] {
        let parsed: When = serde_json::from_value(when.clone()).unwrap();
        assert_eq!(parsed.fits("main", &body), fits, "{when}");
    }
}

#[tokio::test]
async fn an_answer_is_played_as_a_stream_with_the_folder_in_it() {
    let line = json!({ "reply": { "content": [
        { "type": "thinking", "thinking": "hm", "signature": "s" },
        { "type": "text", "text": "in ${cwd}" },
        { "type": "tool_use", "id": "t", "name": "Read", "input": { "file_path": "${cwd}/x" } },
    ] } });
    let answer = answer(&cassette(&line.to_string()), &ask("go")).await.unwrap();
    assert_eq!(answer.stop, "tool_use");
    assert_eq!(answer.turn.text(), "in /a \"b\"");
    assert_eq!(answer.turn.calls().next().unwrap().2["file_path"], "/a \"b\"/x");
    assert!(answer.turn.content[0].is_thinking());
}

#[tokio::test]
async fn failures_and_cuts_are_played_too() {
    let text = concat!(
        r#"{"when":{"last":"busy"},"reply":{"status":529,"retry_after":0.5}}"#,
        "\n",
        r#"{"when":{"last":"cut"},"reply":{"content":[{"type":"text","text":"x"}],"cut_after":3}}"#,
        "\n",
    );
    let cassette = cassette(text);
    let busy = answer(&cassette, &ask("busy")).await.unwrap_err();
    assert!(busy.is_crowded());
    assert_eq!(busy.retry_after(), Some(Duration::from_millis(500)));
    assert!(matches!(answer(&cassette, &ask("cut")).await, Err(Failure::Cut(_))));
}

#[test]
fn a_line_that_is_none_is_named_with_its_number() {
    for (text, says) in [
        ("{\"reply\":{}}\nnonsense", "test:2"),
        (r#"{"v":9,"reply":{}}"#, "newer"),
        (r#"{"repyl":{}}"#, "repyl"),
        (r#"{"when":{"lats":"x"},"reply":{}}"#, "lats"),
    ] {
        let error = Cassette::from_text("test", text, Path::new("/")).err().unwrap().to_string();
        assert!(error.contains(says), "{error}");
    }
}
