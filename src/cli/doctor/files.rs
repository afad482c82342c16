//! A team's journals, read from their first line to their last.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::act::Desk;
use crate::cli::error::CommandError;
use crate::store::{Position, Tail, mend};
use crate::view::answers::{Finding, Severity};

const READ_BYTES: usize = 4 * 1024 * 1024;

/// What one journal holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Health {
    records: u64,
    bad: u64,
    /// Why the first bad line is none.
    why: Option<String>,
    /// The numbers around the first gap.
    gap: Option<(u64, u64)>,
    /// The last line has no end: its writer died, or is just writing.
    torn: bool,
}

impl Health {
    /// What a teammate has read of a long outbox takes no room any more: one line that is no record, and a gap.
    fn forget_hole(&mut self) {
        if self.gap.take().is_some() {
            self.bad = self.bad.saturating_sub(1);
            self.why = self.why.take().filter(|_| self.bad > 0);
        }
    }
}

pub(super) fn look(desk: &mut Desk) -> Result<Vec<Finding>, CommandError> {
    let name = desk.name.clone();
    let mut found = Vec::new();
    let (mut journals, mut records) = (0, 0);
    for path in mend::journals(&desk.dir)? {
        let shown = path.strip_prefix(desk.dir.path()).unwrap_or(&path).display().to_string();
        let what = format!("{name}: {shown}");
        match health(&path) {
            Ok(mut health) => {
                if path.ends_with("mail/outbox.jsonl") {
                    health.forget_hole();
                }
                journals += 1;
                records += health.records;
                found.extend(findings(&what, &health));
            }
            Err(error) => {
                let hint = "check the disk and who owns the file".to_owned();
                found.push(Finding::new(Severity::Broken, what, error.message).hint(hint));
            }
        }
    }
    for (what, unread) in [("tasks.jsonl", board_unread(desk)?), ("requests.jsonl", ledger_unread(desk)?)] {
        if unread > 0 {
            let text = format!("holds records that this version does not know: {unread}");
            found.push(
                Finding::new(Severity::Warning, format!("{name}: {what}"), text)
                    .hint("use the crewmux that made this team"),
            );
        }
    }
    let open = mend::open_to_others(&desk.dir)?;
    if let Some(first) = open.first() {
        let text = format!("others can read or write {} of its files, {} among them", open.len(), first.display());
        let hint = "`crewmux doctor --fix` takes their rights away".to_owned();
        found.push(Finding::new(Severity::Warning, format!("{name}: files"), text).hint(hint));
    }
    if found.is_empty() {
        let text = format!("{records} records in {journals} journals, every line whole");
        found.push(Finding::new(Severity::Fine, format!("{name}: files"), text));
    }
    Ok(found)
}

/// Records of the board that could be read and not understood; bad lines are told of by the journal itself.
fn board_unread(desk: &mut Desk) -> Result<u64, CommandError> {
    desk.board.view()?;
    let bad = health(&desk.dir.tasks())?.bad;
    Ok(desk.board.unread().saturating_sub(bad))
}

fn ledger_unread(desk: &mut Desk) -> Result<u64, CommandError> {
    desk.ledger.view()?;
    let bad = health(&desk.dir.requests())?.bad;
    Ok(desk.ledger.unread().saturating_sub(bad))
}

fn health(path: &Path) -> Result<Health, CommandError> {
    let mut health = Health::default();
    let mut tail = Tail::new(path, Position::default());
    let mut last = 0;
    loop {
        let batch = tail.read(READ_BYTES)?;
        for line in &batch.lines {
            // The first number is that of the oldest segment still there.
            if last > 0 && line.seq != last + 1 {
                health.gap.get_or_insert((last, line.seq));
            }
            last = line.seq;
            health.records += 1;
        }
        health.bad += batch.bad.len() as u64;
        if health.why.is_none() {
            health.why = batch.bad.first().map(|bad| format!("at byte {}: {}", bad.offset, bad.why));
        }
        if !batch.more {
            break;
        }
    }
    health.torn = ends_torn(path);
    Ok(health)
}

fn ends_torn(path: &Path) -> bool {
    let look = || -> std::io::Result<bool> {
        let file = File::open(path)?;
        let size = file.metadata()?.len();
        let mut last = [b'\n'];
        if size > 0 {
            file.read_exact_at(&mut last, size - 1)?;
        }
        Ok(last != *b"\n")
    };
    look().unwrap_or(false)
}

fn findings(what: &str, health: &Health) -> Vec<Finding> {
    let mut found = Vec::new();
    if let Some(why) = &health.why {
        let text = match health.bad {
            1 => format!("one line is no record and is stepped over, {why}"),
            n => format!("{n} lines are no records and are stepped over, the first {why}"),
        };
        let hint = "nothing to do: nobody was told that they were written";
        found.push(Finding::new(Severity::Warning, what, text).hint(hint));
    }
    if let Some((before, after)) = health.gap {
        let text = format!("after record {before} comes {after}: records are missing, or the file was edited");
        let hint = "what is there counts; compare it with a copy, and do not edit a team's files";
        found.push(Finding::new(Severity::Broken, what, text).hint(hint));
    }
    if health.torn {
        let text = "the last line has no end: its writer died in the middle of it";
        found.push(
            Finding::new(Severity::Warning, what, text)
                .hint("nothing to do: the next writer ends it, or `crewmux doctor --fix`"),
        );
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Health {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("tasks.jsonl");
        std::fs::write(&path, text).unwrap();
        health(&path).unwrap()
    }

    fn record(seq: u64) -> String {
        format!("{{\"seq\":{seq},\"ts\":\"2026-12-01T10:00:00.000000Z\",\"type\":\"x\"}}\n")
    }

    #[test]
    fn counts_what_is_whole_bad_missing_and_torn() {
        let good = of(&(record(1) + &record(2)));
        assert_eq!(good, Health { records: 2, ..Health::default() });
        assert!(findings("x", &good).is_empty());

        let ill = of(&(record(3) + "{\"half\n" + "\0\0\n" + &record(4) + &record(7) + "{\"seq\":8"));
        assert_eq!((ill.records, ill.bad, ill.gap, ill.torn), (3, 2, Some((4, 7)), true));
        let severities: Vec<Severity> = findings("x", &ill).iter().map(|f| f.severity).collect();
        assert_eq!(severities, [Severity::Warning, Severity::Broken, Severity::Warning]);
    }
}
