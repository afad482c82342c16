//! What goes into a program as if it were pasted, and whether the program asked for pastes to be marked.

/// What a terminal sends before and after a paste once the program switched that on (xterm's control sequences,
/// "Bracketed Paste Mode").
const START: &[u8] = b"\x1b[200~";
const END: &[u8] = b"\x1b[201~";
/// Longer parameters than this belong to no sequence that concerns us.
const MAX_PARAMETERS: usize = 64;

/// The bytes of a paste: only text, so that no message can press a key, leave the paste or drive the terminal.
/// Line ends become what the Enter key sends. Bytes that are no UTF-8 become U+FFFD.
#[must_use]
pub fn paste_bytes(text: &[u8], bracketed: bool) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len() + START.len() + END.len());
    if bracketed {
        bytes.extend_from_slice(START);
    }
    let mut utf8 = [0; 4];
    for character in String::from_utf8_lossy(text).chars() {
        match character {
            '\n' => bytes.push(b'\r'),
            '\t' => bytes.push(b'\t'),
            // C0, DEL and C1: the last hold a CSI of one character.
            control if control.is_control() => {}
            other => bytes.extend_from_slice(other.encode_utf8(&mut utf8).as_bytes()),
        }
    }
    if bracketed {
        bytes.extend_from_slice(END);
    }
    bytes
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Ground,
    Escape,
    Csi,
}

/// Reads a program's output, in chunks of any size, for the switch of bracketed paste.
#[derive(Debug, Default)]
pub struct BracketedPaste {
    state: State,
    parameters: Vec<u8>,
    on: bool,
}

impl BracketedPaste {
    #[must_use]
    pub const fn is_on(&self) -> bool {
        self.on
    }

    pub fn feed(&mut self, mut chunk: &[u8]) {
        while let Some((&byte, rest)) = chunk.split_first() {
            chunk = rest;
            self.state = match (self.state, byte) {
                (_, 0x1b) => State::Escape,
                (State::Ground, _) => {
                    // Nearly all output is this: skip to the next escape at once.
                    chunk = rest.iter().position(|byte| *byte == 0x1b).map_or(&[], |at| &rest[at..]);
                    State::Ground
                }
                (State::Escape, b'[') => {
                    self.parameters.clear();
                    State::Csi
                }
                (State::Escape, b'c') => {
                    // Full reset.
                    self.on = false;
                    State::Ground
                }
                (State::Csi, 0x40..=0x7e) => {
                    self.finish(byte);
                    State::Ground
                }
                (State::Csi, 0x20..=0x3f) if self.parameters.len() < MAX_PARAMETERS => {
                    self.parameters.push(byte);
                    State::Csi
                }
                // CAN and SUB end a sequence; other controls are carried out within it.
                (State::Csi, 0..=0x17 | 0x19 | 0x1c..=0x1f) => State::Csi,
                (State::Escape | State::Csi, _) => State::Ground,
            };
        }
    }

    fn finish(&mut self, last: u8) {
        let Some(modes) = self.parameters.strip_prefix(b"?") else { return };
        if matches!(last, b'h' | b'l') && modes.split(|byte| *byte == b';').any(|mode| mode == b"2004") {
            self.on = last == b'h';
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn follows_the_switch_over_any_split() {
        let output = b"a\x1b[?25l\x1b[?1;2004hb\x1b[31mc\x1b]0;title\x07";
        for cut in 0..output.len() {
            let mut mode = BracketedPaste::default();
            mode.feed(&output[..cut]);
            mode.feed(&output[cut..]);
            assert!(mode.is_on(), "cut at {cut}");
        }
        let mut mode = BracketedPaste::default();
        let check = |mode: &mut BracketedPaste, output: &[u8], on: bool| {
            for byte in output {
                mode.feed(&[*byte]);
            }
            assert_eq!(mode.is_on(), on, "after {output:?}");
        };
        check(&mut mode, b"[?2004h \x1b[2004h \x1b[?20041h \x1b\x18[?2004h \x1b[?20\x1804h", false);
        check(&mut mode, b"\x1b\x1b[?2004h", true);
        check(&mut mode, b"\x1b[?2004$p\x1b[?2004s", true);
        check(&mut mode, b"\x1b[?2004l", false);
        check(&mut mode, b"\x1b[?20\x1b[?2004h", true);
        check(&mut mode, b"\x1bc", false);
    }

    #[test]
    fn a_paste_cannot_leave_itself() {
        assert_eq!(paste_bytes(b"a\r\nb\tc", false), b"a\rb\tc");
        assert_eq!(paste_bytes(b"\x1b[201~rm\x03\x7f\x1a", true), b"\x1b[200~[201~rm\x1b[201~");
        assert_eq!(paste_bytes("ü\u{9b}201~€".as_bytes(), false), "ü201~€".as_bytes());
        assert_eq!(paste_bytes(b"\x9b1", false), "\u{fffd}1".as_bytes());
    }

    proptest! {
        #[test]
        fn a_paste_holds_no_control(text: Vec<u8>) {
            let bytes = paste_bytes(&text, false);
            let clean = String::from_utf8(bytes).unwrap();
            prop_assert!(clean.chars().all(|c| !c.is_control() || matches!(c, '\r' | '\t')));
        }
    }
}
