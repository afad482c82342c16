use super::*;

const GOOD: &str = "\
### Check: the suite
Command: `cargo test`
Output:
```
3 passed
```

### Probe (boundary): an empty list
Command: ./sum ''
Output: 0

VERDICT: PASS";

fn ran() -> Vec<String> {
    vec!["cargo test".into(), "cd /x\n./sum  ''".into()]
}

fn check(report: &str, expected: Result<Verdict, Fault>) {
    assert_eq!(judge(report, &ran()), expected, "{report}");
}

fn with(from: &str, to: &str) -> String {
    assert!(GOOD.contains(from));
    GOOD.replacen(from, to, 1)
}

#[test]
fn a_whole_report_passes() {
    check(GOOD, Ok(Verdict::Pass));
    check(&format!("{GOOD}\n\n  \n"), Ok(Verdict::Pass));
    check(&with("### Probe (boundary)", "**Probe (malformed input)"), Ok(Verdict::Pass));
}

#[test]
fn the_last_line_is_read_strictly() {
    for bad in [
        "VERDICT: pass",
        "verdict: PASS",
        "VERDICT: PASSED",
        "VERDICT:PASS",
        "**VERDICT: PASS**",
        "VERDICT: PASS.",
        "VERDICT: PASS | FAIL | PARTIAL",
        " VERDICT: PASS",
        "VERDICT: PASS\nI am sure.",
        "",
    ] {
        check(&with("VERDICT: PASS", bad), Err(Fault::NoVerdict));
    }
    check(&format!("VERDICT: FAIL\n{GOOD}"), Err(Fault::Several(2)));
}

#[test]
fn reading_is_not_running() {
    assert_eq!(judge(GOOD, &[]), Err(Fault::NothingRun));
    let told = with("Command: `cargo test`", "I read the code").replace("Command: ./sum ''", "It holds.");
    check(&told, Err(Fault::NoCommandShown));
    check(&with("cargo test", "cargo test --all"), Err(Fault::NeverRun("cargo test --all".into())));
    check(&with("`cargo test`", "``"), Err(Fault::NeverRun(String::new())));
}

#[test]
fn a_probe_is_wanted_and_must_be_run() {
    check(&with("### Probe (boundary)", "### Check"), Err(Fault::NoProbe));
    check(&with("boundary", "vibes"), Err(Fault::NoProbe));
    check(&with("Command: ./sum ''", "It would hold."), Err(Fault::ProbeNotRun("boundary".into())));
    let two = with("### Probe (boundary)", "### Probe (orphans): none\n### Probe (boundary)");
    check(&two, Err(Fault::ProbeNotRun("orphans".into())));
}

#[test]
fn a_failure_shows_what_was_seen_and_how_to_see_it_again() {
    let fail = with("VERDICT: PASS", "Steps:\n1. ./sum ''\n\nVERDICT: FAIL");
    check(&fail, Ok(Verdict::Fail));
    check(&with("PASS", "FAIL"), Err(Fault::FailWithoutSteps));
    check(&with("VERDICT: PASS", "Steps:\n\nVERDICT: FAIL"), Err(Fault::FailWithoutSteps));
    let silent = fail.replace("Output: 0", "").replace("Output:\n", "");
    check(&silent, Err(Fault::FailWithoutOutput));
}

#[test]
fn partial_names_what_the_environment_lacks() {
    check(&with("PASS", "PARTIAL"), Err(Fault::PartialWithoutReason));
    let named = with("VERDICT: PASS", "Environment: there is no network\nVERDICT: PARTIAL");
    check(&named, Ok(Verdict::Partial));
}

#[test]
fn the_second_asking_says_what_is_wrong() {
    assert!(ask_again(&Fault::NoProbe).contains("no adversarial probe"));
    assert!(ask_again(&Fault::NoProbe).contains("counts as failed"));
}

proptest::proptest! {
    #[test]
    fn no_text_breaks_it_and_none_passes_unrun(text in "\\PC{0,80}|(VERDICT: (PASS|FAIL)\n|Command: x\n|Probe \\(orphans\\):\n|Output:\n){0,6}") {
        proptest::prop_assert!(judge(&text, &[]).is_err());
        let _ = judge(&text, &["x".to_owned()]);
    }
}
