//! What comes of tasks: F50 to F53, time limits, the graph.

use serde_json::Value;

use crate::support::{Crew, until, with_environment};
use crate::tasks::{idle, task};

#[test]
fn f50_the_result_of_a_task_is_one_report_with_where_its_output_lies() {
    let crew = Crew::new();
    crew.up(&format!(
        "v = 1\nname = \"answers\"\n[[member]]\nname = \"worker\"\nengine = \"worker\"\n{}",
        crew.puppet("hand")
    ));
    crew.ok(&["task", "add", "count", "--run", "--", "sh", "-c", "echo the answer is 42"]);
    crew.ok(&["task", "add", "break", "--run", "--", "sh", "-c", "echo oh no >&2; exit 9"]);
    crew.ok(&["wait", "--for", "task:2=failed", "--timeout", "20s"]);
    let reports = || -> Vec<Value> {
        let lines = crew.ok(&["inbox", "--all", "--json", "--type", "report"]);
        lines.lines().map(|l| serde_json::from_str(l).expect("json")).collect()
    };
    until("two reports", || reports().len() == 2);
    let done = &reports()[0];
    assert_eq!(done["from"], "worker@answers");
    let body = &done["body"];
    assert_eq!((body["status"].as_str(), body["task_id"].as_str()), (Some("completed"), Some("1")), "{done}");
    assert!(body["result"].as_str().is_some_and(|r| r.contains("the answer is 42")), "{done}");
    let output = std::fs::read_to_string(body["output_file"].as_str().expect("a path")).expect("the whole output");
    assert!(output.contains("the answer is 42"));
    assert!(body["usage"]["duration_ms"].is_u64(), "{done}");
    let failed = &reports()[1]["body"];
    assert_eq!((failed["status"].as_str(), failed["task_id"].as_str()), (Some("failed"), Some("2")));
    assert!(failed["error"].as_str().is_some_and(|e| e.contains("code 9")), "{failed}");
    assert!(failed["result"].as_str().is_some_and(|e| e.contains("oh no")), "{failed}");
    assert!(crew.ok(&["logs", "worker"]).contains("the answer is 42"));
    // A program's own word is a report too.
    crew.ok(&["task", "add", "by hand", "--owner", "hand"]);
    assert_eq!(crew.inside("hand", "crewmux task claim 3 && echo said so | crewmux task done 3 --result -").code, 0);
    assert_eq!(reports().len(), 3);
    assert_eq!(reports()[2]["body"]["result"].as_str().map(str::trim), Some("said so"));
    assert_eq!(crew.inside("hand", "crewmux task done 3").code, 7, "once");
    assert_eq!(reports().len(), 3);
}

#[test]
fn f52_programs_know_for_whom_they_run() {
    let crew = Crew::new();
    let show = "env | grep ^CREWMUX_ | sort >$CREWMUX_MEMBER.part; mv $CREWMUX_MEMBER.part $CREWMUX_MEMBER.env";
    crew.up(&format!(
        "v = 1\nname = \"who\"\n[[member]]\nname = \"hand\"\nengine = \"worker\"\ncolor = \"magenta\"\n\
         [[member]]\nname = \"voice\"\nengine = \"command\"\ncommand = [\"sh\", \"-c\", \"{show}; command -v crewmux >path; exec sleep 1000\"]\n\
         [[task]]\nsubject = \"s\"\nrun = [\"sh\", \"-c\", \"{show}\"]\n"
    ));
    for (member, extra) in
        [("voice", vec![]), ("hand", vec![("CREWMUX_TASK", "1"), ("CREWMUX_EPOCH", "1"), ("CREWMUX_COLOR", "magenta")])]
    {
        until("its environment is told", || crew.dir().join(format!("{member}.env")).exists());
        let text = crew.read(&format!("{member}.env"));
        let env: std::collections::BTreeMap<&str, &str> = text.lines().filter_map(|l| l.split_once('=')).collect();
        let entry = crew.entry("who", member);
        let roster = crew.roster("who");
        let home = crew.home();
        let agent_id = format!("{member}@who");
        let scratch = crew.team("who").join("scratch");
        for (name, value) in [
            ("CREWMUX_HOME", home.to_str().expect("plain")),
            ("CREWMUX_TEAM", "who"),
            ("CREWMUX_MEMBER", member),
            ("CREWMUX_AGENT_ID", &agent_id),
            ("CREWMUX_ROLE", "teammate"),
            ("CREWMUX_LIFE", entry["life"].as_str().expect("a life")),
            ("CREWMUX_LEAD_LIFE", roster["lead_life"].as_str().expect("a life")),
            ("CREWMUX_SCRATCH", scratch.to_str().expect("plain")),
            ("CREWMUX_PLAN_MODE", "off"),
        ]
        .into_iter()
        .chain(extra)
        {
            assert_eq!(env.get(name), Some(&value), "{member}: {name}\n{text}");
        }
        assert!(scratch.is_dir());
        assert!(!env.contains_key("CREWMUX_PLAN_ID"));
    }
    assert_eq!(crew.awaits("path").trim(), env!("CARGO_BIN_EXE_crewmux"), "the running binary comes first");
}

