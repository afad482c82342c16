//! Whatever a file holds, the answer is a spec or mistakes that can be shown.

use proptest::prelude::*;

use super::Project;

/// Text that looks enough like a spec to get far into the reader.
fn like_a_spec() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        Just("name".to_owned()),
        Just("v".to_owned()),
        proptest::sample::select(crate::spec::team::every_key()).prop_map(str::to_owned),
        "[a-z_]{1,8}",
    ];
    let value = prop_oneof![
        Just("\"worker\"".to_owned()),
        Just("\"command\"".to_owned()),
        Just("[\"./bin/run\", \"${cwd}\"]".to_owned()),
        Just("[]".to_owned()),
        Just("true".to_owned()),
        Just("nan".to_owned()),
        Just("1979-05-27".to_owned()),
        Just("99999999999999999999".to_owned()),
        Just("0x10".to_owned()),
        Just("{ a = 1 }".to_owned()),
        "\"[a-z$\\{\\}é\u{202e}]{0,6}\"",
        any::<i64>().prop_map(|n| n.to_string()),
    ];
    let line = prop_oneof![
        8 => (word, value).prop_map(|(k, v)| format!("{k} = {v}\n")),
        1 => Just("[[member]]\n".to_owned()),
        1 => Just("[[task]]\n".to_owned()),
        1 => proptest::sample::select(vec!["vars", "lead", "limits", "layout", "defaults", "hooks"])
            .prop_map(|t| format!("[{t}]\n")),
    ];
    proptest::collection::vec(line, 0..20).prop_map(|l| l.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn no_text_makes_the_reader_panic(text in prop_oneof![any::<String>(), like_a_spec(), "[\\[\\]=\"'a-z{}.\n]{0,60}"]) {
        let project = Project::new();
        if let Err(error) = project.parse(&text) {
            prop_assert!(!error.mistakes().is_empty());
            prop_assert_eq!(error.lines().len(), error.mistakes().len());
            for mistake in error.mistakes() {
                for (at, _) in &mistake.labels {
                    prop_assert!(at.start <= at.end && at.end <= text.len(), "{:?}", mistake);
                }
            }
            let shown = error.render(false, 80);
            let harmless = |c: char| c == '\n' || !(c.is_control() || ('\u{202a}'..='\u{202e}').contains(&c));
            prop_assert!(shown.chars().all(harmless), "{:?}", shown);
        }
    }
}

#[test]
fn deep_nesting_is_a_mistake_and_no_overflow() {
    let project = Project::new();
    for (open, close) in [("[", "]"), ("{a=", "}")] {
        let text = format!("name = \"t\"\nx = {}1{}\n", open.repeat(100_000), close.repeat(100_000));
        assert!(project.parse(&text).is_err());
    }
    let dotted = format!("name = \"t\"\n{}x = 1\n", "a.".repeat(50_000));
    assert!(project.parse(&dotted).is_err());
}
