//! What a person does in a pane, and how mail gets into a program.

use serde_json::Value;

use crate::support::{Crew, lives, until};

const WORKER: &str = "v = 1\nname = \"desk\"\n[[member]]\nname = \"hand\"\nengine = \"worker\"\n";

fn pane(crew: &Crew, member: &str) -> String {
    crew.entry("desk", member)["pane_id"].as_str().expect("a pane").to_owned()
}

fn task(crew: &Crew, id: &str) -> Value {
    crew.json(&["task", "show", id])
}

#[test]
fn a_line_typed_into_a_workers_pane_is_a_message_from_the_operator() {
    let crew = Crew::new();
    crew.up(WORKER);
    let pane = pane(&crew, "hand");
    crew.tmux("desk", &["send-keys", "-t", &pane, "-l", "look at src; first"]);
    crew.tmux("desk", &["send-keys", "-t", &pane, "Enter"]);
    let inbox = crew.member("desk", "hand").join("mail/inbox.jsonl");
    until("the message is there", || !crew.journal(&inbox).is_empty());
    let message = crew.journal(&inbox).into_iter().find(|m| m["type"] == "text").expect("a text");
    assert_eq!(message["from"], "operator@desk");
    assert_eq!(message["to"], "hand");
    assert_eq!(message["body"]["content"], "look at src; first");
    until("it is shown", || crew.ok(&["capture", "hand"]).contains("[operator] look at src; first"));
}

#[test]
fn ctrl_c_in_a_workers_pane_ends_the_task_and_not_the_worker() {
    let crew = Crew::new();
    crew.up(WORKER);
    crew.ok(&["task", "add", "long", "--run", "--", "sh", "-c", "echo $$ >pid; exec sleep 1000"]);
    let pid: u32 = crew.awaits("pid").trim().parse().expect("a pid");
    crew.tmux("desk", &["send-keys", "-t", &pane(&crew, "hand"), "C-c"]);
    until("the task has failed", || task(&crew, "1")["status"] == "failed");
    assert!(
        task(&crew, "1")["result"]["error"].as_str().is_some_and(|e| e.contains("keyboard")),
        "{}",
        task(&crew, "1")
    );
    until("its program is gone", || !lives(pid));
    assert_eq!(crew.status("desk", "hand")["restarts"], 0);
    crew.ok(&["task", "add", "next", "--run", "--", "true"]);
    until("the worker works on", || task(&crew, "2")["status"] == "completed");
}

#[test]
fn ctrl_z_in_a_pane_stops_nothing_and_is_told() {
    let crew = Crew::new();
    crew.up(
        "v = 1\nname = \"desk\"\n[[member]]\nname = \"voice\"\nengine = \"command\"\n\
         command = [\"sh\", \"-c\", \"echo $$$$ >pid; n=0; while :; do n=$$((n+1)); echo $n >beat; sleep 0.05; done\"]\n",
    );
    let pid: u32 = crew.awaits("pid").trim().parse().expect("a pid");
    crew.tmux("desk", &["send-keys", "-t", &pane(&crew, "voice"), "C-z"]);
    until("the event is there", || {
        crew.events("desk").iter().any(|e| e["notice"] == "suspend_refused" && e["member"] == "voice")
    });
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("it lives");
    let state = stat.rsplit(')').next().unwrap_or_default().trim().chars().next();
    assert_ne!(state, Some('T'), "{stat}");
    let beat = crew.read("beat");
    until("it goes on", || crew.read("beat") != beat);
}

#[test]
fn a_pane_that_a_person_closes_is_a_stop_of_that_member() {
    let crew = Crew::new();
    crew.up("v = 1\nname = \"desk\"\n[[member]]\nname = \"voice\"\nengine = \"command\"\nrestart = \"always\"\n\
         command = [\"sh\", \"-c\", \"echo $$$$ >pid; while :; do sleep 1; done\"]\n\
         [[member]]\nname = \"hand\"\nengine = \"worker\"\nrestart = \"always\"\n");
    let pid: u32 = crew.awaits("pid").trim().parse().expect("a pid");
    crew.ok(&["task", "add", "long", "--owner", "hand", "--run", "--", "sh", "-c", "echo $$ >task; exec sleep 1000"]);
    let task_pid: u32 = crew.awaits("task").trim().parse().expect("a pid");
    for member in ["voice", "hand"] {
        crew.tmux("desk", &["kill-pane", "-t", &pane(&crew, member)]);
    }
    for member in ["voice", "hand"] {
        until("it is out", || crew.entry("desk", member)["is_active"] == false);
        assert_eq!(crew.status("desk", member)["exit"]["reason"], "pane closed");
        assert_eq!(crew.status("desk", member)["restarts"], 0, "nobody starts it again");
    }
    assert!(!lives(pid) && !lives(task_pid), "its programs are gone");
    assert_eq!(task(&crew, "1")["status"], "pending", "its task is back");
    crew.fails(4, &["send", "voice", "hello"]);
    crew.ok(&["restart", "voice"]);
    assert_eq!(crew.status("desk", "voice")["alive"], true);
}

/// What must arrive byte for byte, however it is handed over.
const HOSTILE: [&str; 8] = [
    "ends with;",
    "-n leads with a dash",
    "'\"$(touch pwned)`touch pwned`\\ $HOME !! && | > x",
    "emoji \u{1f980} and \u{e9} and \u{4e2d}",
    "#{pane_id} #S %1",
    "Enter",
    "C-c",
    "tab\there",
];