#[test]
fn f53_an_endless_printer_stays_within_its_limit() {
    let crew = Crew::new();
    crew.up("v = 1\nname = \"flood\"\n[[member]]\nname = \"hand\"\nengine = \"worker\"\n");
    // More than the limit of a log, in lines that a terminal takes quickly.
    crew.ok(&[
        "task",
        "add",
        "flood",
        "--run",
        "--",
        "sh",
        "-c",
        "yes \"$(printf '%01000d' 7)\" | head -c 20000000; echo the end",
    ]);
    let log = crew.member("flood", "hand").join("output.log");
    let size = |path: &std::path::Path| std::fs::metadata(path).map_or(0, |m| m.len());
    let older = log.with_file_name("output.log.1");
    let most = 16 * 1024 * 1024;
    until("it has ended", || {
        assert!(size(&log) <= most && size(&older) <= most, "{} and {}", size(&log), size(&older));
        task(&crew, "1")["status"] == "completed"
    });
    assert!(size(&older) > 0, "it rotated");
    assert!(task(&crew, "1")["result"]["text"].as_str().is_some_and(|t| t.ends_with("the end")));
    let logs = std::fs::read_dir(crew.member("flood", "hand")).expect("a folder").flatten();
    assert_eq!(logs.filter(|e| e.file_name().to_string_lossy().starts_with("output.log")).count(), 2);
}

#[test]
fn a_task_ends_at_its_time_limit() {
    let crew = Crew::new();
    crew.up("v = 1\nname = \"clock\"\n[[member]]\nname = \"hand\"\nengine = \"worker\"\n");
    let script = "trap '' TERM; sleep 1000 & while :; do sleep 1; done";
    crew.ok(&["task", "add", "slow", "--timeout", "300ms", "--run", "--", "sh", "-c", script]);
    until("it failed", || task(&crew, "1")["status"] == "failed");
    assert!(
        task(&crew, "1")["result"]["error"].as_str().is_some_and(|e| e.contains("time limit")),
        "{}",
        task(&crew, "1")
    );
    let of_it = || with_environment("CREWMUX_TASK", "1").into_iter().filter(|pid| crew.processes().contains(pid));
    assert_eq!(of_it().collect::<Vec<_>>(), [0; 0], "nothing of it lives on");
    assert_eq!(crew.status("clock", "hand")["restarts"], 0);
    // Retries are attempts of their own.
    crew.ok(&["task", "add", "again", "--timeout", "200ms", "--retries", "2", "--run", "--", "sh", "-c", "sleep 1000"]);
    until("it failed", || task(&crew, "2")["status"] == "failed");
    assert_eq!(task(&crew, "2")["attempts"], 3);
}

#[test]
fn a_graph_has_three_forms() {
    let crew = Crew::new();
    crew.up(&idle("graph", 1));
    crew.ok(&["task", "add", "count \"lines\""]);
    crew.ok(&["task", "add", "merge", "--blocked-by", "1"]);
    let text = crew.ok(&["task", "graph"]);
    assert!(text.contains("count \"lines\"") && text.contains("merge"), "{text}");
    let dot = crew.ok(&["task", "graph", "--format", "dot"]);
    assert!(
        dot.starts_with("digraph")
            && dot.contains("->")
            && dot.contains("count \\\"lines\\\"")
            && dot.trim_end().ends_with('}'),
        "{dot}"
    );
    let mermaid = crew.ok(&["task", "graph", "--format", "mermaid"]);
    assert!((mermaid.starts_with("graph") || mermaid.starts_with("flowchart")) && mermaid.contains("-->"), "{mermaid}");
    crew.fails(2, &["task", "graph", "--format", "png"]);
}
