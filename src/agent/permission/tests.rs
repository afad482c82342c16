use proptest::prelude::*;

use super::*;

const BASH: Call<'_> = Call {
    tool: "Bash",
    kind: Kind::Execute,
    subject: "cargo test",
    outside: false,
    confined: true,
    background: false,
    attended: true,
};

fn rules(allow: &[&str], ask: &[&str], deny: &[&str]) -> Rules {
    let list = |rules: &[&str]| rules.iter().map(|r| (*r).to_owned()).collect();
    Rules { allow: list(allow), ask: list(ask), deny: list(deny) }
}

fn word(decision: &Decision) -> &'static str {
    match decision {
        Decision::Allow => "allow",
        Decision::Deny(_) => "deny",
        Decision::Ask(_) => "ask",
    }
}

/// What each mode makes of a call when no rule says anything, in the order of [`Mode::ALL`].
#[test]
fn modes_without_rules() {
    let kind = |tool, kind| Call { tool, kind, ..BASH };
    let table: [(Call<'_>, [&str; 6]); 10] = [
        (kind("Read", Kind::Read), ["allow", "allow", "allow", "allow", "allow", "allow"]),
        (kind("Grep", Kind::Search), ["allow", "allow", "allow", "allow", "allow", "allow"]),
        (Call { outside: true, ..kind("Read", Kind::Read) }, ["ask", "ask", "ask", "ask", "allow", "ask"]),
        (kind("Edit", Kind::Edit), ["deny", "deny", "ask", "allow", "allow", "ask"]),
        (Call { outside: true, ..kind("Edit", Kind::Edit) }, ["deny", "deny", "ask", "ask", "allow", "ask"]),
        (BASH, ["allow", "allow", "ask", "allow", "allow", "ask"]),
        (Call { confined: false, ..BASH }, ["deny", "deny", "ask", "ask", "allow", "ask"]),
        (kind("WebFetch", Kind::Fetch), ["ask", "ask", "ask", "ask", "allow", "ask"]),
        (kind("TodoWrite", Kind::Think), ["allow", "allow", "allow", "allow", "allow", "allow"]),
        (kind("mcp__a__b", Kind::Other), ["ask", "ask", "ask", "ask", "allow", "ask"]),
    ];
    for (call, expected) in table {
        let found = Mode::ALL.map(|mode| word(&decide(mode, &Rules::default(), &call)));
        assert_eq!(found, expected, "{} outside={} confined={}", call.tool, call.outside, call.confined);
    }
}

#[test]
fn who_cannot_ask_is_denied_at_once_and_told_why() {
    let call = Call { tool: "Edit", kind: Kind::Edit, background: true, ..BASH };
    let Decision::Deny(reason) = decide(Mode::Default, &Rules::default(), &call) else { panic!("not denied") };
    assert!(reason.contains("in the background cannot ask"), "{reason}");
    assert_eq!(word(&decide(Mode::Bubble, &Rules::default(), &call)), "ask");
    assert_eq!(word(&decide(Mode::AcceptEdits, &Rules::default(), &call)), "allow");
    let alone = Call { background: false, attended: false, ..call };
    for mode in [Mode::Default, Mode::Bubble] {
        let Decision::Deny(reason) = decide(mode, &Rules::default(), &alone) else { panic!("not denied") };
        assert!(reason.contains("nobody is there"), "{reason}");
    }
}

#[test]
fn an_allowed_command_allows_no_other_beside_it() {
    let rules = rules(&["Bash(git *)", "Bash(ls)"], &[], &[]);
    let at = |subject| word(&decide(Mode::Default, &rules, &Call { subject, ..BASH }));
    assert_eq!([at("git status"), at("ls"), at("ls -l"), at("gitx")], ["allow", "allow", "ask", "ask"]);
    for line in [
        "git status; rm -rf /",
        "git log | sh",
        "git x && y",
        "git $(rm x)",
        "git x\nrm y",
        "git x > /etc/y",
        "git `x`",
    ] {
        assert_eq!(at(line), "ask", "{line}");
    }
}

#[test]
fn a_forbidden_command_is_found_anywhere_and_in_every_mode() {
    let rules = rules(&["*"], &["Bash(git push*)"], &["Bash(rm *)", "mcp__bad__*"]);
    for mode in Mode::ALL {
        for subject in ["rm x", "ls; rm x", "a && rm x", "$(rm x)"] {
            assert_eq!(word(&decide(mode, &rules, &Call { subject, ..BASH })), "deny", "{mode:?} {subject}");
        }
        let bad = Call { tool: "mcp__bad__x", kind: Kind::Other, ..BASH };
        assert_eq!(word(&decide(mode, &rules, &bad)), "deny");
    }
    assert_eq!(word(&decide(Mode::Bypass, &rules, &Call { subject: "git push origin", ..BASH })), "ask");
}

#[test]
fn no_rule_lets_a_read_only_mode_write() {
    let edit = Call { tool: "Edit", kind: Kind::Edit, subject: "src/a.rs", ..BASH };
    for mode in [Mode::ReadOnly, Mode::Plan] {
        assert_eq!(word(&decide(mode, &rules(&["Edit", "*"], &[], &[]), &edit)), "deny");
    }
}

#[test]
fn patterns_of_paths_stop_at_a_folder() {
    let rules = rules(&["Edit(src/*)"], &[], &["Edit(**/secret*)"]);
    let at = |subject| word(&decide(Mode::Default, &rules, &Call { tool: "Edit", kind: Kind::Edit, subject, ..BASH }));
    assert_eq!([at("src/a.rs"), at("src/deep/a.rs"), at("src/secret.rs")], ["allow", "ask", "deny"]);
}

#[test]
fn rules_that_cannot_be_read_are_refused_and_fit_nothing() {
    for bad in ["", "Bash(x", "(x)", "Bash([)"] {
        assert!(Rules::check(bad).is_err(), "{bad}");
        assert_eq!(word(&decide(Mode::Default, &rules(&[bad], &[], &[]), &BASH)), "ask", "{bad}");
    }
    for good in ["Bash", "Bash(git *)", "mcp__*", "Edit(a(b))"] {
        assert_eq!(Rules::check(good), Ok(()), "{good}");
    }
}

#[test]
fn modes_are_read_as_they_are_written() {
    for mode in Mode::ALL {
        assert_eq!(Mode::parse(mode.as_str()), Some(mode));
        assert_eq!(serde_json::to_value(mode).unwrap(), mode.as_str());
    }
    assert_eq!(Mode::parse("accept-edits"), Some(Mode::AcceptEdits));
    assert_eq!(Mode::parse("read_only"), Some(Mode::ReadOnly));
    assert_eq!(Mode::parse("yolo"), None);
}

proptest! {
    /// Allowing something for good allows that, and nothing but that.
    #[test]
    fn always_means_this_and_no_more(subject in "[a-z*?\\[\\]{}!$;| ./\\\\-]{1,12}", other in "[a-z*?;| ./-]{1,12}") {
        let mut rules = Rules::default();
        rules.allow_always("Bash", &subject);
        let at = |subject: &str| word(&decide(Mode::Default, &rules, &Call { subject, ..BASH }));
        prop_assert_eq!(at(&subject), "allow");
        if other != subject {
            prop_assert_eq!(at(&other), "ask");
        }
    }
}
