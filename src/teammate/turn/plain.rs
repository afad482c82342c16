//! Text of an agent made harmless for a terminal: no escape sequence and no control character comes through.

/// A filter for text that comes in pieces; a sequence may begin in one and end in another.
#[derive(Debug, Default)]
pub struct Plain {
    at: Place,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    #[default]
    Text,
    /// After ESC.
    Escape,
    /// In a control sequence, which a letter ends.
    Control,
    /// In a string for the terminal, which BEL or ESC \ ends.
    String,
    StringEscape,
}

impl Plain {
    /// What of `text` may be shown: its line ends and tabs stay.
    pub fn filter(&mut self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        for c in text.chars() {
            self.at = match (self.at, c) {
                (Place::Text | Place::Escape | Place::Control, '\x1b') => Place::Escape,
                (Place::Text, '\u{9b}') => Place::Control,
                (Place::Text, '\u{90}' | '\u{98}' | '\u{9d}' | '\u{9e}' | '\u{9f}') => Place::String,
                (Place::Text, c) => {
                    if !acts(c) {
                        out.push(c);
                    }
                    Place::Text
                }
                (Place::Escape, '[') => Place::Control,
                (Place::Escape, ']' | 'P' | 'X' | '^' | '_') => Place::String,
                // Intermediate bytes come before the one that ends the sequence.
                (Place::Escape, ' '..='/') => Place::Escape,
                (Place::Escape, _) => Place::Text,
                (Place::Control, ' '..='?') => Place::Control,
                (Place::Control, '\n') => {
                    out.push('\n');
                    Place::Text
                }
                (Place::Control, _) => Place::Text,
                (Place::String, '\x07' | '\u{9c}') | (Place::StringEscape, '\\') => Place::Text,
                (Place::String | Place::StringEscape, '\x1b') => Place::StringEscape,
                // A string that never ends would swallow all that follows.
                (Place::String | Place::StringEscape, '\n') => {
                    out.push('\n');
                    Place::Text
                }
                (Place::String | Place::StringEscape, _) => Place::String,
            };
        }
        out
    }
}

/// One piece that stands for itself, as one line of at most `most` characters.
#[must_use]
pub fn one_line(text: &str, most: usize) -> String {
    let text = Plain::default().filter(text);
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    match line.char_indices().nth(most) {
        None => line,
        Some((at, _)) => format!("{}…", &line[..at]),
    }
}

fn acts(c: char) -> bool {
    let bidi = matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    (c.is_control() && !matches!(c, '\n' | '\t')) || bidi || matches!(c, '\u{2028}' | '\u{2029}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(pieces: &[&str]) -> String {
        let mut plain = Plain::default();
        pieces.iter().map(|piece| plain.filter(piece)).collect()
    }

    #[test]
    fn no_sequence_comes_through_however_it_is_cut() {
        let hostile = "a\x1b[31mb\x1b]0;title\x07c\x1b]8;;http://x\x1b\\d\x1bPq#0\x1b\\e\u{9b}2Jf\u{9d}52;c;QQ==\u{9c}g\x1b(Bh\ti\r\nj\u{202e}k\x08";
        let expected = "abcdefgh\ti\njk";
        assert_eq!(all(&[hostile]), expected);
        let pieces: Vec<String> = hostile.chars().map(String::from).collect();
        assert_eq!(all(&pieces.iter().map(String::as_str).collect::<Vec<_>>()), expected);
    }

    #[test]
    fn a_sequence_without_an_end_swallows_one_line_at_most() {
        assert_eq!(all(&["\x1b]0;never ends\nnext"]), "\nnext");
        assert_eq!(all(&["\x1b[12;\nnext"]), "\nnext");
    }

    #[test]
    fn one_line_is_one_line() {
        assert_eq!(one_line("  a\n\tb \x1b[1mc", 10), "a b c");
        assert_eq!(one_line("abcdef", 3), "abc…");
    }
}
