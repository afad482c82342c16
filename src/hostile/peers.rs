//! What programs at the other end of a pipe or a connection say.

use std::sync::{Arc, Mutex};

use futures::stream::StreamExt;
use serde_json::Value;

use crate::agent::mcp_client::Server;
use crate::agent::provider::StreamEvent;
use crate::agent::stream::Assembly;
use crate::agent::transcript;
use crate::agent::wire::{Block, Turn};
use crate::teammate::engine::acp::wire;

/// Lines of an agent: each is an object, or set aside.
pub fn acp(bytes: &[u8]) {
    let aside = Arc::new(Mutex::new(0));
    let count = Arc::clone(&aside);
    let lines = wire::lines(std::io::Cursor::new(bytes.to_vec()), move |_| {
        *count.lock().expect("nobody panics with it") += 1;
    });
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let mut taken = 0;
    for line in runtime.block_on(lines.collect::<Vec<_>>()) {
        let value: Value = serde_json::from_str(&line.expect("memory can be read")).expect("JSON");
        assert!(value.is_object());
        let _ = Server::from_value(&value["params"]);
        taken += 1;
    }
    let there = bytes.split(|b| *b == b'\n').filter(|line| !line.iter().all(u8::is_ascii_whitespace)).count();
    assert_eq!(taken + *aside.lock().expect("nobody panics with it"), there);
}

/// The events of a model's answer, one a line: what is made of them can be sent back.
pub fn model(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let mut assembly = Assembly::default();
    for line in text.lines() {
        if let Ok(event) = StreamEvent::parse(line)
            && assembly.take(event).is_err()
        {
            return;
        }
    }
    let _ = assembly.so_far();
    let Ok(answer) = assembly.finish() else { return };
    let calls: Vec<&str> = answer.turn.calls().map(|(id, _, _)| id).collect();
    for (id, _) in &answer.bad_inputs {
        assert!(calls.contains(&id.as_str()), "{id} is a call");
    }
    assert!(answer.turn.calls().all(|(_, _, input)| input.is_object()));
    let json = serde_json::to_string(&answer.turn).expect("a turn is JSON");
    assert_eq!(serde_json::from_str::<Turn>(&json).expect("and back"), answer.turn);
    let begins = Turn::user(vec![Block::text("go on")]);
    for turn in transcript::repaired(vec![begins, answer.turn]) {
        assert!(!turn.content.is_empty());
    }
}