#[test]
fn mail_on_stdin_is_a_json_line_each_and_arrives_byte_for_byte() {
    let crew = Crew::new();
    crew.up("v = 1\nname = \"desk\"\n[[member]]\nname = \"ear\"\nengine = \"command\"\ndeliver = \"stdin\"\n\
         command = [\"sh\", \"-c\", \"exec cat >heard\"]\n");
    let mut texts: Vec<String> = HOSTILE.iter().map(|t| (*t).to_owned()).collect();
    texts.push("two\nlines\n\nand more\n".to_owned());
    texts.push("\u{1b}[201~\u{1b}[31mred\u{7}\u{3}\u{1a}".to_owned());
    texts.push("x".repeat(10_000));
    texts.push("y".repeat(300_000));
    for (n, text) in texts.iter().enumerate() {
        crew.write("text", text);
        crew.ok(&["send", "ear", "--file", "text", "--summary", &format!("n{n}")]);
    }
    let heard = || crew.journal(&crew.dir().join("heard"));
    until("everything arrived", || heard().len() == texts.len());
    for (n, (message, text)) in heard().iter().zip(&texts).enumerate() {
        assert_eq!(message["body"]["content"].as_str(), Some(text.as_str()), "message {n}");
        assert_eq!(message["from"], "operator@desk");
        assert_eq!(message["type"], "text");
    }
    until("all of it counts as read", || crew.status("desk", "ear")["unread"] == 0);
    assert!(!crew.dir().join("pwned").exists());
}

#[test]
fn mail_as_a_paste_arrives_and_escapes_do_nothing() {
    let crew = Crew::new();
    // A program that asks for marked pastes and keeps every byte.
    crew.up(
        "v = 1\nname = \"desk\"\n[[member]]\nname = \"ear\"\nengine = \"command\"\ndeliver = \"paste\"\n\
         command = [\"sh\", \"-c\", \"stty raw -echo; printf '\\\\033[?2004h'; : >heard; crewmux ready; exec cat >heard\"]\n",
    );
    let heard = || crew.read("heard");
    let mut wanted = String::new();
    let multi = "two\nlines";
    let hostile = "a\u{1b}[201~b\u{1b}]0;title\u{7}\u{3}c";
    let long = "z".repeat(10_000);
    let texts: Vec<&str> = HOSTILE.iter().copied().chain([multi, hostile, &long]).collect();
    for text in &texts {
        crew.write("text", text);
        crew.ok(&["send", "ear", "--file", "text"]);
        let clean: String = text.chars().filter(|c| !c.is_control() || *c == '\n' || *c == '\t').collect();
        wanted += &format!("\u{1b}[200~{clean}\u{1b}[201~\r");
    }
    // A line end inside a paste is a carriage return or a line feed, as terminals differ.
    until("everything arrived", || heard().len() >= wanted.len());
    assert_eq!(heard().replace("two\rlines", "two\nlines"), wanted);
    assert!(!crew.dir().join("pwned").exists());
    until("all of it counts as read", || crew.status("desk", "ear")["unread"] == 0);
}

#[test]
fn a_program_that_gets_pastes_is_a_member_when_it_says_ready() {
    let crew = Crew::new();
    let up = crew.write(
        "desk.toml",
        "v = 1\nname = \"desk\"\n[[member]]\nname = \"ear\"\nengine = \"command\"\ndeliver = \"paste\"\n\
         command = [\"sh\", \"-c\", \"echo warming up; while [ ! -e go ]; do sleep 0.02; done; crewmux ready && \
         exec sleep 1000\"]\n",
    );
    let mut child =
        crew.command(&["up", up.to_str().expect("plain")]).stdout(std::process::Stdio::null()).spawn().expect("starts");
    until("its program runs", || crew.roster("desk")["reserved"][0]["pane_id"].is_string());
    assert!(child.try_wait().expect("a child").is_none(), "not up yet");
    assert_eq!(crew.roster("desk")["launched"], false);
    // What it prints meanwhile is what one wants to read when it does not get ready.
    until("its log can be read", || crew.run(&["logs", "ear"]).out.contains("warming up"));
    let send =
        |to: &str| crew.command(&["send", to, "early"]).stdout(std::process::Stdio::null()).spawn().expect("starts");
    let (one, all) = (send("ear"), send("*"));
    crew.write("go", "");
    for mut sender in [one, all] {
        assert!(sender.wait().expect("it ends").success(), "mail to who is starting waits for it");
    }
    assert!(child.wait().expect("it ends").success());
    assert_eq!(crew.status("desk", "ear")["alive"], true);
    // Nobody else can say it.
    crew.fails(4, &["ready"]);
}

#[test]
fn a_program_that_is_to_settle_counts_only_then() {
    let crew = Crew::new();
    let spec = |script: &str| {
        format!(
            "v = 1\nname = \"desk\"\n[[member]]\nname = \"voice\"\nengine = \"command\"\nsettle = \"400ms\"\n\
             command = [\"sh\", \"-c\", \"{script}\"]\n"
        )
    };
    let path = crew.write("early.toml", &spec("sleep 0.1; echo too early; exit 0"));
    let up = crew.fails(1, &["up", path.to_str().expect("plain")]);
    assert!(up.err.contains("too early"), "{}", up.err);
    let begun = std::time::Instant::now();
    crew.up(&spec("exec sleep 1000"));
    assert!(begun.elapsed() >= std::time::Duration::from_millis(400));
}
