use std::os::unix::fs::{PermissionsExt, symlink};

use serde_json::json;

use super::*;

#[tokio::test]
async fn lines_are_numbered_and_long_files_come_in_parts() {
    let agent = Agent::new(Mode::Default);
    agent.write("a.txt", "one\ntwo\n");
    assert_eq!(agent.does("Read", json!({"file_path": "a.txt"})).await, "     1\tone\n     2\ttwo\n");
    agent.write("long.txt", (1..=5000).map(|n| format!("line {n}\n")).collect::<String>());
    let said = agent.does("Read", json!({"file_path": "long.txt"})).await;
    assert!(
        said.contains("  2000\tline 2000\n") && said.ends_with("[Lines 1 to 2000 of 5000. Go on with offset 2001.]\n")
    );
    let said = agent.does("Read", json!({"file_path": "long.txt", "offset": 4999})).await;
    assert_eq!(said, "  4999\tline 4999\n  5000\tline 5000\n");
    agent.write("wide.txt", "x".repeat(1 << 20));
    assert!(agent.does("Read", json!({"file_path": "wide.txt"})).await.len() < 3000);
    agent.write("empty", "");
    assert!(agent.does("Read", json!({"file_path": "empty"})).await.contains("empty"));
    assert!(agent.does("Read", json!({"file_path": "a.txt", "offset": 9})).await.contains("has 2 lines"));
}

#[tokio::test]
async fn what_is_no_text_is_shown_as_what_it_is_or_refused() {
    let agent = Agent::new(Mode::Default);
    agent.write("a.png", b"\x89PNG\r\n\x1a\n1234");
    let said = agent.call("Read", json!({"file_path": "a.png"})).await;
    let shown = serde_json::to_value(&said.content).unwrap();
    assert_eq!(shown[0]["source"]["media_type"], "image/png");
    agent.write("fake.png", "no image");
    assert!(agent.fails("Read", json!({"file_path": "fake.png"})).await.contains("no image"));
    agent.write("bin", [0, 1, 2]);
    assert!(agent.fails("Read", json!({"file_path": "bin"})).await.contains("is no text"));
    assert!(agent.fails("Read", json!({"file_path": "."})).await.contains("Glob"));
    assert!(agent.fails("Read", json!({"file_path": "none"})).await.contains("Glob"));
    agent.write("n.ipynb", r##"{"cells":[{"cell_type":"markdown","source":["# t"]}],"nbformat":4}"##);
    assert!(agent.does("Read", json!({"file_path": "n.ipynb"})).await.contains("cell 0 (markdown)\n# t"));
}

#[tokio::test]
async fn a_pipe_or_device_never_makes_it_wait() {
    let agent = Agent::new(Mode::Bypass);
    rustix::fs::mknodat(
        rustix::fs::CWD,
        agent.root.join("pipe"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    for path in ["pipe", "/dev/zero"] {
        assert!(agent.fails("Read", json!({"file_path": path})).await.contains("no plain file"), "{path}");
        assert!(
            agent.fails("Write", json!({"file_path": path, "content": "x"})).await.contains("no plain file"),
            "{path}"
        );
    }
}

#[tokio::test]
async fn an_edit_wants_the_file_read_and_unchanged() {
    let agent = Agent::new(Mode::AcceptEdits);
    let path = agent.write("a.txt", "one\ntwo\nthree\n");
    let edit = json!({"file_path": "a.txt", "old_string": "two", "new_string": "2"});
    assert!(agent.fails("Edit", edit.clone()).await.contains("have not read"));
    agent.does("Read", json!({"file_path": "a.txt"})).await;
    std::fs::write(&path, "one\ntwo\nthree!\n").unwrap();
    assert!(agent.fails("Edit", edit.clone()).await.contains("has changed since"));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "one\ntwo\nthree!\n");
    agent.does("Read", json!({"file_path": "a.txt"})).await;
    let said = agent.call("Edit", edit).await;
    assert!(said.as_text().contains("     2\t2\n"), "{}", said.as_text());
    assert_eq!(said.diff.unwrap().before.as_deref(), Some("one\ntwo\nthree!\n"));
    // What it wrote itself it has seen.
    agent.does("Edit", json!({"file_path": "a.txt", "old_string": "2", "new_string": "zwei"})).await;
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "one\nzwei\nthree!\n");
}

#[tokio::test]
async fn a_write_replaces_only_what_was_seen_and_keeps_permissions() {
    let agent = Agent::new(Mode::AcceptEdits);
    agent.does("Write", json!({"file_path": "new/deep/a.sh", "content": "echo\n"})).await;
    let path = agent.write("b.sh", "old");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    assert!(agent.fails("Write", json!({"file_path": "b.sh", "content": "new"})).await.contains("have not read"));
    agent.does("Read", json!({"file_path": "b.sh"})).await;
    agent.does("Write", json!({"file_path": "b.sh", "content": "new"})).await;
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "new");
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o755);
    assert_eq!(std::fs::read_dir(&agent.root).unwrap().count(), 2, "nothing half-written is left");
    assert!(agent.fails("Write", json!({"file_path": "new", "content": "x"})).await.contains("cannot be read"));
}

