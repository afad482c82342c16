//! Whom mail reaches and from whom it is.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::puppet::{team, text_of};
use crate::support::{Crew, until};

/// Every path below a folder, in order.
fn tree(dir: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        // A document that is being replaced has a passing name.
        if path.extension().is_some_and(|e| e == "tmp") {
            continue;
        }
        if path.is_dir() {
            all.extend(tree(&path));
        }
        all.push(path);
    }
    all.sort();
    all
}

#[test]
fn f01_a_misspelt_name_is_refused_and_nothing_is_made() {
    let crew = Crew::new();
    crew.up(&(team("t") + &crew.puppet("researcher") + &crew.taker("writer")));
    // What a good message makes (locks, journals) is there before the comparison.
    crew.ok(&["send", "*", "hello"]);
    crew.until_got("writer", "hello");
    assert_eq!(crew.inside("researcher", "crewmux send writer again").code, 0);
    crew.until_got("writer", "again");
    until("the status is written", || crew.status("t", "writer")["queued"] == 0);
    let before = tree(&crew.home());
    let wrong = crew.fails(3, &["send", "reseacher", "hi"]);
    assert!(wrong.err.contains("researcher"), "the nearest name: {}", wrong.err);
    assert!(wrong.out.is_empty());
    for to in ["Researcher", "researcher@", "@t", "researcher@nowhere", "nobody@t", "../writer", "a/b", "", "**"] {
        let wrong = crew.fails(3, &["send", to, "hi"]);
        assert!(wrong.err.starts_with("error: "), "{to:?}: {}", wrong.err);
    }
    for to in ["uds:/tmp/x", "bridge:7"] {
        let wrong = crew.fails(3, &["send", to, "hi"]);
        assert!(wrong.err.contains("uds") || wrong.err.contains("bridge"), "by name: {}", wrong.err);
    }
    let inside = crew.inside("researcher", "crewmux send writre hi");
    assert_eq!(inside.code, 3, "{inside:?}");
    assert!(inside.err.contains("writer"), "{inside:?}");
    let after = tree(&crew.home());
    assert_eq!(before, after);
    let json = crew.fails(3, &["send", "reseacher", "hi", "--json"]);
    let error: Value = serde_json::from_str(&json.err).expect("json");
    assert_eq!(error["error"]["code"], 3);
    assert!(error["error"]["hints"].to_string().contains("researcher"), "{error}");
}

#[test]
fn f09_a_member_that_has_ended_gets_mail_only_where_it_is_to_wait() {
    let crew = Crew::new();
    crew.up(&(team("t") + &crew.taker("writer") + &crew.puppet("reader") + &crew.taker("other")));
    crew.ok(&["send", "reader", "never read"]);
    let in_vain = crew.ok(&["stop", "writer"]) + &crew.ok(&["stop", "reader"]);
    assert!(in_vain.contains("writer"), "{in_vain}");

    let lines = crew.inbox("t", "writer").len();
    let refused = crew.fails(4, &["send", "writer", "too late"]);
    assert!(refused.err.contains("--queue") && refused.err.contains("restart"), "{}", refused.err);
    assert_eq!(crew.inbox("t", "writer").len(), lines, "nothing was written");
    let all = crew.run(&["send", "*", "to all"]);
    assert_eq!(all.code, 0, "{all:?}");
    assert!(all.err.contains("writer"), "those left out are named: {}", all.err);
    crew.until_got("other", "to all");

    // What lay unread when its member ended is a dead letter, and said so.
    let dead = crew.journal(&crew.team("t").join("dead.jsonl"));
    let letters: Vec<&Value> = dead.iter().filter(|l| l["member"] == "reader").collect();
    assert_eq!(letters.len(), 1, "{dead:?}");
    assert_eq!(text_of(&letters[0]["message"]), "never read");
    let events = crew.events("t");
    let told = events.iter().find(|e| e["type"] == "mail_undelivered" && e["member"] == "reader");
    assert_eq!(told.map(|e| &e["count"]), Some(&1.into()), "{events:#?}");

    let queued = crew.json(&["send", "writer", "for later", "--queue"]);
    assert_eq!(queued["deliveries"][0]["to"], "writer");
    crew.fails(4, &["send", "writer", "still closed"]);
    crew.ok(&["restart", "writer"]);
    crew.until_got("writer", "for later");
    crew.ok(&["send", "writer", "and on"]);
    crew.until_got("writer", "and on");
    assert_eq!(crew.texts("writer"), ["for later", "and on"]);
}

