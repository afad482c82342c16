//! When a message counts as handed over.

use crate::puppet::{team, text_of};
use crate::support::{Crew, LONG, kill, lives, until};

/// More than a pipe holds: the program that does not read leaves it on its way.
const BIG: usize = 200_000;

/// A member that takes nothing in its first life and everything in the next.
fn late_taker(crew: &Crew, name: &str) -> String {
    let (flag, file) = (crew.dir().join("born"), crew.dir().join(format!("{name}.got")));
    let (flag, file) = (flag.display(), file.display());
    format!(
        "\n[[member]]\nname = \"{name}\"\nengine = \"command\"\ndeliver = \"stdin\"\n\
         command = [\"sh\", \"-c\", \"if [ -e {flag} ]; then exec cat >>{file}; fi; touch {flag}; exec sleep 1000\"]\n"
    )
}

fn cursor(crew: &Crew, member: &str) -> serde_json::Value {
    let path = crew.member("t", member).join("state/cursors.json");
    let text = std::fs::read_to_string(path).unwrap_or_default();
    serde_json::from_str::<serde_json::Value>(&text).unwrap_or_default()["inbox"].clone()
}

#[test]
fn f03_a_crash_at_the_hand_over_gives_the_message_again_marked() {
    let crew = Crew::new();
    crew.up(&(team("t") + &late_taker(&crew, "slow")));
    let big = "b".repeat(BIG);
    crew.write("big.txt", &big);
    crew.ok(&["send", "slow", "--file", "big.txt"]);
    until("it is being handed over", || cursor(&crew, "slow")["handing"].as_array().is_some_and(|h| h.len() == 1));
    crew.ok(&["send", "slow", "behind it"]);
    assert_eq!(cursor(&crew, "slow")["handed"], 0, "the cursor stays until it has arrived");
    let before = crew.status("t", "slow");
    assert_eq!(before["unread"], 2, "{before}");

    kill(crew.pid_of("t", "slow"), "KILL");
    crew.until_got("slow", "behind it");
    let got = crew.got("slow");
    let again: Vec<_> = got.iter().filter(|m| text_of(m) == big).collect();
    assert_eq!(again.len(), 1, "{} messages", got.len());
    assert_eq!(again[0]["redelivered"], true);
    let behind: Vec<_> = got.iter().filter(|m| text_of(m) == "behind it").collect();
    assert_eq!(behind.len(), 1);
    assert_eq!(behind[0].get("redelivered"), None, "it was never on its way");
    until("both were read", || crew.status("t", "slow")["unread"] == 0);
    assert_eq!(crew.status("t", "slow")["restarts"], 1);
}

#[test]
fn f03_a_program_that_dies_on_it_gets_it_again_in_its_next_life() {
    let crew = Crew::new();
    crew.up(&(team("t") + &late_taker(&crew, "slow")));
    let big = "b".repeat(BIG);
    crew.write("big.txt", &big);
    crew.ok(&["send", "slow", "--file", "big.txt"]);
    until("it is being handed over", || cursor(&crew, "slow")["handing"].as_array().is_some_and(|h| h.len() == 1));
    // The program only; its teammate lives to see it.
    let teammate = crew.pid_of("t", "slow");
    let child = std::fs::read_to_string(format!("/proc/{teammate}/task/{teammate}/children")).expect("children");
    kill(child.trim().parse().expect("one child"), "KILL");
    crew.until_got("slow", &big);
    assert_eq!(crew.got("slow").len(), 1);
    assert_eq!(crew.got("slow")[0]["redelivered"], true);
}

#[test]
fn f04_a_team_needs_neither_terminal_nor_client_nor_input() {
    let crew = Crew::new();
    let report = crew.dir().join("report");
    let spec = team("t")
        + &crew.taker("voice")
        + &format!(
            "\n[[member]]\nname = \"hand\"\nengine = \"worker\"\n[[task]]\nsubject = \"talk\"\nrun = [\"sh\", \"-c\", \
             \"crewmux send voice word && until grep -q word {}; do sleep 0.02; done && cp {0} {}\"]\n",
            crew.dir().join("voice.got").display(),
            report.display()
        );
    crew.write("spec.toml", &spec);
    let command = crew.command(&[]);
    // As a job of a bare CI runner: a session without a terminal, descriptors 0 to 2 closed.
    let program = command.get_program().to_owned();
    let mut bare = std::process::Command::new("setsid");
    bare.args(["-w", "sh", "-c", "exec \"$0\" run ./spec.toml <&- >&- 2>&-"]).arg(program).env_clear();
    bare.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))))
        .env_remove("TERM")
        .env_remove("LANG");
    bare.current_dir(crew.dir());
    let ran = bare.output().expect("setsid runs");
    assert!(ran.status.success(), "{ran:?}\n{}", crew.trouble());
    assert!(std::fs::read_to_string(report).expect("a report").contains("word"));
}

