//! An agent that leads: the lead's mail, rights and tools, less what is people's.

use crate::agents::{agent, prompts, reports, stub, until_reports};
use crate::puppet::team;
use crate::support::{Crew, until};

/// A `[lead]` whose agent is the stub; what it is asked lies in `chief.log`.
fn leads(crew: &Crew, more: &str) -> String {
    let log = crew.dir().join("chief.log");
    format!(
        "[lead]\nengine = \"acp\"\ncommand = [\"{}\"]\nenv = {{ STUB_LOG = \"{}\", STUB_FROM = \"operator\" }}\n{more}",
        stub(),
        log.display()
    )
}

/// Has the agent that leads run a command; what it says of it, with `code N` at its end. It may have other turns meanwhile.
fn ordered(crew: &Crew, team: &str, command: &str) -> String {
    static NEXT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(1);
    let mark = format!("order {}.", NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed));
    crew.ok(&["send", "--team", team, "chief", &format!("terminal {command} 2>&1; echo \"code $? {mark}\"")]);
    let answer = || {
        let all = reports(crew, team).into_iter().filter_map(|r| r["result"].as_str().map(str::to_owned));
        all.into_iter().find(|said| said.contains(&mark))
    };
    until(&format!("{command} is carried out"), || answer().is_some());
    answer().expect("an answer")
}

fn open(crew: &Crew, team: &str, kind: &str) -> Option<String> {
    let list = crew.json(&["requests", "--team", team]);
    let all = list.as_array().cloned().unwrap_or_default();
    let found = all.into_iter().find(|r| r["state"] == "open" && r["kind"] == kind)?;
    found["id"].as_str().map(str::to_owned)
}

#[test]
fn the_agent_that_leads_gets_the_leads_mail_and_its_answers_are_the_operators() {
    let crew = Crew::new();
    crew.up(&(team("mail") + &leads(&crew, "") + &agent(&crew, "a", "")));
    assert_eq!(crew.status("mail", "chief")["engine"], "acp", "it has a pane of its own");
    crew.ok(&["send", "--team", "mail", "lead", "say good day"]);
    let report = until_reports(&crew, "mail", 1).remove(0);
    assert_eq!(report["result"], "good day", "its answers go to the operator: {report}");
    let first = prompts(&crew, "chief").remove(0);
    assert!(first.contains("You lead this team") && first.contains("say good day"), "{first}");
    crew.ok(&["send", "--team", "mail", "a", "say found it\nterminal crewmux send team-lead 'a word'"]);
    until("the lead hears both", || {
        let all = prompts(&crew, "chief").join("\n");
        all.contains("found it") && all.contains("a word")
    });
    assert!(!prompts(&crew, "a")[0].contains("You lead this team"));
    crew.ok(&["task", "add", "--team", "mail", "look around", "--owner", "a"]);
    until("a task's result goes to it too", || prompts(&crew, "chief").join("\n").contains("look around"));
}

#[test]
fn it_spawns_stops_and_decides_but_not_what_is_reserved_nor_its_own_end() {
    let crew = Crew::new();
    crew.up(&(team("rights") + &leads(&crew, "reserved = [\"plans\"]\n") + &agent(&crew, "a", "")));
    let said = ordered(&crew, "rights", "crewmux spawn w --engine worker");
    assert!(said.contains("code 0"), "{said}");
    assert_eq!(crew.status("rights", "w")["engine"], "worker");
    let said = ordered(&crew, "rights", "crewmux stop w");
    assert!(said.contains("code 0"), "{said}");

    crew.ok(&["send", "--team", "rights", "a", "permission make it"]);
    until("it is asked", || prompts(&crew, "chief").join("\n").contains("asks for a decision (permissions)"));
    let id = open(&crew, "rights", "permission").expect("an open one");
    let said = ordered(&crew, "rights", &format!("crewmux approve {id}"));
    assert!(said.contains("code 0"), "{said}");
    until("the member went on", || prompts(&crew, "chief").join("\n").contains("permission yes"));

    crew.ok(&["send", "--team", "rights", "a", "terminal echo a plan of mine | crewmux plan submit"]);
    until("a plan waits", || open(&crew, "rights", "plan").is_some());
    let id = open(&crew, "rights", "plan").expect("an open one");
    let said = ordered(&crew, "rights", &format!("crewmux approve {id}"));
    assert!(said.contains("code 4") && said.contains("reserves plans for people"), "{said}");
    assert!(!prompts(&crew, "chief").join("\n").contains("asks for a decision (plans)"), "it is not asked either");
    crew.ok(&["approve", "--team", "rights", &id]);

    for command in ["crewmux stop chief", "crewmux restart chief", "crewmux shutdown chief", "crewmux shutdown --all"] {
        let said = ordered(&crew, "rights", command);
        assert!(said.contains("code 4") && said.contains("the operator's"), "{command}: {said}");
    }
    crew.ok(&["send", "--team", "rights", "chief", "permission touch x"]);
    until("it asks for itself", || open(&crew, "rights", "permission").is_some());
    let id = open(&crew, "rights", "permission").expect("an open one");
    crew.ok(&["reject", "--team", "rights", &id]);
    until("it is denied", || reports(&crew, "rights").iter().any(|r| r["result"] == "permission no"));
    crew.ok(&["shutdown", "--team", "rights", "chief"]);
}

#[test]
fn a_member_has_none_of_it() {
    let crew = Crew::new();
    crew.up(&(team("others") + &leads(&crew, "") + &agent(&crew, "a", "")));
    for command in ["crewmux stop chief", "crewmux shutdown chief", "crewmux spawn b --engine worker"] {
        crew.ok(&["send", "--team", "others", "a", &format!("terminal {command} 2>&1")]);
    }
    let all = || prompts(&crew, "chief").join("\n");
    until("all were refused", || {
        all().matches("members cannot end or restart each other").count() >= 2
            && all().contains("members do not start members")
    });
    assert!(crew.status("others", "b").is_null());
}
