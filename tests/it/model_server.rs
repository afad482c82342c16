//! A server that speaks the Messages API for tests: it answers as a script says, keeps the exact bytes that arrive, and delays, refuses,
//! cuts and hangs when told to.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crewmux::agent::provider::Reply;
use serde_json::{Value, json};

/// One request as it came.
#[derive(Clone, Debug)]
pub struct Asked {
    /// `POST /v1/messages HTTP/1.1`
    pub line: String,
    /// `name: value`, the names in lower case.
    pub headers: Vec<String>,
    pub body: Vec<u8>,
}

impl Asked {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("a body of JSON")
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }
}

/// What is answered.
pub enum Answer {
    /// As cassettes write it; `cut_after` ends the connection in the middle.
    Reply(Reply),
    /// So many events of it, and then nothing, until the client has gone.
    Hang(Reply, usize),
}

type Script = dyn Fn(usize, &Value) -> Answer + Send + Sync;

/// Ends with the test: its threads only wait for connections that are closed by then.
pub struct ModelServer {
    pub url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
    gone: Arc<Mutex<usize>>,
}

impl ModelServer {
    /// `script` gets the number of the request, from 0, and its body.
    pub fn new(script: impl Fn(usize, &Value) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let (asked, gone) = (Arc::<Mutex<Vec<Asked>>>::default(), Arc::<Mutex<usize>>::default());
        let (script, all, left): (Arc<Script>, _, _) = (Arc::new(script), Arc::clone(&asked), Arc::clone(&gone));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (script, asked, gone) = (Arc::clone(&script), Arc::clone(&all), Arc::clone(&left));
                std::thread::spawn(move || while serve(&stream, &*script, &asked, &gone).is_some() {});
            }
        });
        Self { url, asked, gone }
    }

    /// Answers one after the other; what comes after the last is a failure that no client tries again.
    pub fn of(replies: Vec<Reply>) -> Self {
        Self::new(move |n, _| Answer::Reply(replies.get(n).cloned().unwrap_or_else(|| refusal(400, "no more answers"))))
    }

    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().expect("no panic").clone()
    }

    /// How often a client has gone before its answer was whole.
    pub fn gone(&self) -> usize {
        *self.gone.lock().expect("no panic")
    }
}

/// One request of a connection; `None` when it is over.
fn serve(mut stream: &TcpStream, script: &Script, asked: &Mutex<Vec<Asked>>, gone: &Mutex<usize>) -> Option<()> {
    let request = read(stream)?;
    let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
    let mut all = asked.lock().ok()?;
    let number = all.len();
    all.push(request);
    drop(all);
    let (reply, hangs) = match script(number, &body) {
        Answer::Reply(reply) => (reply, None),
        Answer::Hang(reply, after) => (reply, Some(after)),
    };
    if let Some(ms) = reply.delay_ms {
        std::thread::sleep(Duration::from_millis(ms));
    }
    if let Some(status) = reply.status {
        return refuse(stream, status, &reply);
    }
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    stream.write_all(head.as_bytes()).ok()?;
    let whole = Reply { cut_after: None, ..reply.clone() }.events("");
    let kept = hangs.or(reply.cut_after).unwrap_or(whole.len());
    for event in &whole[..kept.min(whole.len())] {
        let text = format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default());
        write!(stream, "{:x}\r\n{text}\r\n", text.len()).ok()?;
    }
    if hangs.is_some() {
        let _ = stream.read(&mut [0; 64]);
        *gone.lock().ok()? += 1;
        return None;
    }
    if reply.cut_after.is_some() {
        // Without the last chunk: the client sees that something is missing.
        let _ = stream.shutdown(std::net::Shutdown::Both);
        return None;
    }
    stream.write_all(b"0\r\n\r\n").ok()
}

fn refuse(mut stream: &TcpStream, status: u16, reply: &Reply) -> Option<()> {
    let text = json!({ "type": "error", "error": { "type": "told", "message": reply.message } }).to_string();
    let wait = reply.retry_after.map(|s| format!("retry-after: {s}\r\n")).unwrap_or_default();
    write!(stream, "HTTP/1.1 {status} No\r\n{wait}content-length: {}\r\n\r\n{text}", text.len()).ok()
}

fn read(stream: &TcpStream) -> Option<Asked> {
    let mut reader = BufReader::new(stream);
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim_end() {
            "" => break,
            line => lines.push(line.to_owned()),
        }
    }
    let mut lines = lines.into_iter();
    let line = lines.next()?;
    let headers: Vec<String> = lines
        .filter_map(|line| line.split_once(':').map(|(n, v)| format!("{}: {}", n.to_ascii_lowercase(), v.trim())))
        .collect();
    let length = headers.iter().find_map(|h| h.strip_prefix("content-length: ")?.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Asked { line, headers, body })
}

/// An answer of text.
pub fn says(text: &str) -> Reply {
    Reply { content: Some(vec![json!({ "type": "text", "text": text })]), ..Reply::default() }
}

/// An answer of calls: id, name, arguments.
pub fn calls(list: &[(&str, &str, Value)]) -> Reply {
    let call =
        |(id, name, input): &(&str, &str, Value)| json!({ "type": "tool_use", "id": id, "name": name, "input": input });
    Reply { content: Some(list.iter().map(call).collect()), ..Reply::default() }
}

pub fn refusal(status: u16, message: &str) -> Reply {
    Reply { status: Some(status), message: Some(message.to_owned()), ..Reply::default() }
}

/// The results in the last message of a request: the id, whether it is an error, and the words.
pub fn results(body: &Value) -> Vec<(String, bool, String)> {
    let last = body["messages"].as_array().and_then(|all| all.last()).cloned().unwrap_or_default();
    let blocks = last["content"].as_array().cloned().unwrap_or_default();
    let of = |block: &Value| {
        let words: Vec<&str> =
            block["content"].as_array().into_iter().flatten().filter_map(|part| part["text"].as_str()).collect();
        (block["tool_use_id"].as_str().unwrap_or_default().to_owned(), block["is_error"] == true, words.join("\n"))
    };
    blocks.iter().filter(|block| block["type"] == "tool_result").map(of).collect()
}
