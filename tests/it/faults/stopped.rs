//! Who is stopped in the middle of a write, its lock in its hands, holds up nobody for ever and loses nothing.

use std::process::{Child, Stdio};

use super::acknowledged::Trial;
use crate::support::{Ran, kill, until};

fn begin(trial: &Trial, args: &[&str]) -> Child {
    trial.crew.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts")
}

fn end(child: Child) -> Ran {
    Ran::from(child.wait_with_output().expect("ends"))
}

/// tmux lets a pane's process go on at once when that is stopped; a stopped tmux does not.
fn server(trial: &Trial) -> u32 {
    let pid = trial.crew.roster("t")["tmux"]["server_pid"].as_u64().expect("a server");
    u32::try_from(pid).expect("a pid")
}

fn is_stopped(pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('T')))
}

#[test]
fn f12_a_stopped_sender_is_named_to_those_who_wait_for_it_and_its_mail_still_comes() {
    let trial = Trial::up();
    trial.fault("send inbox.jsonl write stop");
    let stopped = begin(&trial, &["send", "--team", "t", "writer", "stopped"]);
    until("it is stopped", || is_stopped(stopped.id()));
    let second = trial.crew.fails(5, &["send", "--team", "t", "writer", "second"]);
    assert!(second.err.contains(&format!("held by process {}", stopped.id())), "{}", second.err);
    // Others are not concerned.
    trial.crew.ok(&["send", "--team", "t", "hand", "elsewhere"]);
    kill(stopped.id(), "CONT");
    let stopped = end(stopped);
    assert_eq!(stopped.code, 0, "{stopped:?}");
    trial.crew.ok(&["send", "--team", "t", "writer", "third"]);
    trial.crew.until_got("writer", "third");
    assert_eq!(trial.crew.texts("writer"), ["stopped", "third"]);
    trial.crew.ok(&["down", "--team", "t"]);
    trial.is_gone();
}

#[test]
fn f23_a_stopped_lead_decides_when_it_wakes() {
    let trial = Trial::up();
    trial.crew.inside("hand", "crewmux permission ask deploy");
    let mut id = String::new();
    until("it is asked", || {
        let open = trial.crew.json(&["requests", "--team", "t"]);
        id = open[0]["id"].as_str().unwrap_or_default().to_owned();
        !id.is_empty()
    });
    let lead = trial.crew.pid_of("t", "team-lead");
    kill(server(&trial), "STOP");
    trial.fault("lead requests.jsonl write stop");
    let approves = begin(&trial, &["approve", "--team", "t", &id]);
    until("the lead is stopped", || is_stopped(lead));
    trial.crew.ok(&["send", "--team", "t", "writer", "meanwhile"]);
    trial.crew.until_got("writer", "meanwhile");
    let added = trial.crew.ok(&["task", "--team", "t", "add", "meanwhile", "--run", "--", "true"]);
    let task = added.trim();
    until("a task is done", || trial.crew.json(&["task", "show", "--team", "t", task])["status"] == "completed");
    kill(lead, "CONT");
    kill(server(&trial), "CONT");
    let approved = end(approves);
    assert_eq!(approved.code, 0, "{approved:?}");
    trial.crew.fails(7, &["approve", "--team", "t", &id]);
    trial.crew.ok(&["down", "--team", "t"]);
    trial.is_gone();
}

#[test]
fn f48_a_stopped_teammate_is_shown_and_answers_when_it_wakes() {
    let trial = Trial::up();
    let teammate = trial.crew.pid_of("t", "hand");
    kill(server(&trial), "STOP");
    trial.fault("teammate replies.jsonl write stop");
    let asked = trial.crew.order("hand", "crewmux send writer 'from a member'");
    until("it is stopped", || is_stopped(teammate));
    until("it is shown", || trial.crew.status("t", "hand")["state"] == "unresponsive");
    // The verb itself was done before.
    trial.crew.until_got("writer", "from a member");
    kill(teammate, "CONT");
    kill(server(&trial), "CONT");
    let answered = trial.crew.outcome(&asked);
    assert_eq!(answered.code, 0, "{answered:?}");
    assert_eq!(trial.crew.texts("writer"), ["from a member"]);
    trial.crew.ok(&["down", "--team", "t"]);
    trial.is_gone();
}
