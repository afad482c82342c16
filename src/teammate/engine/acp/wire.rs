//! An agent's lines on their way to and from the protocol: what is no JSON is set aside, and what is too long for
//! memory is cut down to what keeps the conversation going.

use std::io;

use futures::{Sink, Stream};
use serde::de::IgnoredAny;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};

/// Longest line that is taken whole, in bytes. Real updates have some kilobytes.
const MOST: usize = 8 * 1024 * 1024;
/// How much of the beginning and of the end of a longer one is looked at.
const ENDS: usize = 4096;

/// A line for the peer, ended and flushed.
pub fn sink<W: AsyncWrite + Unpin + Send + 'static>(
    writer: W,
) -> impl Sink<String, Error = io::Error> + Send + 'static {
    futures::sink::unfold(writer, |mut writer, mut line: String| async move {
        line.push('\n');
        writer.write_all(line.as_bytes()).await?;
        writer.flush().await?;
        Ok(writer)
    })
}

/// The peer's lines. `aside` gets what is no JSON, and word of what was too long.
pub fn lines<R: AsyncRead + Unpin + Send + 'static>(
    reader: R,
    aside: impl FnMut(String) + Send + 'static,
) -> impl Stream<Item = io::Result<String>> + Send + 'static {
    let state = (BufReader::with_capacity(32 * 1024, reader), aside);
    futures::stream::unfold(state, |(mut reader, mut aside)| async move {
        loop {
            let line = match read_line(&mut reader).await {
                Ok(Some(line)) => line,
                Ok(None) => return None,
                Err(error) => return Some((Err(error), (reader, aside))),
            };
            match line {
                Line::Whole(bytes) if bytes.iter().all(u8::is_ascii_whitespace) => {}
                Line::Whole(bytes) => match String::from_utf8(bytes) {
                    Ok(text) if is_object(&text) => return Some((Ok(text), (reader, aside))),
                    Ok(text) => aside(text),
                    Err(error) => aside(String::from_utf8_lossy(error.as_bytes()).into_owned()),
                },
                Line::TooLong { head, tail, bytes } => {
                    aside(format!("[a message of {} MiB was left out]", bytes / (1024 * 1024)));
                    if let Some(stub) = stub(&head, &tail) {
                        return Some((Ok(stub.to_string()), (reader, aside)));
                    }
                }
            }
        }
    })
}

fn is_object(text: &str) -> bool {
    text.trim_start().starts_with('{') && serde_json::from_str::<IgnoredAny>(text).is_ok()
}

enum Line {
    Whole(Vec<u8>),
    TooLong { head: Vec<u8>, tail: Vec<u8>, bytes: usize },
}

async fn read_line<R: AsyncRead + Unpin>(reader: &mut BufReader<R>) -> io::Result<Option<Line>> {
    let (mut line, mut dropped) = (Vec::new(), 0);
    let mut tail: Vec<u8> = Vec::new();
    loop {
        let chunk = reader.fill_buf().await?;
        if chunk.is_empty() {
            let done = if line.is_empty() { None } else { Some(line_of(line, tail, dropped)) };
            return Ok(done);
        }
        let end = chunk.iter().position(|b| *b == b'\n');
        let part = &chunk[..end.unwrap_or(chunk.len())];
        if line.len() + part.len() <= MOST && dropped == 0 {
            line.extend_from_slice(part);
        } else {
            if dropped == 0 {
                // From here on only the ends count: the memory goes back at once.
                tail = line.split_off(line.len().saturating_sub(ENDS).max(ENDS.min(line.len())));
                dropped = line.len() + tail.len();
                line.truncate(ENDS);
                line.shrink_to_fit();
            }
            dropped += part.len();
            tail.extend_from_slice(part);
            if tail.len() > ENDS {
                tail.drain(..tail.len() - ENDS);
            }
        }
        let used = end.map_or(chunk.len(), |at| at + 1);
        reader.consume(used);
        if end.is_some() {
            return Ok(Some(line_of(line, tail, dropped)));
        }
    }
}

