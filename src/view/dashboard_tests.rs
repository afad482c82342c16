//! What the screen looks like, and that it fits whatever there is.

use serde_json::{Value, json};

use super::*;
use crate::model::name::{AgentId, Name};
use crate::model::request::RequestKind;
use crate::model::team::Exit;
use crate::model::time::Timestamp;
use crate::view::status::{Alive, LeadView, MemberView};

const NOW: &str = "2026-12-01T10:05:31.000000Z";

fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

fn member(text: &str, state: &str, task: Option<u64>) -> MemberView {
    let now: Timestamp = NOW.parse().unwrap();
    let alive = if state == "failed" { Alive::No } else { Alive::Yes };
    let exit = (state == "failed").then(|| Exit {
        life: None,
        code: Some(101),
        signal: None,
        reason: "exited".into(),
        at: now,
    });
    MemberView {
        name: name(text),
        agent_id: AgentId::new(name(text), name("audit")),
        engine: "worker".into(),
        state: state.into(),
        alive,
        pid: Some(4243),
        pane_id: Some("%3".into()),
        unread: u64::from(state == "idle") * 2,
        queued: 0,
        task: task.map(crate::model::id::TaskId),
        restarts: 0,
        exit,
        since: Some(Timestamp(now.0 - 72_000_000)),
        activity: None,
        color: "cyan".into(),
        sandbox: "workspace-write".into(),
        unconfined: false,
        state_dirs: Vec::new(),
    }
}

fn request(kind: RequestKind, summary: &str) -> RequestView {
    RequestView {
        id: "0193f1aa-0000-7000-8000-00009c41d7aa".parse().unwrap(),
        kind,
        from: AgentId::new(name("merge"), name("audit")),
        member: name("merge"),
        state: RequestState::Open,
        created_at: NOW.parse().unwrap(),
        expires: None,
        summary: summary.into(),
        hash: None,
        body: Value::Null,
        decision: None,
    }
}

fn tasks() -> Vec<Task> {
    let task = |id: u64, status: &str, subject: &str, owner: Option<&str>| -> Task {
        serde_json::from_value(json!({"id": id.to_string(), "subject": subject, "status": status, "owner": owner,
            "created_at": NOW, "updated_at": NOW}))
        .unwrap()
    };
    vec![
        task(1, "completed", "Count lines by language", Some("scan")),
        task(2, "completed", "List dependencies", Some("deps")),
        task(3, "in_progress", "Find markers with file and line, in every folder of the repository", Some("scan")),
        task(4, "failed", "Largest files", Some("sizes")),
        task(5, "pending", "Merge the findings", None),
        task(6, "deleted", "Never mind", None),
    ]
}

fn status(members: usize) -> StatusView {
    let some = [
        member("scan", "busy", Some(3)),
        member("deps", "idle", None),
        member("sizes", "failed", None),
        member("merge", "planning", None),
    ];
    StatusView {
        team: name("audit"),
        at: NOW.parse().unwrap(),
        cwd: "/repo".into(),
        session: "crewmux-audit".into(),
        lead: LeadView { alive: true, pid: Some(4242), unread: 1 },
        members: some.iter().cycle().take(members).cloned().collect(),
        tasks: TaskCounts::of(&tasks()),
        requests: 1,
        open_requests: vec![request(RequestKind::Plan, "rewrite the parser in three steps")],
    }
}

fn events(n: u64) -> Vec<Value> {
    (1..=n)
        .map(|i| {
            json!({"seq": i, "ts": format!("2026-12-01T10:05:{:02}Z", i % 60), "type": "task_claimed", "member": "scan",
                "task": i.to_string(), "subject": "Count lines\u{1b}[2J by language and a good deal more than fits"})
        })
        .collect()
}

fn check(members: usize, n: u64, columns: usize, rows: usize) -> String {
    dashboard(&status(members), &tasks(), &events(n), Size { columns, rows }, false)
}

#[test]
fn screen_80x24() {
    insta::assert_snapshot!(check(4, 30, 80, 24));
}

#[test]
fn screen_40x10() {
    insta::assert_snapshot!(check(4, 30, 40, 10));
}

#[test]
fn an_empty_team_has_a_screen_too() {
    let mut status = status(0);
    status.open_requests.clear();
    status.lead.alive = false;
    let screen = dashboard(&status, &[], &[], Size { columns: 50, rows: 8 }, false);
    insta::assert_snapshot!(screen);
}

#[test]
fn every_size_fits_and_says_who_asks() {
    for rows in [5, 6, 7, 9, 12, 16, 24, 40] {
        for columns in [20, 33, 50, 80, 119] {
            for (members, n) in [(0, 0), (1, 3), (4, 30), (64, 200)] {
                for color in [false, true] {
                    let size = Size { columns, rows };
                    let screen = dashboard(&status(members), &tasks(), &events(n), size, color);
                    let lines: Vec<&str> = screen.split('\n').collect();
                    assert_eq!(lines.len(), rows, "{columns}x{rows}");
                    for line in &lines {
                        assert!(width(line) <= columns, "{columns}x{rows}: {line:?}");
                    }
                    assert!(screen.contains("merge asks"), "{columns}x{rows} hides the open request:\n{screen}");
                    assert!(!screen.contains("\x1b[2J"), "{columns}x{rows} lets a text act");
                }
            }
        }
    }
}

#[test]
fn the_status_page() {
    let style = Style { color: false, width: Some(80) };
    insta::assert_snapshot!(crate::view::status::text(&status(4), &style));
}

#[test]
fn status_json_is_what_the_reference_says() {
    let json = serde_json::to_value(status(1)).unwrap();
    assert_eq!(json["members"][0]["alive"], true);
    assert_eq!(json["members"][0]["task"], "3");
    assert_eq!(json["requests"], 1);
    assert_eq!(json["tasks"], json!({"pending":1,"in_progress":1,"completed":2,"failed":1}));
    assert_eq!(serde_json::to_value(Alive::Unknown).unwrap(), "unknown");
}
