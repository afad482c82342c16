//! Every party at its writes: killed before, in the middle of and after one; refused one by the disk.

use super::acknowledged::Trial;

/// The whole list takes minutes: `just faults`. Otherwise the first of each kind of write.
fn each(faults: &[&str]) {
    let mut trial = Trial::up();
    for fault in faults {
        trial.meets(fault);
    }
    trial.goes_down();
}

fn kinds(party: &str, step: &str, kinds: &[&str]) -> Vec<String> {
    kinds.iter().map(|kind| format!("{party} {step} {kind}")).collect()
}

/// One step of one party, in every way.
fn all(party: &str, step: &str, ways: &[&str]) {
    let faults = kinds(party, step, ways);
    each(&faults.iter().map(String::as_str).collect::<Vec<_>>());
}

const WRITE: [&str; 6] = ["kill", "half", "after", "enospc", "eio", "short"];
const STEP: [&str; 4] = ["kill", "after", "enospc", "eio"];

#[test]
fn f12_a_sender_at_its_write() {
    all("send", "inbox.jsonl write", &WRITE);
}

#[test]
fn f12_whoever_adds_a_task_at_its_write() {
    all("task", "tasks.jsonl write", &WRITE);
    all("task", "tasks.jsonl sync", &["kill", "eio"]);
}

#[test]
fn f12_whoever_decides_at_its_write() {
    all("approve", "control.jsonl write", &WRITE);
}

#[test]
fn f12_a_member_s_verb_at_its_write() {
    all("permission", "outbox.jsonl write", &["kill", "half", "enospc"]);
}

#[test]
fn f23_a_lead_at_its_ledger() {
    all("lead", "requests.jsonl write", &["half", "after", "enospc"]);
}

#[test]
fn f23_a_lead_at_its_answers() {
    let answers =
        ["lead control.jsonl write half", "lead control.jsonl write enospc", "lead control.jsonl write eio 1"];
    each(&answers);
    each(&["lead cursors.json write kill", "lead cursors.json write enospc"]);
}

#[test]
fn f17_what_a_teammate_cannot_say_at_once_is_said_later() {
    all("teammate", "replies.jsonl write", &["enospc", "short", "half"]);
    all("teammate", "inbox.jsonl write", &["enospc"]);
}

#[test]
fn f23_a_teammate_at_its_writes() {
    each(&["teammate cursors.json write kill", "teammate cursors.json write after", "teammate tasks.jsonl write half"]);
}

#[test]
#[ignore = "minutes: just faults"]
fn long_a_lead_at_every_write() {
    for file in ["requests.jsonl", "control.jsonl", "events.jsonl"] {
        all("lead", &format!("{file} write"), &WRITE);
    }
    all("lead", "requests.jsonl sync", &STEP);
    all("lead", "cursors.json write", &STEP);
}

#[test]
#[ignore = "minutes: just faults"]
fn long_a_teammate_at_every_write() {
    for file in ["tasks.jsonl", "control.jsonl", "replies.jsonl"] {
        all("teammate", &format!("{file} write"), &WRITE);
    }
    all("teammate", "cursors.json write", &STEP);
}
