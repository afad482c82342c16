use serde_json::json;

use super::*;

fn tree() -> Agent {
    let agent = Agent::new(Mode::Default);
    agent.write("src/a.rs", "fn one() {}\nfn two() {\n    one();\n}\n");
    agent.write("src/deep/b.rs", "fn ONE() {}\n");
    agent.write("c.txt", "one\n");
    agent.write("bin", b"one\0one\n");
    agent.write(".hidden", "one\n");
    agent.write(".gitignore", "ignored\n");
    agent.write("ignored", "one\n");
    agent
}

fn lines(said: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = said.lines().collect();
    lines.sort_unstable();
    lines
}

#[tokio::test]
async fn files_are_found_by_pattern() {
    let agent = tree();
    for (pattern, files) in [
        ("*.rs", vec!["src/a.rs", "src/deep/b.rs"]),
        ("src/*.rs", vec!["src/a.rs"]),
        ("**/*.rs", vec!["src/a.rs", "src/deep/b.rs"]),
        ("src/**/{a,b}.rs", vec!["src/a.rs", "src/deep/b.rs"]),
        ("c.txt", vec!["c.txt"]),
    ] {
        assert_eq!(lines(&agent.does("Glob", json!({"pattern": pattern})).await), files, "{pattern}");
    }
    assert_eq!(agent.does("Glob", json!({"pattern": "ignored"})).await, "No file fits.\n");
    assert_eq!(agent.does("Glob", json!({"pattern": "ignored", "all": true})).await, "ignored\n");
    assert_eq!(agent.does("Glob", json!({"pattern": "*.rs", "path": "src/deep"})).await, "src/deep/b.rs\n");
    assert!(agent.fails("Glob", json!({"pattern": "a["})).await.contains("cannot be read"));
    assert!(agent.fails("Glob", json!({"pattern": "none/*.rs"})).await.contains("There is no"));
}

#[tokio::test]
async fn the_newest_file_comes_first() {
    let agent = Agent::new(Mode::Default);
    for (name, age) in [("old", 300), ("new", 100), ("older", 500)] {
        let path = agent.write(name, "");
        let time = std::time::SystemTime::now() - std::time::Duration::from_secs(age);
        std::fs::File::open(path).unwrap().set_modified(time).unwrap();
    }
    assert_eq!(agent.does("Glob", json!({"pattern": "*"})).await, "new\nold\nolder\n");
}

#[tokio::test]
async fn text_is_found_in_files() {
    let agent = tree();
    assert_eq!(agent.does("Grep", json!({"pattern": "one"})).await, "c.txt\nsrc/a.rs\n");
    assert_eq!(
        agent.does("Grep", json!({"pattern": "one", "-i": true, "type": "rust"})).await,
        "src/a.rs\nsrc/deep/b.rs\n"
    );
    assert_eq!(agent.does("Grep", json!({"pattern": "one", "output_mode": "count"})).await, "c.txt:1\nsrc/a.rs:2\n");
    let content = json!({"pattern": "one", "glob": "*.rs", "output_mode": "content", "-A": 1});
    let expected = "src/a.rs:1:fn one() {}\nsrc/a.rs:2-fn two() {\nsrc/a.rs:3:    one();\nsrc/a.rs:4-}\n";
    assert_eq!(agent.does("Grep", content).await, expected);
    let lines = json!({"pattern": "two.*one", "multiline": true, "output_mode": "content", "path": "src/a.rs"});
    assert_eq!(agent.does("Grep", lines).await, "src/a.rs:2:fn two() {\nsrc/a.rs:3:    one();\n");
    assert_eq!(agent.does("Grep", json!({"pattern": "nothing here"})).await, "Nothing fits.\n");
    for (input, says) in [
        (json!({"pattern": "a{"}), "cannot be read"),
        (json!({"pattern": "a", "type": "nonsense"}), "no file type"),
        (json!({"pattern": "a", "path": "none"}), "There is no none"),
    ] {
        assert!(agent.fails("Grep", input.clone()).await.contains(says), "{input}");
    }
}

#[tokio::test]
async fn a_long_answer_comes_in_parts() {
    let agent = Agent::new(Mode::Default);
    agent.write("a", (0..1000).map(|n| format!("hit {n}\n")).collect::<String>());
    let said =
        agent.does("Grep", json!({"pattern": "hit", "output_mode": "content", "head_limit": 2, "offset": 1})).await;
    assert_eq!(said, "a:2:hit 1\na:3:hit 2\n[2 of 1000 lines, from 1 files. Go on with offset 3, or narrow it.]\n");
    agent.write("wide", format!("hit{}", "x".repeat(1 << 20)));
    let said = agent.does("Grep", json!({"pattern": "hit", "output_mode": "content"})).await;
    assert!(said.len() < 40_000);
}