fn line_of(line: Vec<u8>, tail: Vec<u8>, dropped: usize) -> Line {
    if dropped == 0 { Line::Whole(line) } else { Line::TooLong { head: line, tail, bytes: dropped } }
}

/// What stands in for a message that is too long, so that nobody waits for an answer for ever: a request without its
/// parameters, which is refused; an error in place of a result; nothing for a notification.
fn stub(head: &[u8], tail: &[u8]) -> Option<Value> {
    let (head, tail) = (String::from_utf8_lossy(head), String::from_utf8_lossy(tail));
    let id = top_field(&head, "\"id\":").or_else(|| last_field(&tail, "\"id\":"))?;
    match top_field(&head, "\"method\":").filter(Value::is_string) {
        Some(method) => Some(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": {}})),
        None => {
            let error = json!({"code": -32603, "message": "the agent's answer was too long"});
            Some(json!({"jsonrpc": "2.0", "id": id, "error": error}))
        }
    }
}

/// A number or a string after `key`, where it comes before anything nested.
fn top_field(text: &str, key: &str) -> Option<Value> {
    let at = text.find(key)?;
    let nested = text.get(1..at)?.contains('{');
    let mut values = serde_json::Deserializer::from_str(&text[at + key.len()..]).into_iter::<Value>();
    let value = values.next()?.ok()?;
    (!nested && (value.is_number() || value.is_string())).then_some(value)
}

/// The same where it is the very last thing of the object.
fn last_field(text: &str, key: &str) -> Option<Value> {
    let rest = &text[text.rfind(key)? + key.len()..];
    let value: Value = serde_json::from_str(rest.trim_end().strip_suffix('}')?).ok()?;
    (value.is_number() || value.is_string()).then_some(value)
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use futures::StreamExt;

    use super::*;

    async fn read(bytes: Vec<u8>) -> (Vec<String>, Vec<String>) {
        let aside = Arc::new(Mutex::new(Vec::new()));
        let kept = aside.clone();
        let lines = lines(io::Cursor::new(bytes), move |text| kept.lock().unwrap().push(text));
        let lines = lines.map(|l| l.unwrap()).collect().await;
        let aside = aside.lock().unwrap().clone();
        (lines, aside)
    }

    #[tokio::test(flavor = "current_thread")]
    async fn junk_is_set_aside_and_the_rest_goes_through() {
        let (lines, aside) = read(b"Loading\xff...\n{\"a\":1}\n\n  \n[1]\n{\"b\":\n{\"c\":2}".to_vec()).await;
        assert_eq!(lines, ["{\"a\":1}", "{\"c\":2}"]);
        assert_eq!(aside, ["Loading\u{fffd}...", "[1]", "{\"b\":"]);
    }

    #[tokio::test(flavor = "current_thread")]
    async fn what_is_too_long_keeps_nobody_waiting() {
        let long = "x".repeat(MOST + 10);
        let update =
            format!("{{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{{\"id\":4,\"t\":\"{long}\"}}}}\n");
        let asked =
            format!("{{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"fs/write\",\"params\":{{\"t\":\"{long}\"}}}}\n");
        let late = format!("{{\"jsonrpc\":\"2.0\",\"result\":{{\"t\":\"{long}\"}},\"id\":\"z\"}}\n");
        let (lines, aside) = read(format!("{update}{asked}{late}{{\"d\":1}}\n").into_bytes()).await;
        let lines: Vec<Value> = lines.iter().map(|l| serde_json::from_str(l).unwrap()).collect();
        assert_eq!(aside.len(), 3, "{aside:?}");
        assert!(aside[0].contains("8 MiB"), "{aside:?}");
        assert_eq!((&lines[0]["id"], &lines[0]["method"]), (&json!(7), &json!("fs/write")));
        assert_eq!((&lines[1]["id"], &lines[1]["error"]["code"]), (&json!("z"), &json!(-32603)));
        assert_eq!(lines[2], json!({"d": 1}));
    }
}
