//! What happened.

use super::args::Globals;
use super::condition::Since;
use super::error::CommandError;
use super::follow::{self, What};
use super::{output, team};
use crate::model::time::Timestamp;
use crate::os::clock;
use crate::store::tail::Marker;
use crate::store::{Line, Position, Tail};
use crate::view::feed::feed_in;
use serde_json::Value;

/// Show what happened in the team
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  crewmux events --follow
  crewmux events --since 10m --type member_exited --json")]
pub struct Args {
    /// Stay, and show events as they come
    #[arg(long)]
    pub follow: bool,
    /// Only events after this: a length of time, an RFC 3339 time, or the number of an event
    #[arg(long, value_name = "WHEN")]
    pub since: Option<Since>,
    /// Only events of this type; may be repeated
    #[arg(long = "type", value_name = "TYPE")]
    pub kind: Vec<String>,
}

const READ_BYTES: usize = 1024 * 1024;

pub fn run(args: &Args, globals: &Globals) -> Result<(), CommandError> {
    let mut client = team::open(globals)?;
    let mut feed = Feed {
        tail: Tail::new(client.desk.dir.events(), Position::default()),
        // A length of time counts back from when it was asked, however long one stays.
        now: clock::now(),
        closed: false,
    };
    feed.show(args, globals.json)?;
    if !args.follow {
        return Ok(());
    }
    let folder = client.desk.dir.path().to_owned();
    follow::until(&mut client.desk, &What::Folders(vec![folder]), None, |desk| {
        feed.show(args, globals.json)?;
        Ok((feed.closed || !desk.dir.exists()).then_some(()))
    })?;
    follow::team_has_gone(&client.desk);
    Ok(())
}

struct Feed {
    tail: Tail,
    now: Timestamp,
    closed: bool,
}

impl Feed {
    fn show(&mut self, args: &Args, json: bool) -> Result<(), CommandError> {
        let color = output::color_on_stdout();
        loop {
            let batch = self.tail.read(READ_BYTES)?;
            let mut out = String::new();
            for line in batch.lines {
                if let Some(marker) = line.marker {
                    self.closed = marker == Marker::Closed;
                    continue;
                }
                let Ok(event) = serde_json::from_str::<Value>(&line.json) else { continue };
                if args.wants(&line, &event, self.now) {
                    out += &if json { line.json } else { feed_in(&event, color) };
                    out.push('\n');
                }
            }
            if !out.is_empty() {
                output::text(&out)?;
            }
            if !batch.more {
                return Ok(());
            }
        }
    }
}

impl Args {
    fn wants(&self, line: &Line, event: &Value, now: Timestamp) -> bool {
        let kind = event.get("type").and_then(Value::as_str).unwrap_or_default();
        (self.kind.is_empty() || self.kind.iter().any(|k| k == kind))
            && self.since.is_none_or(|since| since.includes(line.seq, line.ts, now))
    }
}
