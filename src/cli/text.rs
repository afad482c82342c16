//! Texts that a verb takes from an argument, a file or stdin.

use std::io::Read;
use std::path::Path;

use super::error::{CommandError, ErrorKind, ResultExt};
use crate::model::message::MAX_BLOB_BYTES;

/// The text itself, or for `-` what stdin holds.
pub fn given_or_stdin(given: &str) -> Result<String, CommandError> {
    if given == "-" {
        read(std::io::stdin().lock(), "stdin")
    } else {
        checked(given.to_owned().into_bytes(), "the text")
    }
}

/// What a file holds, or for `-` what stdin holds.
pub fn from_file(path: &Path) -> Result<String, CommandError> {
    if path == Path::new("-") {
        return given_or_stdin("-");
    }
    let name = path.display().to_string();
    let file = std::fs::File::open(path).or_fail(ErrorKind::Usage, || format!("cannot open {name}"))?;
    read(file, &name)
}

/// Reads one byte past the limit at most: an endless stream is refused, not swallowed.
fn read(from: impl Read, name: &str) -> Result<String, CommandError> {
    let mut bytes = Vec::new();
    from.take(MAX_BLOB_BYTES as u64 + 1)
        .read_to_end(&mut bytes)
        .or_fail(ErrorKind::Failed, || format!("cannot read {name}"))?;
    checked(bytes, name)
}

fn checked(bytes: Vec<u8>, name: &str) -> Result<String, CommandError> {
    if bytes.len() > MAX_BLOB_BYTES {
        let mib = MAX_BLOB_BYTES / 1024 / 1024;
        return Err(CommandError::usage(format!("{name} is longer than {mib} MiB"))
            .hint("put it in a file and send its path; $CREWMUX_SCRATCH is a folder the whole team sees"));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        CommandError::usage(format!("{name} is not UTF-8"))
            .because(format!("the byte at {at} does not belong to a character"))
            .hint("send its path, or convert it with `iconv -t UTF-8`")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_long_and_not_utf8_are_usage_errors() {
        assert_eq!(read(std::io::repeat(b'a'), "stdin").unwrap_err().kind, ErrorKind::Usage);
        let error = read(&b"ab\xff"[..], "stdin").unwrap_err();
        assert_eq!(
            (error.kind, error.causes[0].as_str()),
            (ErrorKind::Usage, "the byte at 2 does not belong to a character")
        );
        assert_eq!(read(&b"- \xe2\x82\xac;"[..], "stdin").unwrap(), "- €;");
    }
}
