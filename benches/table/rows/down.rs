//! `crewmux down` of a team whose members are willing: handshakes, ends, files away.

use std::time::Instant;

use super::up::willing;
use crate::place::Place;
use crate::stats::{Spread, ns, time};
use crate::table::{Line, Verdict};
use crate::{Fallible, ROUNDS};

const TEAM: &str = "bench-down";
const MEMBERS: usize = 16;

pub fn row() -> Fallible<Vec<Line>> {
    let mut took = Vec::new();
    for _ in 0..ROUNDS {
        let mut place = Place::new()?;
        let spec = willing(&place, TEAM, MEMBERS, "")?;
        place.up(TEAM, &spec)?;
        let begun = Instant::now();
        place.down(TEAM)?;
        took.push(ns(begun.elapsed()));
    }
    let spread = Spread::of(&took);
    Ok(vec![Line {
        what: format!("`crewmux down` of {MEMBERS} willing members"),
        floor: "—".to_owned(),
        measured: spread.show(time),
        ratio: "—".to_owned(),
        must: "≤ 1 s".to_owned(),
        verdict: Verdict::of(spread.median <= 1e9),
    }])
}
