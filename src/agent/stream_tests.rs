use serde_json::json;

use super::*;

fn feed(events: &[Value]) -> Result<Answer, Failure> {
    let mut assembly = Assembly::default();
    for event in events {
        assembly.take(StreamEvent::parse(&event.to_string()).unwrap())?;
    }
    assembly.finish()
}

fn call(index: usize, id: &str, parts: &[&str]) -> Vec<Value> {
    let start = json!({ "type": "tool_use", "id": id, "name": "Read", "input": {} });
    let mut events = vec![json!({ "type": "content_block_start", "index": index, "content_block": start })];
    events.extend(parts.iter().map(|part| {
        json!({ "type": "content_block_delta", "index": index,
                "delta": { "type": "input_json_delta", "partial_json": part } })
    }));
    events.push(json!({ "type": "content_block_stop", "index": index }));
    events
}

fn end() -> Vec<Value> {
    vec![
        json!({ "type": "message_delta", "delta": { "stop_reason": "tool_use" }, "usage": { "output_tokens": 7 } }),
        json!({ "type": "message_stop" }),
    ]
}

#[test]
fn thinking_text_and_parallel_calls_become_one_turn() {
    let mut events = vec![
        json!({ "type": "message_start", "message": { "id": "m", "usage": { "input_tokens": 5, "output_tokens": 1,
            "cache_read_input_tokens": 3 } } }),
        json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "thinking", "thinking": "" } }),
        json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "thinking_delta", "thinking": "hm" } }),
        json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "signature_delta", "signature": "s=" } }),
        json!({ "type": "content_block_start", "index": 1, "content_block": { "type": "text", "text": "" } }),
        json!({ "type": "ping" }),
        json!({ "type": "content_block_delta", "index": 1, "delta": { "type": "text_delta", "text": "hel" } }),
        json!({ "type": "content_block_delta", "index": 1, "delta": { "type": "text_delta", "text": "lo" } }),
    ];
    // The parts of two calls may come mixed.
    let (one, two) = (call(2, "a", &["{\"x\":", "1}"]), call(3, "b", &[]));
    events.extend([one[0].clone(), two[0].clone(), one[1].clone(), one[2].clone()]);
    events.extend(end());
    let answer = feed(&events).unwrap();
    assert_eq!(
        answer.turn.content[0],
        serde_json::from_value(json!({ "type": "thinking", "thinking": "hm", "signature": "s=" })).unwrap()
    );
    assert_eq!(answer.turn.text(), "hello");
    let calls: Vec<_> = answer.turn.calls().map(|(id, _, input)| (id.to_owned(), input.clone())).collect();
    assert_eq!(calls, [("a".to_owned(), json!({ "x": 1 })), ("b".to_owned(), json!({}))]);
    assert_eq!(
        answer.usage,
        Usage { input_tokens: 5, output_tokens: 7, cache_read_input_tokens: 3, ..Usage::default() }
    );
    assert!(answer.bad_inputs.is_empty());
}

#[test]
fn arguments_that_are_no_object_are_named_and_never_sent_back() {
    for (parts, says) in [
        (&["{\"x\": "][..], "valid JSON"),
        (&["[1]"][..], "JSON object"),
        (&["\"x\""][..], "JSON object"),
        (&["null"][..], "JSON object"),
    ] {
        let answer = feed(&[call(0, "a", parts), end()].concat()).unwrap();
        assert!(answer.bad_inputs[0].1.contains(says), "{parts:?}: {:?}", answer.bad_inputs);
        assert_eq!(answer.turn.calls().next().unwrap().2, &json!({}));
    }
}

#[test]
fn ten_megabytes_of_arguments_pass_and_twenty_are_refused() {
    for (chunks, passes) in [(10, true), (20, false)] {
        let big = "y".repeat(1 << 20);
        let mut parts = vec!["{\"x\":\""];
        parts.extend(std::iter::repeat_n(big.as_str(), chunks));
        parts.push("\"}");
        let answer = feed(&[call(0, "a", &parts), end()].concat()).unwrap();
        assert_eq!(answer.bad_inputs.is_empty(), passes, "{chunks} MB");
    }
}

#[test]
fn calls_of_one_id_get_ids_of_their_own() {
    let answer = feed(&[call(0, "a", &[]), call(1, "a", &[]), call(2, "a", &[]), end()].concat()).unwrap();
    let ids: HashSet<&str> = answer.turn.calls().map(|(id, ..)| id).collect();
    assert_eq!(ids.len(), 3);
}

#[test]
fn an_answer_without_its_end_is_cut_off() {
    let events = [call(0, "a", &["{}"]), end()].concat();
    for kept in 0..events.len() {
        assert!(matches!(feed(&events[..kept]), Err(Failure::Cut(_))), "{kept}");
    }
    assert!(feed(&events).is_ok());
}

#[test]
fn what_the_stream_tells_of_is_told() {
    let error = json!({ "type": "error", "error": { "type": "overloaded_error", "message": "busy" } });
    let failure = feed(&[error]).unwrap_err();
    assert!(failure.is_passing() && failure.is_crowded(), "{failure}");
    let stray = json!({ "type": "content_block_delta", "index": 9, "delta": { "type": "text_delta", "text": "x" } });
    assert!(matches!(feed(&[stray]), Err(Failure::Cut(_))));
    let odd = json!({ "type": "from_the_future", "x": 1 });
    assert!(feed(&[vec![odd], call(0, "a", &[]), end()].concat()).is_ok());
}
