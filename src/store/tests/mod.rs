//! What the store promises, tested on real files, threads and processes.

mod cursor;
mod homes;
mod intake;
mod journal;
mod leases;
mod processes;
mod rotation;
mod watching;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use super::*;
use crate::model::id::{Life, MessageId};
use crate::model::message::{Body, Message, Text};
use crate::model::name::{AgentId, Name};
use crate::os::clock;

/// A payload of one field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Word {
    word: String,
}

fn word(text: impl ToString) -> Word {
    Word { word: text.to_string() }
}

fn name(text: &str) -> Name {
    Name::parse_any(text).expect("a name")
}

/// A home with one team and one member in it.
struct Place {
    _temp: TempDir,
    home: Home,
    team: TeamDir,
    member: MemberDir,
}

fn place() -> Place {
    let temp = TempDir::new().expect("a temporary folder");
    let home = Home::at(temp.path().join("home"));
    let team = TeamDir::create_new(&home, &name("audit"), |staging| staging.member(&name("scan")).create())
        .expect("a team's folder");
    let member = team.member(&name("scan"));
    Place { _temp: temp, home, team, member }
}

impl Place {
    fn file(&self) -> PathBuf {
        self.team.path().join("test.jsonl")
    }
}

fn message(id: MessageId, text: &str) -> Message {
    let body = Body::Text(Text { content: Some(text.into()), ..Text::default() });
    Message::new(id, AgentId::new(name("merge"), name("audit")), name("scan"), &body)
}

fn lease_text(command: &str) -> LeaseText {
    LeaseText { boot_id: "boot".into(), pid: std::process::id(), start_time: 1, life: life(), command: command.into() }
}

fn life() -> Life {
    clock::new_life()
}

/// Every record of a journal, over all its segments.
fn words(path: &std::path::Path) -> (Vec<(u64, String)>, usize) {
    let mut tail = Tail::new(path, Position::default());
    let (mut lines, mut bad) = (Vec::new(), 0);
    loop {
        let batch = tail.read(1 << 16).expect("reading");
        bad += batch.bad.len();
        for line in &batch.lines {
            let text = line.parse::<Word>().map_or_else(|_| format!("{:?}", line.marker), |w| w.word);
            lines.push((line.seq, text));
        }
        if !batch.more {
            return (lines, bad);
        }
    }
}
