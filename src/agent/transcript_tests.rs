use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::agent::wire::ResultPart;

fn call(id: &str) -> Block {
    Block::tool_use(id, "Read", json!({}))
}

fn result(id: &str) -> Block {
    Block::tool_result(id, vec![ResultPart::text("ok")], false)
}

fn thought() -> Block {
    serde_json::from_value(json!({ "type": "thinking", "thinking": "hm", "signature": "s" })).unwrap()
}

#[test]
fn what_was_written_is_read_again_and_a_torn_tail_costs_one_record() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("main.jsonl");
    let transcript = Transcript::at(path.clone());
    let turns = vec![
        Turn::user(vec![Block::text("look")]),
        Turn::assistant(vec![thought(), call("a")]),
        Turn::user(vec![result("a")]),
        Turn::assistant(vec![Block::text("done")]),
    ];
    for turn in &turns {
        transcript.turn(turn).unwrap();
    }
    let spent = Spent { requests: 2, ..Spent::default() };
    transcript.spent(spent).unwrap();
    assert_eq!(Transcript::recall(&path).unwrap(), Recalled { turns: turns.clone(), spent: Some(spent) });
    let whole = std::fs::read(&path).unwrap();
    let before_last = whole[..whole.len() - 1].iter().rposition(|b| *b == b'\n').unwrap();
    let before_that = whole[..before_last].iter().rposition(|b| *b == b'\n').unwrap();
    std::fs::write(&path, &whole[..before_that + 20]).unwrap();
    assert_eq!(Transcript::recall(&path).unwrap().turns, turns[..3]);
    // It goes on after the torn line.
    Transcript::at(path.clone()).turn(&turns[3]).unwrap();
    assert_eq!(Transcript::recall(&path).unwrap().turns, turns);
}

#[test]
fn after_a_compaction_only_what_it_left_counts() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("main.jsonl");
    let transcript = Transcript::at(path.clone());
    transcript.turn(&Turn::user(vec![Block::text("old")])).unwrap();
    let short = vec![Turn::user(vec![Block::text("summary")])];
    transcript.compacted(&short).unwrap();
    let new = Turn::assistant(vec![Block::text("new")]);
    transcript.turn(&new).unwrap();
    assert_eq!(Transcript::recall(&path).unwrap().turns, [short[0].clone(), new]);
    assert_eq!(Transcript::recall(&dir.path().join("none.jsonl")).unwrap(), Recalled::default());
}

#[test]
fn calls_without_results_thinking_alone_and_blank_turns_go() {
    let turns = vec![
        Turn::assistant(vec![Block::text("before anything")]),
        Turn::user(vec![Block::text("go")]),
        Turn::assistant(vec![thought()]),
        Turn::user(vec![Block::text("  \n")]),
        Turn::assistant(vec![Block::text("two"), call("a"), call("b")]),
        Turn::user(vec![result("b"), result("stray")]),
        Turn::assistant(vec![thought(), call("c")]),
    ];
    let kept = repaired(turns);
    assert_eq!(
        kept,
        [
            Turn::user(vec![Block::text("go")]),
            Turn::assistant(vec![Block::text("two"), call("b")]),
            Turn::user(vec![result("b")]),
        ]
    );
}

fn any_block() -> impl Strategy<Value = Block> {
    let id = prop::sample::select(vec!["a", "b", "c"]);
    prop_oneof!["[a-z ]{0,3}".prop_map(Block::text), Just(thought()), id.clone().prop_map(call), id.prop_map(result),]
}

fn any_turn() -> impl Strategy<Value = Turn> {
    (any::<bool>(), prop::collection::vec(any_block(), 0..4))
        .prop_map(|(user, content)| if user { Turn::user(content) } else { Turn::assistant(content) })
}

proptest! {
    #[test]
    fn whatever_was_written_a_provider_takes_what_is_left(turns in prop::collection::vec(any_turn(), 0..12)) {
        let kept = repaired(turns);
        prop_assert!(kept.first().is_none_or(|turn| turn.role == Role::User));
        for (at, turn) in kept.iter().enumerate() {
            prop_assert!(!turn.content.is_empty());
            prop_assert!(turn.content.iter().all(|block| !block.is_blank()));
            match turn.role {
                Role::Assistant => {
                    prop_assert!(!turn.content.iter().all(Block::is_thinking));
                    let answered = kept.get(at + 1).map(results).unwrap_or_default();
                    let ids: Vec<&str> = turn.calls().map(|(id, ..)| id).collect();
                    prop_assert_eq!(ids.iter().collect::<HashSet<_>>().len(), ids.len());
                    prop_assert!(ids.iter().all(|id| answered.contains(*id)));
                }
                Role::User => {
                    let called: HashSet<String> = at.checked_sub(1)
                        .map(|at| kept[at].calls().map(|(id, ..)| id.to_owned()).collect()).unwrap_or_default();
                    prop_assert!(results(turn).is_subset(&called));
                }
            }
        }
        // Nothing is left to repair.
        prop_assert_eq!(repaired(kept.clone()), kept);
    }
}
