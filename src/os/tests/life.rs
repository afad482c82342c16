use std::collections::BTreeSet;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::Signal;

use super::{LIMIT, id, until};
use crate::model::id::Life;
use crate::os::life::{LIFE_VARIABLE, LifeMark, end_life, members_of};
use crate::os::pidfd::Pidfd;
use crate::os::process::{self, ProcessId};

/// Whatever a test does, nothing of its lives runs on.
struct TestLife(LifeMark);

impl TestLife {
    fn new() -> Self {
        Self(LifeMark { teammate: None, life: Life(uuid::Uuid::new_v4()), boot_id: process::boot_id() })
    }

    fn sh(&self, script: &str) -> Child {
        Command::new("sh")
            .args(["-c", script])
            .env(LIFE_VARIABLE, self.0.life.to_string())
            .stdin(Stdio::null())
            // As in a pane, whose session holds nobody else: a group shared with the test would not be signalled as a whole.
            .process_group(0)
            .spawn()
            .unwrap()
    }

    /// Waits until just these programs run, by their first arguments.
    fn runs(&self, expected: &[&str]) -> Vec<ProcessId> {
        let expected: BTreeSet<String> = expected.iter().map(|&word| word.to_owned()).collect();
        let mut members = Vec::new();
        until("the programs of the life run", || {
            members = members_of(&self.0, &[]);
            let arguments = |id: &ProcessId| process::cmdline(id.pid).get(1)?.to_str().map(str::to_owned);
            members.iter().filter_map(arguments).collect::<BTreeSet<_>>() == expected
        });
        members
    }
}

impl Drop for TestLife {
    fn drop(&mut self) {
        let _ = end_life(&self.0, &[], Duration::ZERO);
    }
}

#[test]
fn what_ignores_term_and_hup_and_left_the_session_is_killed() {
    let life = TestLife::new();
    let mut child = life.sh("trap '' TERM
         (trap '' HUP TERM; exec setsid env -i sleep 7001) &
         sleep 7002 & while :; do wait; done");
    let members = life.runs(&["-c", "7001", "7002"]);
    assert_eq!(members.len(), 3);
    let report = end_life(&life.0, &[], Duration::from_millis(50));
    assert_eq!(report.left, []);
    assert!(report.ended >= 3, "{report:?}");
    assert!(report.killed >= 2, "{report:?}");
    assert!(members.iter().all(|id| !process::is_alive(*id)));
    child.wait().unwrap();
}

#[test]
fn a_stopped_process_leaves_when_asked() {
    let life = TestLife::new();
    let mut child = life.sh("trap 'exit 7' TERM; sleep 7003 & wait");
    life.runs(&["-c", "7003"]);
    Pidfd::open(id(&child)).unwrap().signal(Signal::STOP).unwrap();
    until("it is stopped", || process::stat(child.id()).unwrap().state == 'T');
    let report = end_life(&life.0, &[], LIMIT);
    assert_eq!((report.ended, report.killed, report.left), (2, 0, vec![]));
    assert_eq!(child.wait().unwrap().code(), Some(7));
}

#[test]
fn the_spared_and_the_nested_team_run_on() {
    let life = TestLife::new();
    let nested = TestLife::new();
    let mut child = life.sh(&format!(
        "env {LIFE_VARIABLE}={} sh -c 'sleep 7004 & env -u {LIFE_VARIABLE} sleep 7005 & wait' & sleep 7006 & wait",
        nested.0.life
    ));
    let inner = nested.runs(&["-c", "7004", "7005"]);
    // `sh -c` of both: the outer is the member.
    let members = life.runs(&["-c", "7006"]);
    assert_eq!(members.len(), 2);
    let spared = members.iter().find(|id| id.pid != child.id()).unwrap();
    let report = end_life(&life.0, &[spared.pid], LIMIT);
    assert_eq!((report.ended, report.left), (1, vec![]));
    child.wait().unwrap();
    assert!(process::is_alive(*spared));
    assert!(inner.iter().all(|id| process::is_alive(*id)));
}

#[test]
fn a_session_counts_only_for_its_own_leader() {
    let mut life = TestLife::new();
    // Not marked at all.
    let mut leader = Command::new("setsid").args(["sh", "-c", "sleep 7007 & sleep 7008 & wait"]).spawn().unwrap();
    until("it leads its session", || process::stat(leader.id()).unwrap().session == leader.id());
    let right = id(&leader);
    life.0.teammate = Some(ProcessId { start_time: right.start_time + 1, ..right });
    assert_eq!(members_of(&life.0, &[]), []);
    life.0.teammate = Some(right);
    let boot_id = std::mem::replace(&mut life.0.boot_id, "another boot".to_owned());
    assert_eq!(members_of(&life.0, &[]), []);
    life.0.boot_id = boot_id;
    life.runs(&["-c", "7007", "7008"]);
    // The session outlives its leader.
    leader.kill().unwrap();
    leader.wait().unwrap();
    life.runs(&["7007", "7008"]);
    assert_eq!(end_life(&life.0, &[], LIMIT).ended, 2);
    assert_eq!(members_of(&life.0, &[]), []);
}

#[test]
fn what_keeps_forking_is_caught() {
    let life = TestLife::new();
    // Each process starts the next and leaves, so no single one can be caught; it would end by itself some day.
    let mut child = life.sh("trap '' TERM HUP; hop() { [ $1 = 200000 ] || (hop $(($1 + 1))) & }; hop 0; sleep 7009");
    until("it hops", || members_of(&life.0, &[]).len() > 1);
    let report = end_life(&life.0, &[], Duration::from_millis(1));
    assert_eq!(report.left, []);
    for _ in 0..20 {
        assert_eq!(members_of(&life.0, &[]), []);
    }
    child.wait().unwrap();
}

#[test]
fn the_caller_is_never_a_member() {
    let mut life = TestLife::new();
    life.0.teammate = Some(process::me());
    let child = life.sh("exec sleep 7010");
    let members = members_of(&life.0, &[]);
    assert!(members.contains(&id(&child)));
    assert!(!members.contains(&process::me()));
    // Under one test process for all, the other tests' children descend from it too: forget it before the end.
    life.0.teammate = None;
    let _ = end_life(&life.0, &[], LIMIT);
    assert!(!process::is_alive(id_of(child)));
}

fn id_of(mut child: Child) -> ProcessId {
    let id = id(&child);
    child.wait().unwrap();
    id
}
