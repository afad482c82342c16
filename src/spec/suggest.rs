//! The word that a person probably meant.

/// How alike two words must be (Jaro-Winkler, 0 to 1) to be offered: `mebmer` is, `xyz` is not.
const ALIKE: f64 = 0.8;

/// The known word most like `word`, if one is like it at all.
#[must_use]
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    known
        .into_iter()
        .map(|k| (likeness(&word, &k.to_lowercase()), k))
        .filter(|(score, _)| *score >= ALIKE)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, k)| k)
}

/// Jaro-Winkler, which is blind to two letters swapped in a short word: one slip is always like enough.
fn likeness(a: &str, b: &str) -> f64 {
    let slip = a.chars().count() > 2 && strsim::damerau_levenshtein(a, b) <= 1;
    strsim::jaro_winkler(a, b).max(if slip { 0.9 } else { 0.0 })
}

/// "did you mean `x`?", else the known words.
#[must_use]
pub fn did_you_mean(word: &str, what: &str, known: &[&str]) -> String {
    match nearest(word, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if known.is_empty() => format!("there is no {what}"),
        None => format!("{what}: {}", words(known)),
    }
}

/// `a`, `b` and `c`.
pub(super) fn words(list: &[&str]) -> String {
    let quoted: Vec<String> = list.iter().map(|w| format!("`{w}`")).collect();
    match quoted.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}
