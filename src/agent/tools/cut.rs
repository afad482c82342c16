//! Texts cut to a length, at the borders of characters.

/// The part of `text` that is at most `bytes` long and ends at a character's border.
#[must_use]
pub(super) fn head(text: &str, bytes: usize) -> &str {
    let mut end = bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// The last part of `text` that is at most `bytes` long.
#[must_use]
pub(in crate::agent) fn tail(text: &str, bytes: usize) -> &str {
    let mut start = text.len().saturating_sub(bytes);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    &text[start..]
}

/// `text` with its middle cut out where it is longer than `bytes`; `rest` says where all of it can be had.
#[must_use]
pub(in crate::agent) fn middle_cut(text: &str, bytes: usize, rest: &str) -> String {
    if text.len() <= bytes {
        return text.to_owned();
    }
    let (first, last) = (head(text, bytes / 2), tail(text, bytes / 2));
    let left_out = text.len() - first.len() - last.len();
    format!("{first}\n\n[{left_out} bytes left out here{rest}]\n\n{last}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_keeps_both_ends_and_whole_characters() {
        assert_eq!(middle_cut("short", 10, ""), "short");
        let text = "ä".repeat(100);
        let cut = middle_cut(&text, 41, "; see the file");
        assert!(cut.starts_with(&"ä".repeat(10)) && cut.ends_with(&"ä".repeat(10)), "{cut}");
        assert!(cut.contains("160 bytes left out here; see the file"), "{cut}");
        assert_eq!((head("äb", 1), tail("bä", 1)), ("", ""));
    }
}
