//! Every byte arrives, and none of them presses a key.

use crate::puppet::team;
use crate::support::{Crew, until};

/// Texts that were cut, split or run by others.
fn texts() -> Vec<String> {
    let mut texts: Vec<String> = [
        "ends with ;",
        ";",
        "-x --leading",
        "--",
        "'single' \"double\" `back`",
        "$(touch run-me) $HOME ${X} && false",
        "a\\nb \\; \\\\",
        "{\"json\": [1, \"two\"]}",
        "two\nlines\n\nand a last",
        "emoji 🦀 日本 e\u{301}",
        "tab\tin",
        "~ # ! % * ? [x] <y>",
        "C-c Enter",
        "  spaces around  ",
        "100% %s %d",
    ]
    .map(str::to_owned)
    .to_vec();
    texts.push("0123456789".repeat(1024));
    texts
}

/// As [`texts`], with what drives terminals.
fn hostile() -> Vec<String> {
    vec![
        "before\u{1b}[201~rm -rf x\u{1b}[200~after".to_owned(),
        "\u{1b}]0;title\u{7}\u{1b}[2J\u{1b}c".to_owned(),
        "ctrl \u{3}\u{4}\u{1a}\u{16}\u{7f} keys \u{9b}201~".to_owned(),
    ]
}

#[test]
fn f13_every_byte_arrives_on_standard_input() {
    let crew = Crew::new();
    crew.up(&(team("t") + &crew.taker("writer") + &crew.puppet("hand")));
    let mut all = texts();
    all.extend(hostile());
    for (n, text) in all.iter().enumerate() {
        // By argument, by file, and from a member.
        match n % 3 {
            0 => drop(crew.ok(&["send", "writer", "--", text])),
            1 => {
                crew.write("text", text);
                crew.ok(&["send", "writer", "--file", "text"]);
            }
            _ => {
                let file = crew.write("text", text);
                let ran = crew.inside("hand", &format!("crewmux send writer - <{}", file.display()));
                assert_eq!(ran.code, 0, "{text:?}: {ran:?}");
            }
        }
    }
    // One that travels beside the message.
    let large = "large ünï\n".repeat(40_000);
    crew.write("large", &large);
    crew.ok(&["send", "writer", "--file", "large"]);
    all.push(large);
    until("all have arrived", || crew.got("writer").len() >= all.len());
    for (got, sent) in crew.texts("writer").iter().zip(&all) {
        assert!(got == sent, "sent {:?}, got {:?}", head(sent), head(got));
    }
    assert!(!crew.dir().join("run-me").exists());
}

fn head(text: &str) -> String {
    text.chars().take(80).collect()
}

#[test]
fn f13_every_byte_arrives_as_a_paste() {
    let crew = Crew::new();
    let got = crew.dir().join("pasted");
    // The second asks for marked pastes.
    let member = |name: &str, before: &str| {
        format!(
            "\n[[member]]\nname = \"{name}\"\nengine = \"command\"\ndeliver = \"paste\"\ncommand = [\"sh\", \"-c\", \
             \"stty raw -echo; {before} crewmux ready; exec cat >{}-{name}\"]\n",
            got.display()
        )
    };
    crew.up(&(team("t") + &member("plain", "") + &member("marked", "printf '\\\\033[?2004h';")));
    let mut all = texts();
    all.extend(hostile());
    let mut plain = String::new();
    let mut marked = String::new();
    for text in &all {
        crew.ok(&["send", "*", "--", text]);
        // Only text is left of it, and line ends are what Enter sends.
        let typed: String = text
            .chars()
            .filter(|c| !c.is_control() || matches!(c, '\n' | '\t'))
            .collect::<String>()
            .replace('\n', "\r");
        plain += &format!("{typed}\r");
        marked += &format!("\u{1b}[200~{typed}\u{1b}[201~\r");
    }
    for (name, wanted) in [("plain", plain), ("marked", marked)] {
        let file = crew.dir().join(format!("pasted-{name}"));
        until(&format!("{name} has it all"), || std::fs::metadata(&file).is_ok_and(|m| m.len() >= wanted.len() as u64));
        let bytes = std::fs::read(&file).expect("the paste");
        let differs = bytes.iter().zip(wanted.as_bytes()).position(|(a, b)| a != b);
        let near = differs.unwrap_or(0).saturating_sub(20);
        let show = |b: &[u8]| String::from_utf8_lossy(&b[near.min(b.len())..(near + 80).min(b.len())]).into_owned();
        assert!(
            bytes == wanted.as_bytes(),
            "{name}: at {differs:?} {:?} instead of {:?}",
            show(&bytes),
            show(wanted.as_bytes())
        );
    }
    assert!(!crew.dir().join("run-me").exists());
}