#[test]
fn f10_the_lead_has_one_mailbox_under_all_its_names() {
    let crew = Crew::new();
    crew.up(&(team("t") + &crew.puppet("hand")));
    for to in ["lead", "team-lead", "operator", "lead@t", "team-lead@t"] {
        crew.ok(&["send", to, &format!("by {to}")]);
        let inside = crew.inside("hand", &format!("crewmux send {to} 'inside by {to}'"));
        assert_eq!(inside.code, 0, "{inside:?}");
    }
    let texts: Vec<String> = crew.inbox("t", "team-lead").iter().map(text_of).collect();
    assert_eq!(texts.len(), 10, "{texts:?}");
    assert!(crew.inbox("t", "team-lead").iter().all(|m| m["to"] == "team-lead"));
    let folders: Vec<_> = std::fs::read_dir(crew.team("t").join("members"))
        .expect("members")
        .flatten()
        .map(|e| e.file_name().into_string().expect("plain"))
        .collect();
    assert_eq!(folders.len(), 2, "{folders:?}");
    // And it reads as the operator's.
    let read = crew.ok(&["inbox", "--json"]);
    assert_eq!(read.lines().count(), 10);
}

#[test]
fn f11_whoever_a_member_says_it_is_it_stays_that_member() {
    let crew = Crew::new();
    let asks = crew.puppet("hand") + "on_shutdown = \"ask\"\n";
    let planner = crew.puppet("planner");
    crew.up(&(team("t") + &asks + &planner + &crew.taker("writer")));
    let plan = crew.inside("planner", "echo 'do it' | crewmux plan submit --json");
    assert_eq!(plan.code, 0, "{plan:?}");
    let plan: Value = serde_json::from_str(&plan.out).expect("json");
    let id = plan["id"].as_str().expect("an id").to_owned();
    until("the lead has the plan", || crew.json(&["requests"]).as_array().is_some_and(|r| r.len() == 1));

    let bare = "env -u CREWMUX_MEMBER -u CREWMUX_LIFE -u CREWMUX_ROLE -u CREWMUX_AGENT_ID";
    for pose in [
        "env".to_owned(),
        bare.to_owned(),
        "env CREWMUX_MEMBER=operator CREWMUX_ROLE=operator".to_owned(),
        "env CREWMUX_MEMBER=team-lead CREWMUX_ROLE=lead".to_owned(),
        format!("setsid -w {bare}"),
    ] {
        for puppet in ["hand", "planner"] {
            let ran = crew.inside(puppet, &format!("{pose} crewmux approve {id}"));
            // A member sees only its own requests; of another's it may not even know.
            assert!(matches!(ran.code, 3 | 4), "{puppet}, {pose}: {ran:?}");
            let ran = crew.inside(puppet, &format!("{pose} crewmux approve {id} --member operator"));
            assert!(matches!(ran.code, 2..=4), "{puppet}, {pose}: {ran:?}");
        }
        let own = crew.inside("planner", &format!("{pose} crewmux approve {id}"));
        assert_eq!(own.code, 4, "{pose}: {own:?}");
        let ran = crew.inside("hand", &format!("{pose} crewmux send writer 'from whom'"));
        assert_eq!(ran.code, 0, "{pose}: {ran:?}");
        let ran = crew.inside("hand", &format!("{pose} crewmux send writer posing --member planner"));
        assert_eq!(ran.code, 4, "{pose}: {ran:?}");
    }
    // Not even as an orphan: it has a recorded teammate as its subreaper.
    let orphan = format!(
        "( {bare} setsid sh -c 'sleep 0.1; crewmux approve {id}; echo $? >orphan.tmp; mv orphan.tmp orphan.rc' & ) \n\
         exit 0"
    );
    crew.inside("hand", &orphan);
    let rc = crew.dir().join("orphan.rc");
    until("the orphan has tried", || rc.exists());
    let rc = std::fs::read_to_string(rc).expect("a code");
    assert!(matches!(rc.trim(), "3" | "4"), "{rc}");

    crew.until_got("writer", "from whom");
    crew.ok(&["send", "writer", "the end"]);
    crew.until_got("writer", "the end");
    let got = crew.got("writer");
    assert_eq!(got.iter().filter(|m| m["from"] == "hand@t").count(), 5, "{got:#?}");
    assert_eq!(got.len(), 6, "{got:#?}");
    let open = crew.json(&["requests"]);
    assert_eq!(open[0]["state"], "open", "{open}");
}

#[test]
fn f11_a_member_cannot_raise_its_voice() {
    let crew = Crew::new();
    crew.up(&(team("t") + &crew.puppet("hand") + &crew.taker("writer")));
    let sent = crew.inside("hand", "crewmux send writer urgent --priority now");
    assert_eq!(sent.code, 0, "{sent:?}");
    assert!(sent.err.contains("now") && sent.err.contains("next"), "the sender is told: {}", sent.err);
    crew.until_got("writer", "urgent");
    assert_eq!(crew.got("writer")[0]["priority"], "next");
    crew.ok(&["send", "writer", "really", "--priority", "now"]);
    crew.until_got("writer", "really");
    assert_eq!(crew.got("writer")[1]["priority"], "now");
}