#[test]
fn f05_a_shutdown_reaches_a_member_whose_program_is_busy_for_an_hour() {
    let crew = Crew::new();
    let busy = "\n[[member]]\nname = \"busy\"\nengine = \"command\"\ncommand = [\"sleep\", \"3600\"]\n";
    let deaf =
        "\n[[member]]\nname = \"deaf\"\nengine = \"command\"\ndeliver = \"stdin\"\ncommand = [\"sleep\", \"3600\"]\n";
    let hand = "\n[[member]]\nname = \"hand\"\nengine = \"worker\"\non_shutdown = \"now\"\n\
                [[task]]\nsubject = \"long\"\nrun = [\"sleep\", \"3600\"]\n";
    crew.up(&(team("t") + busy + deaf + hand));
    crew.write("big.txt", &"b".repeat(BIG));
    crew.ok(&["send", "deaf", "--file", "big.txt"]);
    until("its engine is stuck", || cursor(&crew, "deaf")["handing"].as_array().is_some_and(|h| h.len() == 1));
    until("the task runs", || crew.status("t", "hand")["state"] == "busy");
    let pids: Vec<u32> = ["busy", "deaf", "hand"].iter().map(|m| crew.pid_of("t", m)).collect();
    for name in ["busy", "deaf", "hand"] {
        let grace = format!("{}s", LONG.as_secs());
        let answer = crew.json(&["shutdown", name, "--grace", &grace]);
        assert_eq!(answer["stopped"][0], name, "{answer}");
        assert_eq!(answer["forced"].as_array().map(Vec::len), Some(0), "it agreed by itself: {answer}");
    }
    assert!(pids.iter().all(|pid| !lives(*pid)));
    let task = crew.json(&["task", "show", "1"]);
    assert_eq!(task["status"], "pending", "the task went back: {task}");
}

#[test]
fn f05_a_worker_that_finishes_its_task_first_is_stopped_at_the_deadline() {
    let crew = Crew::new();
    crew.up(&(team("t")
        + "\n[[member]]\nname = \"hand\"\nengine = \"worker\"\n\
               [[task]]\nsubject = \"long\"\nrun = [\"sleep\", \"3600\"]\n"));
    until("the task runs", || crew.status("t", "hand")["state"] == "busy");
    let answer = crew.json(&["shutdown", "hand", "--grace", "300ms"]);
    assert_eq!(answer["stopped"][0], "hand", "{answer}");
    assert_eq!(answer["forced"][0], "hand", "{answer}");
    assert_eq!(crew.json(&["task", "show", "1"])["status"], "pending");
}

#[test]
fn f06_a_message_sent_twice_is_one_message() {
    let crew = Crew::new();
    crew.up(&(team("t") + &crew.taker("writer") + &crew.puppet("hand")));
    let id = "0193e5a0-0000-7000-8000-00000000abcd";
    let first = crew.json(&["send", "writer", "once", "--id", id]);
    let second = crew.json(&["send", "writer", "once", "--id", id]);
    assert_eq!(first["deliveries"][0]["seq"], second["deliveries"][0]["seq"]);
    let inside = crew.inside("hand", &format!("for n in 1 2 3 4; do crewmux send writer once --id {id} & done; wait"));
    assert_eq!(inside.code, 0, "{inside:?}");
    let together: Vec<_> =
        (0..8).map(|_| crew.command(&["send", "writer", "once", "--id", id]).spawn().expect("starts")).collect();
    for mut child in together {
        assert!(child.wait().expect("ends").success());
    }
    crew.ok(&["send", "writer", "after"]);
    crew.until_got("writer", "after");
    assert_eq!(crew.texts("writer"), ["once", "after"]);
    assert_eq!(crew.inbox("t", "writer").len(), 2);

    // A life that ended after the hand-over is no reason to give it again.
    until("it was read", || crew.status("t", "writer")["unread"] == 0);
    kill(crew.pid_of("t", "writer"), "KILL");
    crew.ok(&["send", "writer", "in the next life"]);
    crew.until_got("writer", "in the next life");
    crew.ok(&["send", "writer", "once", "--id", id]);
    crew.ok(&["send", "writer", "the last"]);
    crew.until_got("writer", "the last");
    assert_eq!(crew.texts("writer"), ["once", "after", "in the next life", "the last"]);
}
