//! Text on its way into tmux: formats, command separators, shells.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// Escapes text that tmux expands as a format (`-c`, `-n`, `-s`, `-T`), so that it comes out as it went in.
///
/// `##` stands for `#`, except before `[`, where tmux leaves any run of `#` as it is (format_expand1 in its format.c).
pub(super) fn format_literal(text: &OsStr) -> OsString {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len() + 8);
    let mut at = 0;
    while at < bytes.len() {
        let run = bytes[at..].iter().take_while(|&&b| b == b'#').count();
        if run == 0 {
            out.push(bytes[at]);
            at += 1;
            continue;
        }
        let times = if bytes.get(at + run) == Some(&b'[') { run } else { run * 2 };
        out.extend(std::iter::repeat_n(b'#', times));
        at += run;
    }
    OsString::from_vec(out)
}

/// Escapes an argument of a command: tmux takes an argument's last `;` for the end of the command, unless `\` precedes it.
pub(super) fn separator_literal(arg: &OsStr) -> OsString {
    let bytes = arg.as_bytes();
    match bytes.split_last() {
        Some((b';', head)) => {
            let mut out = head.to_vec();
            out.extend_from_slice(br"\;");
            OsString::from_vec(out)
        }
        _ => arg.to_owned(),
    }
}

/// One line for a border or a title: no control or bidi characters, and no more than `limit` characters.
pub(super) fn one_line(text: &str, limit: usize) -> String {
    let harmless = |c: char| {
        let bidi = matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        if c.is_control() || bidi || c == '\u{2028}' || c == '\u{2029}' { ' ' } else { c }
    };
    text.chars().map(harmless).take(limit).collect()
}

/// A command line that a POSIX shell reads back as exactly these arguments.
pub fn shell_quote(argv: &[OsString]) -> String {
    let quote = |arg: &OsString| {
        let text = arg.to_string_lossy();
        let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=@%+,".contains(c);
        // `=` leads a path look-up in zsh, so a word that starts with it is quoted.
        if !text.is_empty() && text.chars().all(plain) && !text.starts_with('=') {
            text.into_owned()
        } else {
            format!("'{}'", text.replace('\'', r"'\''"))
        }
    };
    argv.iter().map(quote).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_doubled_except_before_a_style() {
        let check = |from: &str, to: &str| assert_eq!(format_literal(OsStr::new(from)), OsStr::new(to), "{from}");
        check("plain", "plain");
        check("#{pane_id}", "##{pane_id}");
        check("a#", "a##");
        check("##x", "####x");
        check("#[fg=red]", "#[fg=red]");
        check("###[x", "###[x");
    }

    #[test]
    fn only_a_last_semicolon_is_escaped() {
        let check = |from: &str, to: &str| assert_eq!(separator_literal(OsStr::new(from)), OsStr::new(to), "{from}");
        check(";", r"\;");
        check("a;b", "a;b");
        check(r"a\;", r"a\\;");
        check("", "");
    }

    #[test]
    fn quoting_survives_a_shell() {
        let argv: Vec<OsString> =
            ["printf", r"%s\0", "a b", "it's", "$(id)", "", "=x", "\n", "é"].map(Into::into).into();
        let out = std::process::Command::new("sh").arg("-c").arg(shell_quote(&argv)).output().unwrap();
        let want: Vec<u8> = argv[2..].iter().flat_map(|a| [a.as_bytes(), b"\0"].concat()).collect();
        assert_eq!(out.stdout, want);
    }

    #[test]
    fn a_line_has_no_controls() {
        assert_eq!(one_line("a\nb\u{1b}[31m\u{202e}c", 100), "a b [31m c");
        assert_eq!(one_line("abcdef", 3), "abc");
    }
}