#[tokio::test]
async fn nothing_is_written_outside_the_work_tree_whatever_the_path_looks_like() {
    let agent = Agent::new(Mode::AcceptEdits);
    let outside = agent.root.parent().unwrap().join("outside");
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("a"), "kept").unwrap();
    symlink(&outside, agent.root.join("folder")).unwrap();
    symlink(outside.join("a"), agent.root.join("file")).unwrap();
    symlink(outside.join("not-there"), agent.root.join("dangling")).unwrap();
    for path in ["../outside/a", "folder/a", "file", "dangling", "x/../../outside/a", "/etc/crewmux-test", "folder/new"]
    {
        for (tool, input) in [
            ("Write", json!({"file_path": path, "content": "x"})),
            ("Edit", json!({"file_path": path, "old_string": "kept", "new_string": "x"})),
        ] {
            assert!(agent.fails(tool, input).await.contains("was not permitted"), "{tool} {path}");
        }
    }
    assert!(agent.fails("Read", json!({"file_path": "folder/a"})).await.contains("reads outside"));
    assert!(agent.fails("Grep", json!({"pattern": "k", "path": "folder"})).await.contains("reads outside"));
    assert!(agent.fails("Glob", json!({"pattern": "../outside/*"})).await.contains("reads outside"));
    assert_eq!(std::fs::read_to_string(outside.join("a")).unwrap(), "kept");
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 1);
}

#[tokio::test]
async fn in_plan_mode_nothing_is_written() {
    let agent = Agent::new(Mode::Plan);
    assert!(agent.fails("Write", json!({"file_path": "a", "content": "x"})).await.contains("in plan mode"));
    assert!(agent.fails("Bash", json!({"command": "touch a"})).await.contains("in plan mode"));
    assert_eq!(std::fs::read_dir(&agent.root).unwrap().count(), 0);
}

#[tokio::test]
async fn a_notebook_is_edited_by_cells() {
    let agent = Agent::new(Mode::AcceptEdits);
    agent.write(
        "n.ipynb",
        r#"{"cells":[{"cell_type":"code","id":"a","source":["x"],"outputs":[]}],"nbformat":4,"nbformat_minor":5}"#,
    );
    let edit = json!({"notebook_path": "n.ipynb", "cell_id": "a", "new_source": "y\n"});
    assert!(agent.fails("NotebookEdit", edit.clone()).await.contains("have not read"));
    agent.does("Read", json!({"file_path": "n.ipynb"})).await;
    agent.does("NotebookEdit", edit).await;
    assert!(agent.does("Read", json!({"file_path": "n.ipynb"})).await.contains("id=a (code)\ny\n"));
    let insert = json!({"notebook_path": "n.ipynb", "edit_mode": "insert", "new_source": "z"});
    assert!(agent.fails("NotebookEdit", insert).await.contains("needs a cell_type"));
}

#[tokio::test]
async fn a_list_is_kept_and_shown() {
    let agent = Agent::new(Mode::ReadOnly);
    let todos = json!([{"content": "a", "status": "in_progress"}, {"content": "b", "status": "completed"}]);
    assert!(agent.does("TodoWrite", json!({"todos": todos})).await.contains("1 open"));
    assert_eq!(agent.cx.todos.lock().unwrap().len(), 2);
    assert!(agent.fails("TodoWrite", json!({"todos": [{"content": "a", "status": "maybe"}]})).await.contains("maybe"));
}
