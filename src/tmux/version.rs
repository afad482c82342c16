//! Which tmux is installed.

use std::fmt;

/// A tmux version such as `3.3a`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    pub major: u32,
    pub minor: u32,
    /// The whole text after `tmux `.
    pub text: String,
}

impl Version {
    /// 3.2 brought `new-session -f`, `copy-mode -q` in all modes and formats in styles, all of which are used here.
    pub const NEEDED: (u32, u32) = (3, 2);

    /// Reads what `tmux -V` prints: `tmux 3.3a`, `tmux next-3.4`, `tmux openbsd-7.4`, `tmux master`.
    pub(super) fn parse(line: &str) -> Option<Self> {
        let text = line.trim().strip_prefix("tmux ")?.trim().to_owned();
        // OpenBSD's base tmux carries that system's version; 6.9 (2021) is the first with 3.2's features.
        let (digits, newest) = match text.rsplit_once('-') {
            Some(("openbsd", _)) => ("", true),
            Some((_, rest)) => (rest, false),
            None => (text.as_str(), text == "master"),
        };
        if newest {
            return Some(Self { major: u32::MAX, minor: 0, text });
        }
        let (major, rest) = digits.split_once('.')?;
        let minor: String = rest.chars().take_while(char::is_ascii_digit).collect();
        Some(Self { major: major.parse().ok()?, minor: minor.parse().ok()?, text })
    }

    pub(super) fn is_enough(&self) -> bool {
        (self.major, self.minor) >= Self::NEEDED
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions() {
        let enough = |line: &str| Version::parse(line).map(|v| v.is_enough());
        assert_eq!(enough("tmux 3.3a\n"), Some(true));
        assert_eq!(enough("tmux 3.2"), Some(true));
        assert_eq!(enough("tmux 3.1c"), Some(false));
        assert_eq!(enough("tmux 2.9a"), Some(false));
        assert_eq!(enough("tmux next-3.4"), Some(true));
        assert_eq!(enough("tmux 3.6-rc"), None);
        assert_eq!(enough("tmux master"), Some(true));
        assert_eq!(enough("screen 4"), None);
    }
}
