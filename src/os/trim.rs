//! Gives back the pages of code that starting touched and going on does not.
//!
//! What runs once at the start (arguments, files, the first handshakes) lies all over a large program, and the kernel maps
//! what surrounds each page besides. All processes of a program share these pages, but each has them in its page tables and
//! in its resident size. Code is never written, so forgetting it loses nothing: what is needed again is mapped again from
//! the page cache.

use std::fs;
use std::io;

use rustix::mm::{Advice, madvise};

/// Unmaps the pages of all code that is mapped from files, until they are needed again. Returns how many bytes of address
/// space they may lie in.
///
/// # Errors
/// When the kernel does not tell what is mapped.
pub fn code() -> io::Result<usize> {
    let mut bytes = 0;
    for (start, len) in fs::read_to_string("/proc/self/maps")?.lines().filter_map(mapped_code) {
        #[expect(
            unsafe_code,
            reason = "no safe binding; a mapping that is private, of a file and not writable has nothing to lose"
        )]
        // SAFETY: `mapped_code` passes private mappings of files with the rights `r-x` only: their pages are those of the
        // file, and the next access maps the same bytes again.
        let unmapped = unsafe { madvise(std::ptr::without_provenance_mut(start), len, Advice::LinuxDontNeed) };
        if unmapped.is_ok() {
            bytes += len;
        }
    }
    Ok(bytes)
}

/// Start and length of a line of `maps` that is code of a file.
fn mapped_code(line: &str) -> Option<(usize, usize)> {
    let mut fields = line.split_ascii_whitespace();
    let (range, rights) = (fields.next()?, fields.next()?);
    let of_file = fields.nth(3).is_some_and(|path| path.starts_with('/'));
    let (start, end) = range.split_once('-')?;
    let (start, end) = (usize::from_str_radix(start, 16).ok()?, usize::from_str_radix(end, 16).ok()?);
    (rights == "r-xp" && of_file).then(|| (start, end.saturating_sub(start)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_code_of_files_is_given_back() {
        let code = "00400000-00452000 r-xp 00000000 08:02 173521 /usr/bin/dbus-daemon";
        assert_eq!(mapped_code(code), Some((0x40_0000, 0x5_2000)));
        for other in [
            "00651000-00652000 r--p 00051000 08:02 173521 /usr/bin/dbus-daemon",
            "00652000-00655000 rw-p 00052000 08:02 173521 /usr/bin/dbus-daemon",
            "00655000-00656000 rwxp 00052000 08:02 173521 /usr/bin/dbus-daemon",
            "00656000-00657000 r-xs 00052000 08:02 173521 /usr/bin/dbus-daemon",
            "7ffe1b000000-7ffe1b002000 r-xp 00000000 00:00 0 [vdso]",
            "7f2c00000000-7f2c00021000 r-xp 00000000 00:00 0",
            "",
        ] {
            assert_eq!(mapped_code(other), None, "{other}");
        }
    }

    #[test]
    fn a_program_goes_on_without_its_pages() {
        assert!(code().unwrap() > 0);
        assert_eq!(std::hint::black_box(21) * 2, 42);
        assert!(code().unwrap() > 0);
    }
}
