//! The small pure parts.

use proptest::prelude::*;

use crate::model::spec::{is_color, palette};
use crate::spec::order::order;
use crate::spec::vars::{BadVar, Vars};

#[test]
fn variables_are_filled_in_once() {
    let mut vars = Vars::default();
    vars.set("a", "${b} $$");
    vars.set("b", "B");
    let table = [
        ("", Ok("")),
        ("x", Ok("x")),
        ("${a}", Ok("${b} $$")),
        ("${b}${b}", Ok("BB")),
        ("$${b}", Ok("${b}")),
        ("$$$${b}", Ok("$${b}")),
        ("$b $ $", Ok("$b $ $")),
        ("$$", Ok("$")),
        ("$(x) $?", Ok("$(x) $?")),
        ("${", Err(BadVar::Open)),
        ("${}", Err(BadVar::Unknown(String::new()))),
        ("${ b }", Err(BadVar::Unknown(" b ".to_owned()))),
    ];
    for (text, expected) in table {
        assert_eq!(vars.fill(text), expected.map(str::to_owned), "{text}");
    }
}

#[test]
fn colours_that_tmux_knows() {
    for good in ["red", "brightred", "colour0", "colour255", "color9", "#00ffAA"] {
        assert!(is_color(good), "{good}");
    }
    for bad in ["", "Red", "bright", "colour", "colour256", "colour-1", "colour+1", "#fff", "#gggggg", "default"] {
        assert!(!is_color(bad), "{bad}");
    }
    assert!((0..20).all(|n| is_color(palette(n))));
}

proptest! {
    #[test]
    fn an_order_keeps_blockers_first_and_a_cycle_is_one(
        edges in proptest::collection::vec((0usize..8, 0usize..8), 0..14)
    ) {
        let mut blockers = vec![Vec::new(); 8];
        for (a, b) in edges {
            blockers[a].push(b);
        }
        match order(&blockers) {
            Ok(order) => {
                prop_assert_eq!(order.len(), 8);
                let place = |i: usize| order.iter().position(|&o| o == i).unwrap();
                for (i, list) in blockers.iter().enumerate() {
                    prop_assert!(list.iter().all(|&b| place(b) < place(i)));
                }
            }
            Err(cycle) => {
                prop_assert!(!cycle.is_empty());
                for (i, at) in cycle.iter().enumerate() {
                    prop_assert!(blockers[*at].contains(&cycle[(i + 1) % cycle.len()]));
                }
            }
        }
    }
}
