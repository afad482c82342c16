//! Bytes that others wrote, given to each parser that reads such bytes: none may panic, what it takes it must write down
//! again as the same, and nothing may grow past its bounds.
//!
//! The tests call these with mangled files of real teams, the targets below `fuzz/` with whatever a fuzzer thinks of.

mod files;
mod peers;
mod people;
mod words;

#[cfg(test)]
mod tests;

/// A parser under test: it panics where a rule is broken.
pub type Check = fn(&[u8]);

/// All of them, by the names of their fuzz targets.
pub const ALL: [(&str, Check); 15] = [
    ("journal", files::journal),
    ("board", files::board),
    ("ledger", files::ledger),
    ("cursor", files::cursor),
    ("documents", files::documents),
    ("message", files::message),
    ("name", words::name),
    ("address", words::address),
    ("times", words::times),
    ("spec", people::spec),
    ("preset", people::preset),
    ("definition", people::definition),
    ("settings", people::settings),
    ("acp", peers::acp),
    ("model", peers::model),
];

/// Gives bytes to the parser of this name.
///
/// # Panics
/// Where there is none, and where a rule is broken.
pub fn check(name: &str, bytes: &[u8]) {
    let (_, check) = ALL.iter().find(|(known, _)| *known == name).expect("a known name");
    check(bytes);
}
