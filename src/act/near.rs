//! The names nearest to one that does not exist.

/// Up to three of `known` that could have been meant by `word`, nearest first.
#[must_use]
pub fn nearest(word: &str, known: &[String]) -> Vec<String> {
    let mut scored: Vec<(usize, &String)> = known
        .iter()
        .map(|name| (strsim::damerau_levenshtein(&word.to_lowercase(), &name.to_lowercase()), name))
        .filter(|(distance, name)| *distance <= 2.max(name.chars().count() / 3))
        .collect();
    scored.sort();
    scored.into_iter().take(3).map(|(_, name)| name.clone()).collect()
}
