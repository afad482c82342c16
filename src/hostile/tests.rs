//! Every parser on mangled files of real teams, and on rubbish.

use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::{ALL, check};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Files of teams, specs, presets and definitions as they lie in the repository.
fn seeds() -> Vec<Vec<u8>> {
    fn collect(dir: &Path, files: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(dir).expect("a folder").flatten() {
            if entry.path().is_dir() { collect(&entry.path(), files) } else { files.push(entry.path()) }
        }
    }
    let mut files = Vec::new();
    ["tests/data", "teams", "presets"].iter().for_each(|dir| collect(&root().join(dir), &mut files));
    files.sort();
    let mut seeds: Vec<Vec<u8>> = files.iter().filter_map(|path| std::fs::read(path).ok()).collect();
    let lines: Vec<Vec<u8>> = seeds.iter().flat_map(|s| s.split(|b| *b == b'\n')).map(<[u8]>::to_vec).collect();
    seeds.extend(lines.into_iter().filter(|line| line.len() > 1));
    let words = [
        "a",
        "команда@チーム",
        "lead",
        "*",
        "%41",
        "1h30m",
        "250ms",
        "2026-12-01T10:00:00.000000Z",
        "task:1=completed",
        "---\nname: a\ndescription: b\ntools: [Read]\n---\nDo it.\n",
        "model = \"small\"\n[[allow]]\ntool = \"Bash\"\n",
        "{\"mcpServers\":{\"a\":{\"command\":\"${A:-b}\",\"args\":[]}}}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session/update\",\"params\":{\"name\":\"a\",\"url\":\"http://x\"}}\n",
        "{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"b\",\"input\":{}}}\n\
         {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"[1]\"}}\n\
         {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"}}\n{\"type\":\"message_stop\"}\n",
    ];
    seeds.extend(words.iter().map(|word| word.as_bytes().to_vec()));
    seeds
}

/// One thing that goes wrong with a file.
#[derive(Clone, Debug)]
enum Harm {
    Flip(usize, u8),
    Cut(usize, usize),
    Insert(usize, Vec<u8>),
    /// A part once more, elsewhere.
    Repeat(usize, usize, usize),
    /// The rest is another file's.
    Splice(usize, usize),
}

fn harm() -> impl Strategy<Value = Harm> {
    let odd = prop_oneof![
        Just(b"\n".to_vec()),
        Just(b"\0".to_vec()),
        Just(b"18446744073709551615".to_vec()),
        Just(b"-1".to_vec()),
        Just(b"null".to_vec()),
        Just(b"[[[[".to_vec()),
        Just("\u{202e}\u{1b}[2J".as_bytes().to_vec()),
        proptest::collection::vec(any::<u8>(), 1..8),
    ];
    let at = any::<usize>;
    prop_oneof![
        (at(), any::<u8>()).prop_map(|(at, to)| Harm::Flip(at, to)),
        (at(), 1..200_usize).prop_map(|(at, most)| Harm::Cut(at, most)),
        (at(), odd).prop_map(|(at, what)| Harm::Insert(at, what)),
        (at(), 1..400_usize, at()).prop_map(|(from, most, to)| Harm::Repeat(from, most, to)),
        (at(), at()).prop_map(|(at, other)| Harm::Splice(at, other)),
    ]
}

fn harmed(seeds: &[Vec<u8>], seed: usize, harms: &[Harm]) -> Vec<u8> {
    let mut bytes = seeds[seed % seeds.len()].clone();
    for harm in harms {
        let len = bytes.len();
        match harm {
            Harm::Flip(at, to) if len > 0 => bytes[at % len] = *to,
            Harm::Cut(at, most) if len > 0 => drop(bytes.drain(at % len..(at % len + most).min(len))),
            Harm::Flip(..) | Harm::Cut(..) => {}
            Harm::Insert(at, what) => drop(bytes.splice(at % (len + 1)..at % (len + 1), what.iter().copied())),
            Harm::Repeat(from, most, to) => {
                let part = bytes[from % (len + 1)..(from % (len + 1) + most).min(len)].to_vec();
                drop(bytes.splice(to % (len + 1)..to % (len + 1), part));
            }
            Harm::Splice(at, other) => {
                let other = &seeds[other % seeds.len()];
                bytes.truncate(at % (len + 1));
                bytes.extend_from_slice(&other[at % (other.len() + 1)..]);
            }
        }
    }
    bytes
}

/// Tries one parser.
fn withstands(name: &str, cases: u32) {
    let seeds = seeds();
    let strategy = (any::<usize>(), proptest::collection::vec(harm(), 0..4));
    let rubbish = prop_oneof![
        8 => strategy.prop_map(|(seed, harms)| harmed(&seeds, seed, &harms)),
        1 => proptest::collection::vec(any::<u8>(), 0..200),
        1 => any::<String>().prop_map(String::into_bytes),
    ];
    proptest!(ProptestConfig::with_cases(cases), |(bytes in rubbish)| check(name, &bytes));
}

macro_rules! withstand {
    ($($name:ident $cases:literal,)*) => {
        $(#[test]
        fn $name() {
            withstands(stringify!($name), $cases);
        })*
        const TESTED: &[&str] = &[$(stringify!($name)),*];
    };
}

withstand! {
    journal 400, board 400, ledger 400, cursor 200, documents 400, message 400, name 1000, address 1000, times 1000,
    spec 300, preset 300, definition 400, settings 300, acp 300, model 400,
}

/// What goes through unharmed is not refused: else the tests above would try nothing.
#[test]
fn the_seeds_are_what_the_parsers_take() {
    for seed in seeds() {
        ALL.iter().for_each(|(_, check)| check(&seed));
    }
}

#[test]
fn every_parser_has_its_test_and_its_fuzz_target() {
    let names: Vec<&str> = ALL.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, TESTED);
    let manifest = std::fs::read_to_string(root().join("fuzz/Cargo.toml")).expect("fuzz/Cargo.toml");
    for name in names {
        let target = root().join(format!("fuzz/fuzz_targets/{name}.rs"));
        let text = std::fs::read_to_string(&target).unwrap_or_default();
        assert!(text.contains(&format!("hostile::check(\"{name}\"")), "{}", target.display());
        assert!(manifest.contains(&format!("name = \"{name}\"")), "fuzz/Cargo.toml has no `{name}`");
    }
}
