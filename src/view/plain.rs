//! Text for a terminal: other people's control characters made visible, widths in columns, colours.

use std::borrow::Cow;
use std::fmt::Write as _;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// How output is to look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    pub color: bool,
    /// Columns to keep within; `None` for no limit (a pipe).
    pub width: Option<usize>,
}

/// What becomes of line breaks and tabs in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lines {
    /// They stay: the text may fill lines of its own.
    Keep,
    /// They are shown as `\n` and `\t`: the text is part of a line.
    Escape,
}

/// A count with its noun.
#[must_use]
pub fn count(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// A text that cannot act on a terminal: C0 and C1 controls, DEL, bidi overrides and line separators become visible.
#[must_use]
pub fn safe(text: &str, lines: Lines) -> Cow<'_, str> {
    if !text.chars().any(|c| acts(c, lines)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            _ if !acts(c, lines) => out.push(c),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            _ if u32::from(c) < 0x100 => {
                let _ = write!(out, "\\x{:02x}", u32::from(c));
            }
            _ => {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
            }
        }
    }
    Cow::Owned(out)
}

fn acts(c: char, lines: Lines) -> bool {
    match c {
        '\n' | '\t' => lines == Lines::Escape,
        // Marks and overrides of direction, isolates, line and paragraph separators.
        '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        _ => c.is_control(),
    }
}

/// Columns that `text` takes; escape sequences of ours take none.
#[must_use]
pub fn width(text: &str) -> usize {
    if text.contains('\x1b') { cut_ansi(text, usize::MAX).1 } else { text.width() }
}

/// `text` in at most `columns`, the end given up for `…` where it is longer. For text without escape sequences.
#[must_use]
pub fn truncate(text: &str, columns: usize) -> Cow<'_, str> {
    if text.width() <= columns {
        return Cow::Borrowed(text);
    }
    if columns == 0 {
        return Cow::Borrowed("");
    }
    let mut used = 0;
    let end = text
        .char_indices()
        .find(|(_, c)| {
            used += c.width().unwrap_or(0);
            used > columns - 1
        })
        .map_or(text.len(), |(at, _)| at);
    Cow::Owned(format!("{}…", text[..end].trim_end()))
}

/// A line of ours, colours and all, in at most `columns`.
#[must_use]
pub fn cut(line: &str, columns: usize) -> String {
    cut_ansi(line, columns).0
}

/// `text` filled up with blanks to `columns`.
#[must_use]
pub fn pad(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

/// The cut line and its width. SGR sequences pass through and end with a reset where text was cut.
fn cut_ansi(line: &str, columns: usize) -> (String, usize) {
    let fits = columns == usize::MAX || cut_ansi(line, usize::MAX).1 <= columns;
    let room = if fits { usize::MAX } else { columns.saturating_sub(1) };
    let (mut out, mut used, mut colored) = (String::with_capacity(line.len()), 0, false);
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        if c == '\x1b' {
            colored = true;
            out.push(c);
            for c in chars.by_ref() {
                out.push(c);
                if c.is_ascii_alphabetic() {
                    break;
                }
            }
            continue;
        }
        let w = c.width().unwrap_or(0);
        if used + w > room {
            if columns > 0 {
                out.push('…');
                used += 1;
            }
            if colored {
                out.push_str("\x1b[0m");
            }
            return (out, used);
        }
        used += w;
        out.push(c);
    }
    (out, used)
}

/// Colours this house uses, each for one meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ink {
    Plain,
    Bold,
    Dim,
    Red,
    Green,
    Yellow,
    Blue,
    Magenta,
    Cyan,
}

impl Ink {
    /// A member's colour by its name in the roster.
    #[must_use]
    pub fn named(name: &str) -> Self {
        match name {
            "red" => Self::Red,
            "green" => Self::Green,
            "yellow" | "orange" => Self::Yellow,
            "blue" => Self::Blue,
            "magenta" | "purple" | "pink" => Self::Magenta,
            "cyan" => Self::Cyan,
            _ => Self::Plain,
        }
    }

    /// `text` in this colour, if colours are wanted.
    #[must_use]
    pub fn paint(self, text: &str, color: bool) -> String {
        let sgr = match self {
            _ if !color => return text.to_owned(),
            Self::Plain => return text.to_owned(),
            Self::Bold => "1",
            Self::Dim => "2",
            Self::Red => "31",
            Self::Green => "32",
            Self::Yellow => "33",
            Self::Blue => "34",
            Self::Magenta => "35",
            Self::Cyan => "36",
        };
        format!("\x1b[{sgr}m{text}\x1b[0m")
    }
}

/// A length of time in one unit: `3s`, `12m`, `5h`, `2d`.
#[must_use]
pub fn ago(span: std::time::Duration) -> String {
    match span.as_secs() {
        s @ 0..60 => format!("{s}s"),
        s @ 60..3600 => format!("{}m", s / 60),
        s @ 3600..86400 => format!("{}h", s / 3600),
        s => format!("{}d", s / 86400),
    }
}

/// The part of an id that tells it from others at a glance: its last eight characters.
#[must_use]
pub fn short_id(id: &str) -> &str {
    id.char_indices().rev().nth(7).map_or(id, |(at, _)| &id[at..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_act_on_a_terminal_is_made_visible() {
        for (text, one_line) in [
            ("plain — ünï 漢字 🎉", "plain — ünï 漢字 🎉"),
            ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
            ("\x1b]0;title\x07", "\\x1b]0;title\\x07"),
            ("a\nb\tc\rd", "a\\nb\\tc\\rd"),
            ("\u{9b}2J", "\\x9b2J"),
            ("\x7f\x08\0", "\\x7f\\x08\\x00"),
            ("abc\u{202e}def\u{2066}", "abc\\u{202e}def\\u{2066}"),
            ("a\u{2028}b", "a\\u{2028}b"),
        ] {
            assert_eq!(safe(text, Lines::Escape), one_line);
        }
        assert_eq!(safe("a\n\tb\r\x1b", Lines::Keep), "a\n\tb\\r\\x1b");
        assert!(matches!(safe("nothing to do", Lines::Escape), Cow::Borrowed(_)));
    }

    #[test]
    fn truncation_counts_columns_not_characters() {
        for (text, columns, expected) in [
            ("short", 5, "short"),
            ("longer", 5, "long…"),
            ("漢字漢字", 5, "漢字…"),
            ("漢字漢字", 4, "漢…"),
            ("a word", 3, "a…"),
            ("x", 0, ""),
            ("xy", 1, "…"),
        ] {
            assert_eq!(truncate(text, columns), expected);
            assert!(width(&truncate(text, columns)) <= columns);
        }
    }

    #[test]
    fn a_cut_line_keeps_its_colours_and_closes_them() {
        assert_eq!(cut("\x1b[31mabcdef\x1b[0m", 4), "\x1b[31mabc…\x1b[0m");
        assert_eq!(cut("\x1b[31mabcd\x1b[0m", 4), "\x1b[31mabcd\x1b[0m");
        assert_eq!(width("\x1b[1mab\x1b[0m漢"), 4);
        assert_eq!(cut("abc", 0), "");
    }

    #[test]
    fn lengths_of_time_take_one_unit() {
        let spans = [0, 59, 60, 3599, 3600, 86400 * 3].map(|s| ago(std::time::Duration::from_secs(s)));
        assert_eq!(spans, ["0s", "59s", "1m", "59m", "1h", "3d"]);
        assert_eq!(short_id("0193f1aa-0000-7000-8000-00009c41d7aa"), "9c41d7aa");
        assert_eq!(short_id("ab"), "ab");
    }
}
