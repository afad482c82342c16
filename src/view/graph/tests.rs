use crate::decide::authority::Authority;
use crate::decide::board::{Board, Caller};
use crate::model::id::{Life, TaskId};
use crate::model::name::Name;
use crate::model::task::{NewTask, Task, TaskResult};
use crate::model::time::Timestamp;

use super::*;

fn tasks() -> Vec<Task> {
    let operator = Caller {
        name: Name::operator(),
        life: None,
        authority: Authority::Operator,
        capabilities: &[],
        claim_limit: 1,
    };
    let scan = Caller {
        name: Name::parse("scan").unwrap(),
        life: Some(Life::derived(&["scan"])),
        authority: Authority::Member,
        ..operator.clone()
    };
    let new = |subject: &str, blocked_by: &[u64]| NewTask {
        subject: subject.into(),
        blocked_by: blocked_by.iter().copied().map(TaskId).collect(),
        ..NewTask::default()
    };
    let now = Timestamp(0);
    let mut board = Board::default();
    let specs = vec![
        new("Count lines", &[]),
        new("Find \"TODO\" <b>\\n]</b>\nand more & `x` #1", &[]),
        new("Gone", &[]),
        new("Merge\u{1b}[31m", &[1, 2]),
        new("Publish", &[1, 4]),
        new("Broken", &[]),
        new("Never", &[6]),
    ];
    board.apply(board.add_many(&operator, specs, now).unwrap().record);
    board.apply(board.rm(&operator, TaskId(3), now).unwrap().record);
    board.apply(board.claim(&scan, None, now).unwrap().record);
    board.apply(board.done(&scan, TaskId(1), None, TaskResult::default(), now).unwrap().record);
    board.apply(board.claim(&scan, None, now).unwrap().record);
    let bad = TaskResult { error: Some("exit code 3".into()), ..TaskResult::default() };
    board.apply(board.fail(&operator, TaskId(6), None, bad, now).unwrap().record);
    board.tasks().values().cloned().collect()
}

#[test]
fn text_in_levels() {
    insta::assert_snapshot!(text(&tasks()), @r#"
    level 0
      ● 1 Count lines [scan]
      ◐ 2 Find "TODO" <b>\n]</b> and more & `x` #1 [scan]
      ✗ 6 Broken (exit code 3)
    level 1
      ○ 4 Merge�[31m ← 1, 2
      ✗ 7 Never ← 6 (blocked by 6: failed)
    level 2
      ○ 5 Publish ← 1, 4
    "#);
}

#[test]
fn dot_escapes_labels() {
    insta::assert_snapshot!(dot(&tasks()), @r##"
    digraph tasks {
      rankdir=LR;
      node [shape=box, style="rounded,filled"];
      t1 [label="1: Count lines\ncompleted, scan", fillcolor="#c8e6c9"];
      t2 [label="2: Find \"TODO\" <b>\\n]</b> and more &amp; `x` #1\nin progress, scan", fillcolor="#fff2b3"];
      t4 [label="4: Merge�[31m\npending", fillcolor="#eeeeee"];
      t5 [label="5: Publish\npending", fillcolor="#eeeeee"];
      t6 [label="6: Broken\nfailed", fillcolor="#ffcdd2"];
      t7 [label="7: Never\nfailed", fillcolor="#ffcdd2"];
      t1 -> t4;
      t2 -> t4;
      t1 -> t5;
      t4 -> t5;
      t6 -> t7;
    }
    "##);
}

#[test]
fn mermaid_escapes_labels() {
    insta::assert_snapshot!(mermaid(&tasks()), @r##"
    flowchart LR
      t1["1: Count lines<br/>completed, scan"]:::completed
      t2["2: Find #34;TODO#34; #60;b#62;#92;n#93;#60;/b#62; and more #38; #96;x#96; #35;1<br/>in progress, scan"]:::in_progress
      t4["4: Merge�#91;31m<br/>pending"]:::pending
      t5["5: Publish<br/>pending"]:::pending
      t6["6: Broken<br/>failed"]:::failed
      t7["7: Never<br/>failed"]:::failed
      t1 --> t4
      t2 --> t4
      t1 --> t5
      t4 --> t5
      t6 --> t7
      classDef pending fill:#eeeeee,color:#000000
      classDef in_progress fill:#fff2b3,color:#000000
      classDef completed fill:#c8e6c9,color:#000000
      classDef failed fill:#ffcdd2,color:#000000
    "##);
}

#[test]
fn a_bent_file_does_not_hang() {
    let mut tasks = tasks();
    tasks[0].blocked_by = vec![TaskId(5)];
    assert_eq!(text(&tasks).lines().filter(|l| l.starts_with("  ")).count(), 6);
}
