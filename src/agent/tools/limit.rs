//! How much a tool may say, take and last.

use std::time::Duration;

/// The limits of all tools of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of arguments in one call.
    pub input_bytes: usize,
    /// Bytes of text in one result.
    pub output_bytes: usize,
    /// Bytes of text that Read shows.
    pub read_bytes: usize,
    /// Lines that Read shows when it is not told how many.
    pub read_lines: usize,
    /// Bytes that Read shows of one line.
    pub line_bytes: usize,
    /// Bytes of a file that is read whole.
    pub file_bytes: u64,
    /// Bytes of an image.
    pub image_bytes: u64,
    /// How long a command may run when it is not told.
    pub shell: Duration,
    /// How long it may run at most.
    pub shell_most: Duration,
    /// How long a page or a search may take.
    pub fetch: Duration,
    /// Bytes of a page that are read.
    pub fetch_bytes: usize,
    /// Results of Glob, and lines of Grep, when it is not told how many.
    pub hits: usize,
    /// How long a search through files may take.
    pub search: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            input_bytes: 4 << 20,
            output_bytes: 30_000,
            read_bytes: 100_000,
            read_lines: 2_000,
            line_bytes: 2_000,
            file_bytes: 32 << 20,
            image_bytes: 5 << 20,
            shell: Duration::from_secs(120),
            shell_most: Duration::from_secs(600),
            fetch: Duration::from_secs(30),
            fetch_bytes: 5 << 20,
            hits: 250,
            search: Duration::from_secs(30),
        }
    }
}
